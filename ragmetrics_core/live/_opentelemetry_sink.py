"""Scores as events of OpenTelemetry, through its Logs API."""

import sys
import time
from typing import TYPE_CHECKING, Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import Capture, LiveResult
from ragmetrics_core.live._sinks import Direct
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.records import FAILED, Record

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanContext

__all__ = ["OpenTelemetrySink", "current_span_context"]

_EVENT = "gen_ai.evaluation.result"


class OpenTelemetrySink(Direct):
    """Emit an event `gen_ai.evaluation.result` for each score, linked to the captured span.

    That is the capture's `parent`, if it is a span context, or else the current span when the capture was
    submitted. Scores are logs rather than span events because logs can be emitted after a span has ended.
    Skipped metrics emit nothing. Events hold numbers and reasons, but no text of a sample.

    Only the API is used: without a logger provider in the process, nothing is emitted.

    Args:
        logger_provider: replaces the process's logger provider.

    Raises:
        ConfigError: opentelemetry-api is not installed.
    """

    def __init__(self, logger_provider: "LoggerProvider | None" = None) -> None:
        try:
            from opentelemetry._logs import get_logger
        except ImportError as error:
            raise ConfigError(
                "an OpenTelemetrySink needs opentelemetry-api: install ragmetrics-core[otel]"
            ) from error
        self._logger = get_logger("ragmetrics", VERSION, logger_provider)

    def write(self, result: LiveResult) -> None:
        """Emit an event for each score."""
        from opentelemetry._logs import LogRecord, SeverityNumber

        context = _context_of(result.capture)
        for record in result.records:
            if record.status == "skipped":
                continue
            event = LogRecord(
                timestamp=time.time_ns(),
                context=context,
                severity_number=SeverityNumber.WARN if record.status in FAILED else SeverityNumber.INFO,
                attributes=_attributes(record, result.capture),
                event_name=_EVENT,
            )
            self._logger.emit(event)


def current_span_context() -> "SpanContext | None":
    """The context of the host's current span, or None."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:  # whoever has a span has loaded this
        return None
    context: SpanContext = trace.get_current_span().get_span_context()
    return context if context.is_valid else None


def _context_of(capture: Capture) -> "Context":
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

    for span in (capture.parent, capture.data.get("span_context")):
        if isinstance(span, SpanContext):
            return set_span_in_context(NonRecordingSpan(span), Context())
    return Context()


def _attributes(record: Record, capture: Capture) -> dict[str, Any]:
    """The attributes of the semantic conventions, and this library's under `ragmetrics.`."""
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": record.metric,
        "gen_ai.evaluation.score.value": record.value,
        "gen_ai.evaluation.explanation": record.formula or record.reason,
        "gen_ai.response.id": capture.labels.get("response_id"),
        "error.type": record.status if record.status in FAILED else None,
        "ragmetrics.sample.id": record.sample_id,
        "ragmetrics.metric.signature": record.signature,
        "ragmetrics.status": record.status,
        "ragmetrics.judge": record.judge,
        "ragmetrics.version": record.versions.get("ragmetrics"),
        **{f"ragmetrics.counts.{name}": count for name, count in record.counts.items()},
    }
    return {name: value for name, value in attributes.items() if value is not None}
