"""A chat generator that judges as it is told, and pipelines to judge."""

import asyncio
import json
import re
import threading
from typing import Any

import haystack
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.integrations.haystack.mocks import MockChatGenerator

# before Haystack 3 the pipeline with `run_async` was a class of its own
AsyncPipeline: Any = getattr(haystack, "AsyncPipeline", Pipeline)
TEXTS = (
    "Paris is the capital of France.",
    "Berlin is the capital of Germany.",
    "Rome is the capital of Italy.",
)
TEMPLATE = "{% for each in documents %}{{ each.content }}\n{% endfor %}Question: {{ question }}"


def judged(messages: list[ChatMessage]) -> str:
    """A judge's reply: an answer is one statement, and "Madrid" is supported by nothing."""
    text = messages[-1].text or ""
    if "Split the answer into statements" in text:
        sentences = re.findall(r"^\[sentence (\d+)\] (.*)$", text, flags=re.MULTILINE)
        if not sentences:  # a prompt that asks for a plain list
            answer = text.partition("<answer>\n")[2].partition("\n</answer>")[0]
            return json.dumps({"statements": [answer], "declined": False})
        entries = [{"sentence": int(number), "kind": "claim", "statements": [said]} for number, said in sentences]
        return json.dumps({"sentences": entries, "declined": False})
    items = re.findall(r"^(\d+)\. (.*)$", text.partition("<items>")[2], flags=re.MULTILINE)
    verdicts = [
        {"number": int(number), "reason": "so it says", "verdict": "no" if "Madrid" in item else "yes"}
        for number, item in items
    ]
    return json.dumps({"verdicts": verdicts})


def scripted() -> MockChatGenerator:
    return MockChatGenerator(response_fn=judged)


@component
class Broken:
    """A generator whose provider is down."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        msg = "the provider is down"
        raise RuntimeError(msg)


@component
class Synchronous:
    """A generator without `run_async` that counts how many calls it works on at a time.

    A call returns when as many as `together` are there, so that a test needs no time to pass.
    """

    def __init__(self, together: int = 1) -> None:
        self.together = threading.Barrier(together) if together > 1 else None
        self.most = self.calls = self._now = 0
        self.threads: set[str] = set()
        self._lock = threading.Lock()

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        with self._lock:
            self._now += 1
            self.calls += 1
            self.most = max(self.most, self._now)
            self.threads.add(threading.current_thread().name)
        if self.together:
            self.together.wait(timeout=30)
        with self._lock:
            self._now -= 1
        return {"replies": [ChatMessage.from_assistant(judged(messages))]}


@component
class Asynchronous:
    """A generator with `run_async` that remembers the loops it ran on, and how many calls at a time."""

    def __init__(self) -> None:
        self.loops: set[asyncio.AbstractEventLoop] = set()
        self.synchronous = self.most = self._now = 0

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.synchronous += 1
        return {"replies": [ChatMessage.from_assistant(judged(messages))]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.loops.add(asyncio.get_running_loop())
        self._now += 1
        self.most = max(self.most, self._now)
        for _ in range(5):
            await asyncio.sleep(0)
        self._now -= 1
        return {"replies": [ChatMessage.from_assistant(judged(messages))]}


def answering(messages: list[ChatMessage]) -> str:
    """Answers with the first document of the prompt."""
    return (messages[-1].text or "").partition("\n")[0]


def retriever() -> InMemoryBM25Retriever:
    """A retriever of two of the texts."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=text) for text in TEXTS])
    return InMemoryBM25Retriever(store, top_k=2)


def rag_pipeline(llm: Any = None, *, with_answers: bool = False, kind: Any = Pipeline) -> Any:
    """The pipeline of Haystack's own documentation: retriever, prompt, generator, and an answer builder."""
    pipeline = kind()
    pipeline.add_component("retriever", retriever())
    pipeline.add_component(
        "prompt_builder",
        ChatPromptBuilder(template=[ChatMessage.from_user(TEMPLATE)], required_variables=["documents", "question"]),
    )
    pipeline.add_component("llm", llm or MockChatGenerator(response_fn=answering))
    pipeline.connect("retriever.documents", "prompt_builder.documents")
    pipeline.connect("prompt_builder.prompt", "llm.messages")
    if with_answers:
        pipeline.add_component("answer_builder", AnswerBuilder())
        pipeline.connect("retriever.documents", "answer_builder.documents")
        pipeline.connect("llm.replies", "answer_builder.replies")
    return pipeline


def question_data(question: str, *, with_answers: bool = False) -> dict[str, Any]:
    """What the pipeline takes."""
    data: dict[str, Any] = {"retriever": {"query": question}, "prompt_builder": {"question": question}}
    return data | ({"answer_builder": {"query": question}} if with_answers else {})
