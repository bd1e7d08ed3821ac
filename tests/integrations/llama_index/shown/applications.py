"""What an application of the page is made of, and the parts that many of them have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from tests.integrations.llama_index.shown.served import ANSWER, HEAVY, HIGH, QUESTION, ServedLLM, index

TOP_TWO = (HIGH, HEAVY)
"""The nearest two of the corpus: a retriever with `similarity_top_k=2` gives these."""


@dataclass(frozen=True, kw_only=True)
class Application:
    """How an application is asked, and what was shown to its model: by hand, from what it is made of.

    Attributes:
        ask: asks it, and reads the answer to its end.
        contexts: what the model was shown; None where nobody can know.
        shown: what is known of the contexts, besides that they were verified.
        unaccounted: the texts of the request that nothing accounts for; None if it does not matter.
        question, answer: the sample's.
        options: what `instrument` is told.
    """

    ask: Callable[[], object]
    contexts: tuple[str, ...] | None = TOP_TWO
    shown: str = "verified"
    unaccounted: tuple[str, ...] | None = None
    question: str = QUESTION
    answer: str = ANSWER
    options: dict[str, Any] = field(default_factory=dict)


Maker = Callable[[ServedLLM], Application]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An application of the page, before its model is there.

    Attributes:
        make: makes it with its model.
        replies: words in a request and what the model replies then; to all others it replies the answer.
        written: replies that made the answer.
    """

    make: Maker
    replies: Sequence[tuple[str, Any]]
    written: Sequence[str]


class Applications(dict[str, Entry]):
    """Applications by their names on the page."""

    def __call__(
        self, name: str, *replies: tuple[Any, Any], written: Sequence[str] = (ANSWER,)
    ) -> Callable[[Maker], Maker]:
        """Take the application that is made by what follows."""

        def register(make: Maker) -> Maker:
            self[name] = Entry(make=make, replies=replies, written=written)
            return make

        return register


class DropsAll(BaseNodePostprocessor):
    """Finds nothing good enough."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return []


class KeepsTheLast(BaseNodePostprocessor):
    """A ranker that turns the order round and keeps one."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[::-1][:1]


def query_engine(llm: Any, **options: Any) -> Any:
    """The query engine that everybody begins with."""
    return index().as_query_engine(llm=llm, **{"similarity_top_k": 2} | options)
