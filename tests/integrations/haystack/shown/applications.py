"""What the applications of this folder are made of: a store, prompts, generators that ask a model behind HTTP."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from ragmetrics_core import Sample

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector
from tests.integrations.body_keeping import BodyKeeper
from tests.integrations.capture_page import outcomes

OUTCOMES = outcomes("Haystack")
CORPUS = (
    "Paris is the capital of France.",
    "Berlin is the capital of Germany.",
    "Rome is the capital of Italy.",
    "Lima is the capital of Peru.",
    "The Seine is a river in France.",
)
QUESTION = "What is the capital of France?"
ANSWER = "Paris is the capital of France, says the text."
WITH_DOCUMENTS = "{% for doc in documents %}{{ doc.content }}\n{% endfor %}Question: {{ question }}"
WITHOUT = "Answer from what you know. Question: {{ question }}"


def answering(text: str) -> str:
    """A model that always says the same."""
    return ANSWER


def store(texts: tuple[str, ...] = CORPUS) -> InMemoryDocumentStore:
    written = InMemoryDocumentStore()
    written.write_documents([Document(content=text, meta={"place": n}) for n, text in enumerate(texts)])
    return written


def retriever(top_k: int = 2, texts: tuple[str, ...] = CORPUS, **options: Any) -> InMemoryBM25Retriever:
    return InMemoryBM25Retriever(store(texts), top_k=top_k, **options)


def llm(model: BodyKeeper, kind: Any = OpenAIChatGenerator, **options: Any) -> Any:
    return kind(api_key=Secret.from_token("none"), model="kept", api_base_url=model.base_url, max_retries=0, **options)


def prompt(template: str = WITH_DOCUMENTS) -> ChatPromptBuilder:
    return ChatPromptBuilder(template=[ChatMessage.from_user(template)], required_variables="*")


def pipeline_of(*edges: str, kind: Any = Pipeline, **components: Any) -> Any:
    """A pipeline of components by name, and of edges such as "retriever.documents -> prompt.documents"."""
    made = kind()
    for name, each in components.items():
        made.add_component(name, each)
    for edge in edges:
        made.connect(*edge.split(" -> "))
    return made


def rag(model: BodyKeeper, *edges: str, kind: Any = Pipeline, **others: Any) -> Any:
    """A prompt and a generator, and what else is there."""
    return pipeline_of(
        "prompt.prompt -> llm.messages", *edges, kind=kind, **{"prompt": prompt(), "llm": llm(model)} | others
    )


def plain(model: BodyKeeper, *edges: str, kind: Any = Pipeline, **others: Any) -> Any:
    """Retriever, prompt, generator, and what else is there."""
    return rag(
        model, "retriever.documents -> prompt.documents", *edges, kind=kind, **{"retriever": retriever()} | others
    )


def asked(question: str = QUESTION) -> dict[str, Any]:
    """What `plain` takes."""
    return {"retriever": {"query": question}, "prompt": {"question": question}}


def connected(pipeline: Any, **options: Any) -> RagMetricsConnector:
    connector = RagMetricsConnector(**{"chat_generator": "embedded"} | options)
    pipeline.add_component("scores", connector)
    return connector


def samples(connector: RagMetricsConnector) -> list[Sample]:
    """What was captured; it comes out as docs/capture.md says of the test that runs."""
    assert connector.flush()
    found = [result.sample for result in connector.live.results]
    told = {outcome(each) for each in found} or {f"not scored: `{reason}`" for reason in connector.stats.skipped}
    assert told <= set(OUTCOMES[running_test()].split("; "))
    return found


def outcome(sample: Sample) -> str:
    """What is recorded, in the page's words."""
    if not sample.contexts:
        return "unknown" if sample.contexts is None else "nothing"
    states = set(sample.shown)
    return "chunks" if states == {"verified"} else "parts of chunks" if states == {"partial"} else ", ".join(states)


def running_test() -> str:
    name, _, case = os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2].partition(" (")[0].partition("[")
    case = case.removesuffix("]")
    return case if case in OUTCOMES else name.removeprefix("test_").replace("_", " ")


def captured(pipeline: Any, data: dict[str, Any], *, run: Callable[..., Any] | None = None, **options: Any) -> Sample:
    """The sample of a run of the pipeline."""
    connector = connected(pipeline, **options)
    (run or synchronous)(pipeline, data)
    (sample,) = samples(connector)
    return sample


def skipped(pipeline: Any, data: dict[str, Any], *, run: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Why a run of the pipeline gave no sample."""
    connector = connected(pipeline, **options)
    (run or synchronous)(pipeline, data)
    assert samples(connector) == []
    return connector.stats.skipped


def synchronous(pipeline: Any, data: dict[str, Any]) -> Any:
    return pipeline.run(data)


def asynchronous(pipeline: Any, data: dict[str, Any]) -> Any:
    return asyncio.run(pipeline.run_async(data))


@component
class Keep:
    """A filter of one's own: documents that hold a word."""

    def __init__(self, word: str) -> None:
        self.word = word

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": [each for each in documents if self.word in (each.content or "")]}


@component
class First:
    """The text of the first reply, as tutorials take it from one model to the next component."""

    @component.output_types(text=str)
    def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
        return {"text": replies[0].text}
