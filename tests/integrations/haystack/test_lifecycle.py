"""Warming up and closing reach the parts inside; nothing happens before."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline, component, tracing
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, GeneratedAnswer

from haystack_integrations.components.evaluators.ragmetrics import (
    AnswerRelevanceEvaluator,
    RagMetricsAgentHook,
    RagMetricsConnector,
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
    RagMetricsTracer,
)
from tests.integrations.haystack.generators import judged, question_data, rag_pipeline, scripted

MAKERS: list[Callable[..., Any]] = [
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
    RagMetricsConnector,
    RagMetricsAgentHook,
]


class Noted:
    """Writes down which methods of its life were called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def warm_up(self) -> None:
        self.calls.append("warm_up")

    async def warm_up_async(self) -> None:
        self.calls.append("warm_up_async")

    def close(self) -> None:
        self.calls.append("close")

    async def close_async(self) -> None:
        self.calls.append("close_async")


@component
class Generator(Noted):
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.calls.append("run")
        return {"replies": [ChatMessage.from_assistant(judged(messages))]}


@component
class Embedder(Noted):
    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": [1.0]}


def parts() -> dict[str, Any]:
    return {
        "metrics": ["faithfulness", "answer_similarity"],
        "chat_generator": Generator(),
        "text_embedder": Embedder(),
    }


@pytest.mark.parametrize("make", MAKERS)
def test_warm_up_and_close_reach_generator_and_embedder(make: Callable[..., Any]):
    inside = parts()
    part = make(**inside)

    part.warm_up()
    part.warm_up()
    part.close()

    for name in ("chat_generator", "text_embedder"):
        assert inside[name].calls == ["warm_up", "warm_up", "close"]


@pytest.mark.parametrize("make", MAKERS)
def test_the_asynchronous_ways_reach_them_too(make: Callable[..., Any]):
    inside = parts()
    part = make(**inside)

    async def live() -> None:
        await part.warm_up_async()
        await part.close_async()

    asyncio.run(live())

    for name in ("chat_generator", "text_embedder"):
        assert "warm_up_async" in inside[name].calls
        assert inside[name].calls[-1] == "close_async"


@pytest.mark.parametrize("make", MAKERS)
def test_parts_without_these_methods_are_left_alone(make: Callable[..., Any]):
    part = make("faithfulness", chat_generator="embedded")

    part.warm_up()
    part.close()
    asyncio.run(part.warm_up_async())
    asyncio.run(part.close_async())


@pytest.mark.parametrize("make", [*MAKERS, AnswerRelevanceEvaluator])
def test_making_and_saving_needs_no_key_starts_nothing_and_enables_nothing(
    make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    threads = threading.active_count()

    part = make(chat_generator=OpenAIChatGenerator(), text_embedder=OpenAITextEmbedder())
    part.to_dict()

    assert isinstance(part.chat_generator, OpenAIChatGenerator)
    assert threading.active_count() == threads
    assert not tracing.is_tracing_enabled()


def test_a_pipeline_closes_what_it_warmed_up():
    generator = Generator()
    pipeline = rag_pipeline(with_answers=True)
    pipeline.add_component("live", RagMetricsLiveEvaluator(chat_generator=generator))
    pipeline.connect("answer_builder.answers", "live.answers")

    pipeline.run(question_data("What is the capital of France?", with_answers=True))
    pipeline.close()

    # everything captured was judged before the generator was closed
    assert generator.calls.count("run") == 2
    assert generator.calls[-1] == "close"


def test_a_closed_part_opens_again_with_the_next_run():
    pipeline = rag_pipeline()
    connector = RagMetricsConnector(chat_generator="embedded")
    pipeline.add_component("scores", connector)
    data = question_data("What is the capital of France?")

    pipeline.run(data)
    pipeline.close()
    assert not isinstance(tracing.tracer.actual_tracer, RagMetricsTracer)
    pipeline.run(data)

    assert connector.flush()
    assert connector.live.stats.scored == 1
    pipeline.close()


@pytest.mark.integration
def test_importing_the_package_enables_nothing_and_starts_nothing():
    code = (
        "import threading, haystack_integrations.components.evaluators.ragmetrics\n"
        "from haystack import tracing\n"
        "assert threading.active_count() == 1\n"
        "assert not tracing.is_tracing_enabled()\n"
    )
    done = subprocess.run(  # noqa: S603  (our own interpreter)
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_the_pipeline_may_be_closed_before_it_ever_ran():
    pipeline = Pipeline()
    pipeline.add_component("scores", RagMetricsConnector(chat_generator="embedded"))

    pipeline.close()


def test_a_live_component_says_how_it_stands_and_is_waited_for_without_blocking_the_loop():
    evaluator = RagMetricsLiveEvaluator("faithfulness", chat_generator=scripted())
    paris = GeneratedAnswer("Paris.", "Which capital?", [Document(content="Paris is the capital.")])

    async def main() -> bool:
        assert await evaluator.aflush()  # nothing was captured
        await evaluator.run_async(answers=[paris])
        return await evaluator.aflush(60)

    assert asyncio.run(main())
    assert evaluator.means == {"faithfulness": (1.0, 1)}
    assert (evaluator.stats.scored, evaluator.stats.pending) == (1, 0)
    evaluator.close()
    assert asyncio.run(evaluator.aflush())
    assert evaluator.means == {"faithfulness": (1.0, 1)}


@pytest.mark.parametrize("generator", [None, "openai:gpt-5-mini", "openai:m@http://127.0.0.1:9/v1"])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_judge_without_its_key_or_file_never_stops_a_live_pipeline(
    generator: Any, monkeypatch: pytest.MonkeyPatch, *, is_async: bool
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    pipeline = rag_pipeline()
    connector = RagMetricsConnector("faithfulness", OpenAIChatGenerator() if generator is None else generator)
    pipeline.add_component("scores", connector)
    data = question_data("What is the capital of France?")

    for _ in range(2):
        result = asyncio.run(pipeline.run_async(data)) if is_async else pipeline.run(data)
        assert set(result) == {"llm"}

    assert connector.flush()
    assert connector.stats.captured == 2
    assert not [score for each in connector.live.results for score in each.scores.values() if score is not None]
    assert connector.stats.errors
    pipeline.close()


def test_a_judge_that_cannot_be_warmed_up_is_told_once(caplog: pytest.LogCaptureFixture):
    @component
    class Cold:
        def warm_up(self) -> None:
            msg = "no such model"
            raise OSError(msg)

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            msg = "not warmed up"
            raise RuntimeError(msg)

    pipeline = rag_pipeline()
    connector = RagMetricsConnector("faithfulness", Cold(), attempts=1)
    pipeline.add_component("scores", connector)

    for _ in range(3):
        pipeline.run(question_data("What is the capital of France?"))

    assert connector.flush()
    assert [each.records[0].status for each in connector.live.results] == ["model_error"] * 3
    assert sum("no such model" in each.getMessage() for each in caplog.records) == 1
    pipeline.close()
