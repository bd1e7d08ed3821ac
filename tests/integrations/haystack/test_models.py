"""A chat generator as a judge, a text embedder as an embedder."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from haystack import component, tracing
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tracing.logging_tracer import LoggingSpan, LoggingTracer
from haystack.utils import Secret
from ragmetrics_core import evaluate
from ragmetrics_core.errors import (
    ConfigError,
)

from haystack_integrations.components.evaluators.ragmetrics import (
    HaystackEmbedder,
    HaystackJudge,
    RagMetricsAgentHook,
    RagMetricsConnector,
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.generators import judged, scripted
from tests.integrations.haystack.mocks import MockChatGenerator, MockTextEmbedder

SAMPLE = {
    "question": "What is the capital of France?",
    "contexts": ["Paris is the capital of France."],
    "answer": "Paris.",
}


def test_a_generator_judges_outside_of_haystack_too():
    run = evaluate([SAMPLE], metrics="faithfulness", judge=HaystackJudge(scripted()))

    (record,) = run.records()
    assert record.value == 1.0
    assert record.judge is not None
    assert record.judge.startswith(f"haystack:{MockChatGenerator.__module__}.MockChatGenerator/mock-model?")
    assert [step.model for step in record.generate_steps] == ["mock-model", "mock-model"]
    assert run.tally["prompt_tokens"] > 0


def test_the_system_text_is_a_system_message():
    roles = []

    def reply(messages: list[ChatMessage]) -> str:
        roles.append([message.role.value for message in messages])
        return judged(messages)

    evaluate([SAMPLE], metrics="faithfulness", judge=HaystackJudge(MockChatGenerator(response_fn=reply)))

    assert roles == [["system", "user"], ["system", "user"]]


def test_generators_with_other_settings_have_other_identities():
    first = HaystackJudge(MockChatGenerator(responses="a"))
    second = HaystackJudge(MockChatGenerator(responses="b"))

    assert first.identity == HaystackJudge(MockChatGenerator(responses="a")).identity
    assert first.identity != second.identity


def test_an_identity_names_model_and_server_and_no_key():
    generator = OpenAIChatGenerator(
        api_key=Secret.from_env_var("OTHER_KEY"), model="some-model", api_base_url="http://localhost:1/v1"
    )

    identity = HaystackJudge(generator).identity

    assert ".OpenAIChatGenerator/some-model@http://localhost:1/v1?" in identity
    assert (
        identity
        == HaystackJudge(OpenAIChatGenerator(model="some-model", api_base_url="http://localhost:1/v1")).identity
    )


def test_replies_of_a_generator_that_cannot_be_named_are_not_kept():
    assert HaystackJudge(scripted()).cacheable
    assert not HaystackJudge(MockChatGenerator(response_fn=lambda messages: "{}")).cacheable


@component
class Silent:
    """Keeps what it was made with under a name that Haystack does not look for."""

    def __init__(self, model: str = "small"):
        self._chosen = model

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant(self._chosen)]}


@component
class Telling(Silent):
    def __init__(self, model: str = "small"):
        self.model = self._chosen = model


def test_replies_of_a_generator_that_does_not_show_its_settings_are_not_kept():
    # Haystack would save both with the default of `model`; what they hold tells them apart, as far as it is known
    assert HaystackJudge(Silent("small")).identity != HaystackJudge(Silent("large")).identity
    assert not HaystackJudge(Silent("large")).cacheable
    assert HaystackJudge(Silent("large"), name="mine").cacheable
    assert HaystackJudge(Silent("large"), name="mine").identity == "mine"
    assert HaystackJudge(Telling("large")).cacheable


def test_a_generator_without_a_reply_is_a_model_error():
    @component
    class Silent:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return {"replies": []}

    run = evaluate([SAMPLE], metrics="faithfulness", judge=HaystackJudge(Silent()))

    (record,) = run.records()
    assert record.status == "model_error"
    assert "Silent gave no reply" in str(record.reason)


def test_an_embedder_gives_one_row_for_each_text():
    embedder = HaystackEmbedder(MockTextEmbedder(embedding_fn=lambda text: [float(len(text)), 1.0]))

    vectors = asyncio.run(embedder.aembed(["a", "bbb"]))

    assert vectors.tolist() == [[1.0, 1.0], [3.0, 1.0]]


class Spans(LoggingTracer):
    """A tracer that keeps its spans."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[LoggingSpan] = []

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Any = None
    ) -> Iterator[LoggingSpan]:
        span = LoggingSpan(operation_name, dict(tags or {}))
        self.spans.append(span)
        yield span


def test_calls_of_a_batch_are_seen_by_the_applications_tracer_with_their_tokens(
    monkeypatch: pytest.MonkeyPatch,
):
    spans = Spans()
    tracing.enable_tracing(spans)
    monkeypatch.setattr(tracing.tracer, "is_content_tracing_enabled", True)

    evaluate([SAMPLE], metrics="faithfulness", judge=HaystackJudge(scripted()))

    assert [span.operation_name for span in spans.spans] == ["haystack.chat_generator.run"] * 2
    replies = [span.tags["haystack.component.output"]["replies"][0] for span in spans.spans]
    assert all(reply.meta["usage"]["prompt_tokens"] for reply in replies)


class Embeds:
    def run(self, documents: list[Any]) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    "part", [RagMetricsConnector, RagMetricsLiveEvaluator, RagMetricsAgentHook, RagMetricsEvaluator]
)
@pytest.mark.parametrize(
    "wrong",
    [
        {"chat_generator": 42},
        {"chat_generator": MockChatGenerator},
        {"chat_generator": "gpt-5-mini"},
        {"chat_generator": ""},
        {"chat_generator": "openai:"},
        {"chat_generator": len},
        {"chat_generator": MockTextEmbedder(dimension=8)},
        {"text_embedder": 42},
        {"text_embedder": MockTextEmbedder},
        {"text_embedder": "llama"},
        {"text_embedder": Embeds()},
        {"text_embedder": MockChatGenerator(responses="x")},
    ],
)
def test_what_is_no_model_is_refused_when_a_component_is_made(part: Any, wrong: dict[str, Any]):
    (name,) = wrong
    with pytest.raises(ConfigError, match=name):
        part("faithfulness", **{"chat_generator": "embedded"} | wrong)
