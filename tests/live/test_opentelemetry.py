"""Scores as events of OpenTelemetry, linked to the span of the answer."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from io import StringIO
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    InMemoryMetricReader,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import OpenTelemetryMetrics, OpenTelemetrySink
from ragmetrics_core.models import TracedJudge
from tests.live.captures import ANSWER, by_context, capture_of, faithful, supports, unfaithful
from tests.live.conftest import MakeScorer


class Exported:
    """A provider that keeps what it is given."""

    def __init__(self) -> None:
        self.exporter = InMemoryLogRecordExporter()
        self.provider = LoggerProvider()
        self.provider.add_log_record_processor(SimpleLogRecordProcessor(self.exporter))

    @property
    def records(self) -> list[Any]:
        return [each.log_record for each in self.exporter.get_finished_logs()]


@pytest.fixture
def exported() -> Iterator[Exported]:
    made = Exported()
    yield made
    made.provider.shutdown()


def test_a_score_is_an_event_with_the_attributes_of_the_conventions(live: MakeScorer, exported: Exported):
    scorer = live(judge=by_context(), sinks=[OpenTelemetrySink(exported.provider)])
    capture = faithful()
    capture.id, capture.labels = "root", {"response_id": "chatcmpl-1"}
    scored = scorer.score(capture)

    (event,) = exported.records
    assert event.event_name == "gen_ai.evaluation.result"
    attributes = dict(event.attributes)
    assert attributes.pop("ragmetrics.version")
    assert attributes.pop("ragmetrics.record.digest") == scored.records[0].sealed().digest
    assert attributes == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "ok",
        "gen_ai.evaluation.explanation": "1 / 1 = 1",
        "gen_ai.response.id": "chatcmpl-1",
        "ragmetrics.sample.id": "root",
        "ragmetrics.metric.signature": "faithfulness/strict.1",
        "ragmetrics.status": "ok",
        "ragmetrics.annotator.kind": "LLM",
        "ragmetrics.judge": "scripted",
        "ragmetrics.counts.supported": 1,
        "ragmetrics.counts.statements": 1,
    }


@pytest.mark.parametrize("kind", ["current", "captured", "none"])
def test_the_event_belongs_to_the_span_that_was_captured_or_current_when_it_was_handed_in(
    live: MakeScorer, exported: Exported, kind: str
):
    scorer = live(sinks=[OpenTelemetrySink(exported.provider)])
    tracer = TracerProvider().get_tracer("app")
    with (
        tracer.start_as_current_span("request") if kind != "none" else nullcontext(trace.INVALID_SPAN) as span
    ):
        answer = tracer.start_span("answer")
        parents = {"current": None, "captured": answer.get_span_context(), "none": "a run of another tracer"}
        scorer.submit(capture_of(parent=parents[kind]))
    scorer.flush()  # when the span has ended

    (event,) = exported.records
    context = (answer if kind == "captured" else span).get_span_context()
    assert ((event.trace_id or 0), (event.span_id or 0)) == (context.trace_id, context.span_id)


@pytest.mark.parametrize(
    ("options", "contexts", "key", "value"),
    [
        ({"judge": lambda text: "what?"}, [ANSWER], "error.type", "parse_error"),
        ({}, [], "gen_ai.evaluation.explanation", "undefined (no_contexts)"),
    ],
    ids=["failed", "undefined"],
)
def test_what_has_no_value_says_why_and_only_a_failure_is_an_error(
    live: MakeScorer, exported: Exported, options: dict[str, Any], contexts: list[str], key: str, value: str
):
    live(sinks=[OpenTelemetrySink(exported.provider)], **options).score(capture_of(contexts=contexts))

    (event,) = exported.records
    assert event.attributes[key] == value
    assert ("error.type" in event.attributes) == ("judge" in options)
    assert "gen_ai.evaluation.score.value" not in event.attributes


def test_with_a_tracer_provider_all_scores_of_a_capture_are_on_one_carrier_with_one_link(
    live: MakeScorer, exported: Exported
):
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    sink = OpenTelemetrySink(exported.provider, tracer_provider=provider)
    scorer = live(["faithfulness", "rouge"], judge=by_context(), sinks=[sink])
    answer = TracerProvider().get_tracer("app").start_span("answer").get_span_context()
    first, without = faithful(), faithful()
    first.parent = answer
    scorer.score(first)
    scorer.score(without)

    # the second capture has no span, so there is nothing to link to
    (carrier,) = spans.get_finished_spans()
    assert [(link.context.trace_id, link.context.span_id) for link in carrier.links] == [
        (answer.trace_id, answer.span_id)
    ]
    assert carrier.parent is None
    attributes = dict(carrier.attributes)
    assert attributes["openinference.span.kind"] == "EVALUATOR"
    assert attributes["evaluations.0.evaluation.name"] == "faithfulness"
    assert attributes["evaluations.0.evaluation.score"] == 1.0
    assert attributes["evaluations.0.evaluation.identifier"] == "faithfulness/strict.1"
    # rouge was skipped: there is no reference
    assert not [name for name in attributes if name.startswith("evaluations.1.")]


def test_a_metric_that_the_sample_is_not_fit_for_emits_nothing(live: MakeScorer, exported: Exported):
    sink = OpenTelemetrySink(exported.provider)
    live(["faithfulness", "factual_correctness"], sinks=[sink]).score(capture_of())

    assert [event.attributes["gen_ai.evaluation.name"] for event in exported.records] == ["faithfulness"]


def test_no_provider_is_set_and_none_is_needed(live: MakeScorer):
    before = _logs.get_logger_provider(), trace.get_tracer_provider()

    scorer = live(sinks=[OpenTelemetrySink()])
    scorer.score(capture_of())

    assert (_logs.get_logger_provider(), trace.get_tracer_provider()) == before
    assert scorer.stats.errors == []


def test_without_the_package_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry._logs", None)

    with pytest.raises(ConfigError, match=r"ragmetrics-core\[otel\]"):
        OpenTelemetrySink()


def numbers_of(reader: InMemoryMetricReader) -> dict[tuple[str, Any], Any]:
    """The values of all metrics, by name and attribute."""
    found: dict[tuple[str, Any], Any] = {}
    for resource in reader.get_metrics_data().resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    key = (
                        metric.name.removeprefix("ragmetrics.live."),
                        next(iter(point.attributes.values()), ""),
                    )
                    found[key] = point.bucket_counts if metric.name.endswith("score") else point.value
    return found


def test_counts_tokens_cost_and_scores_are_metrics(live: MakeScorer):
    reader = InMemoryMetricReader()
    sink = OpenTelemetryMetrics(MeterProvider([reader]))
    judge = by_context()
    prices = {judge.identity: {"prompt": 1_000_000.0, "completion": 0.0}}
    scorer = live(judge=judge, sinks=[sink], prices=prices, max_pending=1)
    for capture in (faithful(), faithful(), unfaithful()):
        scorer.score(capture)
    with scorer.paused():
        scorer.submit(faithful())

    numbers = numbers_of(reader)
    assert (numbers["captured", ""], numbers["scored", ""], numbers["pending", ""]) == (3, 3, 0)
    assert numbers["dropped", "paused"] == 1
    assert numbers["calls", ""] == scorer.evaluation.tally["calls"]
    assert numbers["tokens", "prompt"] == scorer.evaluation.tally["prompt_tokens"]
    assert numbers["cost", ""] == scorer.evaluation.tally["prompt_tokens"]  # 1 for each token
    assert numbers["scores", "faithfulness"] == 3
    # up to 0.0, ..., up to 1.0, above
    assert list(numbers["score", "faithfulness"]) == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]


def test_one_object_of_metrics_belongs_to_one_scorer(live: MakeScorer):
    sink = OpenTelemetryMetrics(MeterProvider([InMemoryMetricReader()]))
    live(sinks=[sink])
    with pytest.raises(ConfigError, match="make another one"):
        live(sinks=[sink])


def test_the_console_exporter_prints_the_metrics_without_a_collector(live: MakeScorer):
    # the recipe of docs/live.md
    printed = StringIO()
    reader = PeriodicExportingMetricReader(ConsoleMetricExporter(out=printed))
    provider = MeterProvider([reader])
    live(judge=by_context(), sinks=[OpenTelemetryMetrics(provider)]).score(faithful())
    provider.shutdown()
    assert '"name": "ragmetrics.live.scored"' in printed.getvalue()


async def asked_here(text: str) -> str:
    return supports(text)


@pytest.mark.parametrize("judge", [by_context(), supports, asked_here])
def test_the_calls_of_a_traced_judge_have_traces_of_their_own(live: MakeScorer, judge: Any):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def application() -> int:
        scorer = live(judge=TracedJudge(judge, tracer_provider=provider))
        with provider.get_tracer("host").start_as_current_span("request"):
            results = [await scorer.ascore(faithful()), await scorer.ascore(unfaithful())]
            scorer.submit(capture_of("Who else?"))
            assert await scorer.aflush()
        for result in results:
            steps.extend(step for record in result.records for step in record.steps)
        return scorer.evaluation.tally["calls"]

    steps: list[Any] = []
    calls = asyncio.run(application())
    spans = [span for span in exporter.get_finished_spans() if span.name == "chat"]
    digests = [(span.attributes or {})["ragmetrics.step.rendered_digest"] for span in spans]
    assert {step.rendered_digest for step in steps if step.kind == "generate"} <= set(digests)
    assert len(digests) == calls
    assert all(span.parent is None for span in spans)
    # and that of the request
    assert len({span.context.trace_id for span in exporter.get_finished_spans()}) == calls + 1


def test_a_traced_asynchronous_function_is_asked_on_the_loop_of_its_scorer(live: MakeScorer):
    loops: list[Any] = []

    async def judge(text: str) -> str:
        loops.append(asyncio.get_running_loop())
        return supports(text)

    async def application() -> None:
        scorer = live(judge=TracedJudge(judge))
        scorer.submit(faithful())
        assert await scorer.aflush()
        assert loops == [asyncio.get_running_loop()] * 2

    asyncio.run(application())
