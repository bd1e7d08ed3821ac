"""A pipeline whose runs are watched by the tracer, for the suite that all adapters share."""

import asyncio
import gc
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Document, component
from haystack.components.builders import ChatPromptBuilder
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import tracer
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsTracer
from haystack_integrations.components.evaluators.ragmetrics.watching import WatchedRun
from tests.integrations.haystack.generators import AsyncPipeline
from tests.integrations.haystack.mocks import MockChatGenerator
from tests.live.suite import App, Ending, answer_to, contexts_for

TEMPLATE = "{% for each in documents %}{{ each.content }}\n{% endfor %}Question: {{ question }}"


@component
class Contexts:
    """Retrieves what the suite expects."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [Document(content=text) for text in contexts_for(query)]}


def reply(messages: list[ChatMessage]) -> str:
    return answer_to((messages[-1].text or "").rpartition("Question: ")[2])


def runs() -> list[WatchedRun]:
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is WatchedRun]


@cache
def runs_of_other_tests() -> list[WatchedRun]:
    """What tests of other modules have left, with the first application: looking takes a second."""
    return runs()


class HaystackApp:
    """Retrieves, fills in a prompt and asks a generator."""

    most_held = 0

    def __init__(self, live: LiveScorer) -> None:
        self.live = live
        self._before = runs_of_other_tests()
        self.tracer = RagMetricsTracer.install()
        self.tracer.watch(live, name="suite")
        self.pipeline = AsyncPipeline()
        self.pipeline.add_component("retriever", Contexts())
        self.pipeline.add_component(
            "prompt",
            ChatPromptBuilder(template=[ChatMessage.from_user(TEMPLATE)], required_variables=["documents", "question"]),
        )
        self.pipeline.add_component("llm", MockChatGenerator(response_fn=reply))
        self.pipeline.connect("retriever.documents", "prompt.documents")
        self.pipeline.connect("prompt.prompt", "llm.messages")

    def ask(self, question: str) -> str:
        try:
            return self._answer(self.pipeline.run(self._data(question)))
        except PipelineRuntimeError as error:
            raise error.__cause__ or error from None

    async def aask(self, question: str) -> str:
        return self._answer(await self.pipeline.run_async(self._data(question)))

    def stream(self, question: str) -> Iterator[str]:
        # Haystack streams asynchronously only
        async def pieces() -> Any:
            async for chunk in self.pipeline.stream(self._data(question)):
                yield chunk.content

        loop = asyncio.new_event_loop()
        read = pieces()
        try:
            while True:
                try:
                    yield loop.run_until_complete(anext(read))
                except StopAsyncIteration:
                    return
        finally:
            loop.run_until_complete(read.aclose())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def root(self, number: int, ending: Ending) -> None:
        asked = self._data(f"question {number}")
        span = tracer.trace("haystack.pipeline.run", tags={"haystack.pipeline.input_data": asked})
        pipeline_span = span.__enter__()
        with tracer.trace(
            "haystack.component.run",
            tags={"haystack.component.name": "llm"},
            parent_span=pipeline_span,
        ) as inner:
            inner.set_content_tag("haystack.component.output", {"replies": [f"answer {number}"]})
        if ending == "answered":
            span.__exit__(None, None, None)
        elif ending == "failed":
            error = ValueError("the application failed")
            with suppress(ValueError):
                span.__exit__(type(error), error, None)

    def held(self) -> int:
        # there is no table: what is not collected is held
        return sum(each not in self._before for each in runs())

    def close(self) -> None:
        self.tracer.unwatch(self.live)
        RagMetricsTracer.uninstall()
        self.live.close()

    def _data(self, question: str) -> dict[str, Any]:
        return {"retriever": {"query": question}, "prompt": {"question": question}}

    def _answer(self, result: dict[str, Any]) -> str:
        return str(result["llm"]["replies"][0].text)


def make_app(**options: Any) -> App:
    return HaystackApp(LiveScorer("faithfulness", **options))
