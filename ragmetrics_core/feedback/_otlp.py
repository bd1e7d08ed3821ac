"""OpenTelemetry: carrier spans of OpenInference and events of the GenAI conventions, to any collector."""

# The client is an extra, and what it gives has no types here.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import time
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ragmetrics_core.feedback._receivers import Unreachable, client_of
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.records import SentScore
from ragmetrics_core.records.outgoing import EVENT, carrier_attributes, event_attributes

__all__ = ["OTLPReceiver"]


class OTLPReceiver:
    """Write scores as carrier spans and as events `gen_ai.evaluation.result`.

    A carrier is a span of kind EVALUATOR with one link, to the scored span; it holds all scores of that span.
    Its ids follow from the scored span and the run, so a backend that knows spans by id keeps one of two. An
    event belongs to the scored span; events have no ids, so those that are sent twice are there twice.

    Args:
        span_exporter, log_exporter: replace the OTLP exporters, which read their settings from the
            environment.
        url: address of the collector, such as http://localhost:4318.

    Raises:
        ConfigError: opentelemetry-exporter-otlp-proto-http is not installed.
    """

    name = "otlp"

    def __init__(
        self, span_exporter: Any = None, log_exporter: Any = None, *, url: str | None = None
    ) -> None:
        base = url and url.rstrip("/")
        with client_of("otlp"):
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        self._spans: Any = span_exporter or OTLPSpanExporter(endpoint=base and f"{base}/v1/traces")
        self._logs: Any = log_exporter or OTLPLogExporter(endpoint=base and f"{base}/v1/logs")

    def problem_with(self, score: SentScore) -> str | None:
        """Refuse scores of samples without ids of OpenTelemetry."""
        if score.trace is None or score.span is None:
            return "the sample has no label 'trace' or 'span'"
        if _number(score.trace, 32) and _number(score.span, 16):
            return None
        return "the sample's labels 'trace' and 'span' are not ids of OpenTelemetry"

    def send(self, scores: Sequence[SentScore]) -> None:
        """Export carriers and events."""
        spans = [_carrier(list(of_span)) for _, of_span in groupby(scores, key=lambda score: score.span)]
        for exporter, items in ((self._spans, spans), (self._logs, list(map(_event, scores)))):
            result = exporter.export(items)
            if result.name != "SUCCESS":
                raise Unreachable("the collector did not take them")


def _carrier(scores: Sequence[SentScore]) -> Any:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import Link, Status, StatusCode

    first = scores[0]
    failed = any(score.has_failed for score in scores)
    now = time.time_ns()
    began = now if first.made is None else int(first.made.timestamp()) * 10**9
    own = first.id_at(f"{first.trace}/{first.span}/{first.run}").int
    return ReadableSpan(
        name="ragmetrics evaluation",
        context=_context(own, own >> 64),
        links=[Link(_target(first))],
        attributes=carrier_attributes(scores),
        status=Status(StatusCode.ERROR if failed else StatusCode.OK),
        start_time=began,
        end_time=began,
        instrumentation_scope=_scope(),
        resource=_resource(),
    )


def _event(score: SentScore) -> Any:
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.context import Context
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.trace import NonRecordingSpan, set_span_in_context

    record = LogRecord(
        timestamp=time.time_ns(),
        context=set_span_in_context(NonRecordingSpan(_target(score)), Context()),
        severity_number=SeverityNumber.WARN if score.has_failed else SeverityNumber.INFO,
        attributes=event_attributes(score),
        event_name=EVENT,
    )
    return ReadableLogRecord(record, _resource(), _scope())


def _target(score: SentScore) -> Any:
    return _context(_number(score.trace, 32), _number(score.span, 16))


def _context(trace: int, span: int) -> Any:
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(trace, span & (2**64 - 1), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _scope() -> Any:
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    return InstrumentationScope("ragmetrics", VERSION)


def _resource() -> Any:
    from opentelemetry.sdk.resources import Resource

    return Resource.create({"service.name": "ragmetrics"})


def _number(text: str | None, length: int) -> int:
    """The number of a hexadecimal id; 0 if it is not one, which no id is."""
    try:
        return int(text, 16) if text and len(text) == length else 0
    except ValueError:
        return 0
