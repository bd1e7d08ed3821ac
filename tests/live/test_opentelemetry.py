"""Scores as events of OpenTelemetry, linked to the span of the answer."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import OpenTelemetrySink
from tests.live.captures import by_context, capture_of, faithful
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
    scorer.score(capture)

    (event,) = exported.records
    assert event.event_name == "gen_ai.evaluation.result"
    attributes = dict(event.attributes)
    assert attributes.pop("ragmetrics.version")
    assert attributes == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.explanation": "1 / 1 = 1",
        "gen_ai.response.id": "chatcmpl-1",
        "ragmetrics.sample.id": "root",
        "ragmetrics.metric.signature": "faithfulness/strict.1",
        "ragmetrics.status": "ok",
        "ragmetrics.judge": "scripted",
        "ragmetrics.counts.supported": 1,
        "ragmetrics.counts.statements": 1,
    }


def test_the_event_belongs_to_the_span_that_was_current_when_the_capture_was_handed_in(
    live: MakeScorer, exported: Exported
):
    scorer = live(sinks=[OpenTelemetrySink(exported.provider)])
    tracer = TracerProvider().get_tracer("app")
    with tracer.start_as_current_span("request") as span:
        scorer.submit(capture_of())
    scorer.flush()  # when the span has ended

    (event,) = exported.records
    context = span.get_span_context()
    assert (event.trace_id, event.span_id) == (context.trace_id, context.span_id)


def test_a_span_that_the_adapter_captured_goes_before_the_current_one(live: MakeScorer, exported: Exported):
    scorer = live(sinks=[OpenTelemetrySink(exported.provider)])
    tracer = TracerProvider().get_tracer("app")
    with tracer.start_as_current_span("request"):
        answer = tracer.start_span("answer").get_span_context()
        scorer.submit(capture_of(parent=answer))
    scorer.flush()

    (event,) = exported.records
    assert event.span_id == answer.span_id


def test_without_a_span_the_event_belongs_to_none(live: MakeScorer, exported: Exported):
    live(sinks=[OpenTelemetrySink(exported.provider)]).score(capture_of(parent="a run of another tracer"))

    (event,) = exported.records
    assert not event.trace_id


def test_a_failure_has_an_error_type_and_no_value(live: MakeScorer, exported: Exported):
    scorer = live(judge=lambda text: "what?", sinks=[OpenTelemetrySink(exported.provider)])
    scorer.score(capture_of())

    (event,) = exported.records
    assert event.attributes["error.type"] == "parse_error"
    assert "gen_ai.evaluation.score.value" not in event.attributes


def test_an_undefined_score_has_its_reason_and_is_no_error(live: MakeScorer, exported: Exported):
    live(sinks=[OpenTelemetrySink(exported.provider)]).score(capture_of(contexts=[]))

    (event,) = exported.records
    assert event.attributes["gen_ai.evaluation.explanation"] == "no_contexts"
    assert "error.type" not in event.attributes
    assert "gen_ai.evaluation.score.value" not in event.attributes


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

    with pytest.raises(ConfigError, match=r"ragmetrics\[otel\]"):
        OpenTelemetrySink()
