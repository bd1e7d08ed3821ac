"""An application with `ChatOpenAI`, pointed at a server that keeps what the model was shown."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from ragmetrics_core import Sample
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.body_keeping import BodyKeeper, Reply, assert_shown

openai = pytest.importorskip("langchain_openai")

CORPUS = (
    "Green tea is dried in a pan before it is rolled.",
    "Black tea is left to wither and turns dark.",
    "Coffee is roasted until it cracks twice.",
    "Cocoa beans ferment under banana leaves.",
)
GREEN, BLACK, COFFEE, COCOA = CORPUS
TEA = (GREEN, BLACK)
ABOUT_TEA = "How is green or black tea made?"

PROMPT = ChatPromptTemplate.from_messages([("system", "Use only:\n{context}"), ("human", "{question}")])


class Words(Embeddings):
    """Vectors that count words, so that texts with the same words are near."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        places = [0.01] * 97
        for word in re.findall(r"\w{3,}", text.lower()):
            places[sum(word.encode()) % 97] += 1.0
        return places


def store() -> InMemoryVectorStore:
    """The corpus, as tutorials keep it."""
    made = InMemoryVectorStore(Words())
    made.add_documents([Document(page_content=text, id=f"doc-{n}") for n, text in enumerate(CORPUS)])
    return made


def retriever(k: int = 2) -> BaseRetriever:
    return store().as_retriever(search_kwargs={"k": k})


def join(documents: Sequence[Document]) -> str:
    return "\n\n".join(document.page_content for document in documents)


class Trial:
    """One application, run once.

    Attributes:
        config: for `invoke`: the handler is among its callbacks.
        model: the model of the application.
    """

    def __init__(self, server: BodyKeeper, handler: RagMetricsCallbackHandler) -> None:
        self.server, self.handler = server, handler
        self.config: dict[str, Any] = {"callbacks": [handler]}
        self.settings: dict[str, Any] = {"base_url": server.base_url, "api_key": "none", "max_retries": 0}
        self.model = openai.ChatOpenAI(model="served-model", **self.settings)

    def samples(self) -> list[Sample]:
        assert self.handler.flush()
        assert self.handler.stats.errors == []
        assert self.handler.open_runs == 0
        return [result.sample for result in self.handler.results]

    def sample(self) -> Sample:
        (sample,) = self.samples()
        return sample

    def expect(self, *contexts: str) -> Sample:
        """The sample's contexts are these, and they are the corpus's chunks in the answering request."""
        sample = self.sample()
        self.holds(sample, *contexts)
        return sample

    def holds(self, sample: Sample, *contexts: str) -> None:
        """Likewise, of one sample among several."""
        assert sample.contexts == contexts, sample.labels
        assert_shown(sample, self.server, CORPUS)

    def outcome(self) -> str:
        """What was recorded of the last answer, as the page says it."""
        samples = self.samples()
        if not samples:
            return f"not scored: `{next(iter(self.handler.stats.skipped))}`"
        sample = samples[-1]
        unaccounted = self.unaccounted(sample)
        if not sample.contexts:
            held = "nothing" if sample.contexts is not None else "unknown"
            return "; ".join([held, *unaccounted])
        kinds = Counter(
            "chunk"
            if text in CORPUS
            else "part of a chunk"
            if any(text in whole for whole in CORPUS)
            else "text"
            for text in sample.contexts
        )
        counted = ", ".join(f"{number} × {kind}" for kind, number in sorted(kinds.items()))
        states = ", ".join(sorted(set(sample.shown)))
        return "; ".join([f"{counted}: {states}", *unaccounted])

    @staticmethod
    def unaccounted(sample: Sample) -> list[str]:
        """Components that wrote text in the request that has no known source."""
        pieces = [piece for stage in sample.stages or () for piece in stage.unaccounted or ()]
        components = dict.fromkeys(piece.component for piece in pieces)
        return [f"unaccounted, by {name}" if name else "unaccounted" for name in components]

    def expect_unknown(self) -> Sample:
        """Nobody can know what was shown, and nothing is said to be."""
        sample = self.sample()
        assert sample.contexts is None, sample.contexts
        return sample


@contextmanager
def trial(replies: Mapping[str, Reply | list[Reply]], **options: Any) -> Iterator[Trial]:
    """A trial whose model replies by what stands in the request: the first key that does; else anew.

    Args:
        replies: a reply, or several for the first request with the key, the second and so on.
        options: of the handler.
    """
    waiting = {key: list(value) if isinstance(value, list) else [value] for key, value in replies.items()}
    numbers = count()

    def reply(shown: str) -> Reply:
        key = next((key for key in waiting if key in shown), None)
        if key is None:
            return f"Reply number {next(numbers)}: tea is dried."
        return waiting[key].pop(0) if len(waiting[key]) > 1 else waiting[key][0]

    handler = RagMetricsCallbackHandler("faithfulness", judge="embedded", concurrency=1, **options)
    try:
        with BodyKeeper(reply) as server:
            yield Trial(server, handler)
    finally:
        handler.close()
