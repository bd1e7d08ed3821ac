"""A judge whose calls are spans of OpenTelemetry."""

import asyncio
import json
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ragmetrics_core import Record, Sample, evaluate
from ragmetrics_core.drivers import rendered
from ragmetrics_core.errors import ConfigError, ModelOverloaded, ModelRefused
from ragmetrics_core.models import Cascade, TracedJudge, as_embedder, as_judge
from ragmetrics_core.protocol import Completion, Generate, Judge, Usage
from ragmetrics_core.records import GenerateStep
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_core.traces import SkippedTrace, read_traces

SAMPLE = Sample(
    question="Where was Ann Miller born?",
    answer="Ann Miller was born in Ulm.",
    contexts=("Ann Miller was born in Ulm.",),
    id="born",
)
# Faithfulness makes two calls: one for the statements, one for the verdicts.
REPLIES: dict[str, Any] = {
    "statements": {"statements": ["Ann Miller was born in Ulm."], "declined": False},
    "verdicts": {"verdicts": [{"number": 1, "reason": "Ann Miller", "verdict": "yes"}]},
}


class Traced:
    """A tracer provider that keeps its spans."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def judge(self, judge: Any = None, **options: Any) -> TracedJudge:
        return TracedJudge(judge or ScriptedJudge(REPLIES), tracer_provider=self.provider, **options)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def values(self, name: str) -> list[Any]:
        return [attributes_of(span).get(name) for span in self.spans]


def attributes_of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


@pytest.fixture
def traced() -> Traced:
    return Traced()


def measured(judge: Judge | None, **options: Any) -> Record:
    (record,) = evaluate([SAMPLE], metrics=["faithfulness"], **{"judge": judge} | options).records()
    return record


def steps_of(record: Record) -> list[GenerateStep]:
    return [step for step in record.steps if isinstance(step, GenerateStep)]


def test_a_span_says_which_step_it_is_and_what_the_judge_reported(traced: Traced):
    replies = {
        name: Completion(json.dumps(reply), "gpt-5-mini-2025", Usage(20, 3), "stop")
        for name, reply in REPLIES.items()
    }
    judge = ScriptedJudge(replies, identity="openai:gpt-5-mini")
    judge.model = "gpt-5-mini"  # type: ignore[attr-defined]
    record = measured(traced.judge(judge))

    assert [attributes_of(span) for span in traced.spans] == [
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5-mini",
            "gen_ai.response.model": "gpt-5-mini-2025",
            "gen_ai.response.finish_reasons": ("stop",),
            "gen_ai.usage.input_tokens": 20,
            "gen_ai.usage.output_tokens": 3,
            "ragmetrics.judge": "openai:gpt-5-mini",
            "ragmetrics.step.prompt": step.prompt,
            "ragmetrics.step.rendered_digest": step.rendered_digest,
            "ragmetrics.step.draw": 0,
        }
        for step in steps_of(record)
    ]
    assert {(span.name, span.kind) for span in traced.spans} == {("chat gpt-5-mini", trace.SpanKind.CLIENT)}
    assert len(traced.spans) == 2


def test_calls_have_traces_of_their_own_and_the_open_span_gets_no_child(traced: Traced):
    seen: list[Any] = []

    def replies(request: Generate[Any]) -> Any:
        seen.append(trace.get_current_span().get_span_context().span_id)
        return REPLIES[request.prompt.name]

    with traced.provider.get_tracer("host").start_as_current_span("request"):
        measured(traced.judge(ScriptedJudge(replies)))

    *calls, host = traced.spans
    assert host.name == "request"
    assert all(span.parent is None and not span.links for span in traced.spans)
    assert len({span.context.trace_id for span in traced.spans}) == 3
    # what an instrumented client sends during the call belongs to the call
    assert seen == [span.context.span_id for span in calls]


def test_without_content_no_word_of_the_sample_or_of_a_reply_is_in_a_span(traced: Traced):
    measured(traced.judge())
    assert "Ann Miller" not in "".join(span.to_json() for span in traced.spans)
    assert len(traced.spans) == 2


def test_with_content_a_span_has_the_messages_as_sent_and_the_reply(traced: Traced):
    record = measured(traced.judge(content=True))
    for step, span in zip(steps_of(record), traced.spans, strict=True):
        attributes = attributes_of(span)
        assert json.loads(attributes["gen_ai.input.messages"]) == [
            {"role": message.role, "parts": [{"type": "text", "content": message.content}]}
            for message in rendered(record, step)
        ]
        assert json.loads(attributes["gen_ai.output.messages"]) == [
            {"role": "assistant", "parts": [{"type": "text", "content": step.reply}]}
        ]


def without_ann(text: str) -> str:
    return text.replace("Ann Miller", "[name]")


@pytest.mark.parametrize("wrapped", [lambda judge: judge, lambda judge: Cascade("embedded", judge)])
def test_contents_are_redacted_as_in_the_record(traced: Traced, wrapped: Callable[[Judge], Judge]):
    measured(wrapped(traced.judge(content=True)), redact=without_ann)
    texts = "".join(span.to_json() for span in traced.spans)
    assert "[name]" in texts
    assert "Ann Miller" not in texts


def test_contents_hold_no_key_of_the_judge(traced: Traced):
    judge = ScriptedJudge({"statements": "your key is sk-0123456789abcdef"})
    judge.api_key = "sk-0123456789abcdef"  # type: ignore[attr-defined]
    measured(traced.judge(judge, content=True))
    assert "your key is ***" in traced.values("gen_ai.output.messages")[0]
    assert "sk-0123456789abcdef" not in "".join(span.to_json() for span in traced.spans)


def test_replies_that_cannot_be_redacted_are_left_out(traced: Traced):
    def redact(text: str) -> str:
        if text.startswith("{"):
            raise ValueError(text)
        return text

    record = measured(traced.judge(content=True), redact=redact)
    assert record.status == "model_error"
    assert traced.values("gen_ai.output.messages") == [None]


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (ModelRefused("Ann Miller"), "ModelRefused", "model_error"),
        (ValueError("Ann Miller"), "ValueError", "model_error"),
    ],
)
def test_a_failed_call_says_the_kind_of_its_error(traced: Traced, error: Exception, kind: str, status: str):
    record = measured(traced.judge(ScriptedJudge({"statements": error})))
    assert record.status == status
    (span,) = traced.spans
    assert attributes_of(span)["error.type"] == kind
    assert span.status.status_code is trace.StatusCode.ERROR
    assert "Ann Miller" not in span.to_json()


def test_each_attempt_is_a_call(traced: Traced):
    replies = REPLIES | {"statements": [ModelOverloaded("busy"), REPLIES["statements"]]}
    record = measured(traced.judge(ScriptedJudge(replies)))
    assert record.value == 1.0
    assert traced.values("error.type") == ["ModelOverloaded", None, None]


async def hangs(text: str) -> str:
    await asyncio.get_running_loop().create_future()
    return text


def test_a_call_that_runs_out_of_time_is_a_timeout(traced: Traced):
    record = measured(traced.judge(as_judge(hangs, identity="hangs")), timeout=0.01, attempts=1)
    assert record.status == "timeout"
    assert traced.values("error.type") == ["ModelTimeout"]


def test_a_cancelled_call_is_not_a_timeout(traced: Traced):
    async def cancelled() -> None:
        asking = asyncio.create_task(traced.judge(hangs).agenerate(request()))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(cancelled())
    assert traced.values("error.type") == ["CancelledError"]


def request() -> Generate[Any]:
    judge = ScriptedJudge(REPLIES)
    measured(judge)
    return judge.asked[0]


@pytest.mark.parametrize("reply", [[], [None], None])
def test_something_else_than_replies_fails_as_without_spans(traced: Traced, reply: Any):
    class Broken:
        identity = "broken"

        async def agenerate(self, request: Generate[Any]) -> Any:
            return reply

    plain, spanned = measured(Broken()), measured(traced.judge(Broken()))
    assert spanned.status == plain.status == "model_error"
    assert traced.values("error.type") == ["ModelError"]


def test_draws_in_one_call_are_one_span(traced: Traced):
    judge = traced.judge()
    asyncio.run(judge.agenerate(request()._replace(draw=2, draws=3)))
    assert traced.values("ragmetrics.step.draw") == [2]
    assert traced.values("gen_ai.request.choice.count") == [3]


def test_replies_from_the_journal_have_no_span(traced: Traced, tmp_path: Path):
    cache = tmp_path / "journal.sqlite"
    first = measured(traced.judge(), cache=cache)
    assert len(traced.spans) == 2
    again = measured(traced.judge(), cache=cache)
    assert len(traced.spans) == 2
    assert again.digest == first.digest


@pytest.mark.parametrize("content", [False, True])
def test_the_run_is_the_same_with_and_without_spans(traced: Traced, tmp_path: Path, *, content: bool):
    plain = measured(ScriptedJudge(REPLIES), out=tmp_path / "plain")
    spanned = measured(traced.judge(content=content), out=tmp_path / "traced")
    assert spanned.sealed() == plain.sealed()
    assert spanned.judge == plain.judge == "scripted"
    # without spans it goes on where it was
    resumed = measured(ScriptedJudge({}), out=tmp_path / "traced")
    assert resumed.value == 1.0


def test_a_cascade_has_a_span_for_the_judge_that_answers(traced: Traced):
    cascade = Cascade("embedded", ScriptedJudge(REPLIES))
    record = measured(traced.judge(cascade))
    assert traced.values("ragmetrics.judge") == [step.judge for step in steps_of(record)]
    assert traced.values("gen_ai.request.model") == [None] * len(traced.spans)


def test_a_judge_of_a_cascade_or_a_panel_is_traced_by_itself(traced: Traced):
    measured(None, panel=[traced.judge(), ScriptedJudge(REPLIES, identity="other")])
    assert traced.values("ragmetrics.judge") == ["scripted"] * 2
    asyncio.run(Cascade("embedded", traced.judge()).agenerate(request()))
    assert len(traced.spans) == 3


@pytest.mark.parametrize(("content", "reason"), [(False, "no answer"), (True, "no retrieval")])
def test_the_spans_of_a_judge_in_a_file_of_traces_are_not_samples(
    traced: Traced, tmp_path: Path, *, content: bool, reason: str
):
    measured(traced.judge(content=content))
    file = tmp_path / "traces.jsonl"
    file.write_text("".join(span.to_json(indent=None) + "\n" for span in traced.spans))
    assert [(type(each), each.reason) for each in read_traces(file)] == [(SkippedTrace, reason)] * 2


class Picky(ScriptedJudge):
    def check_prompts(self, names: Iterable[str]) -> None:
        raise ConfigError(f"picky cannot answer {min(names)}")


def test_prompts_are_checked_as_without_spans(traced: Traced):
    with pytest.raises(ConfigError, match="picky cannot answer statements"):
        measured(traced.judge(Picky(REPLIES)))
    assert not traced.spans


def test_without_a_provider_nothing_is_recorded_and_the_judge_can_be_sent_to_other_processes():
    judge = TracedJudge("embedded")
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert measured(judge).value == 1.0


def test_an_embedder_is_not_a_judge(traced: Traced):
    with pytest.raises(ConfigError, match="a judge is an object"):
        traced.judge(as_embedder("openai:any", asked=False))


def test_without_the_package_a_message_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(ConfigError, match=r"install ragmetrics-core\[otel\]"):
        TracedJudge(ScriptedJudge(REPLIES))
