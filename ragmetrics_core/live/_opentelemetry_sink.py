"""Scores as events of OpenTelemetry, through its Logs API."""

import sys
import time
from typing import TYPE_CHECKING

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import Capture, LiveResult, by_name
from ragmetrics_core.live._sinks import Direct
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.records.outgoing import EVENT, carrier_attributes, event_attributes, sent_score

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.trace import SpanContext, TracerProvider

__all__ = ["OpenTelemetrySink", "current_span_context"]

_RESPONSE = "gen_ai.response.id"


class OpenTelemetrySink(Direct):
    """Emit an event `gen_ai.evaluation.result` for each score, linked to the captured span.

    That is the capture's `parent`, if it is a span context, or else the current span when the capture was
    submitted. Scores are logs rather than span events because logs can be emitted after a span has ended.
    Skipped metrics emit nothing. Events hold numbers and reasons, but no text of a sample.

    Only the API is used: without a logger provider in the process, nothing is emitted.

    With a tracer provider, each result is also a carrier span of OpenInference: a span of kind EVALUATOR with
    all its scores and one link, to the captured span. Captures without a span have no carrier.

    Args:
        logger_provider: replaces the process's logger provider.
        tracer_provider: also emit carrier spans, with this provider.

    Raises:
        ConfigError: opentelemetry-api is not installed.
    """

    def __init__(
        self,
        logger_provider: "LoggerProvider | None" = None,
        *,
        tracer_provider: "TracerProvider | None" = None,
    ) -> None:
        try:
            from opentelemetry._logs import get_logger
        except ImportError as error:
            raise ConfigError(
                "an OpenTelemetrySink needs opentelemetry-api: install ragmetrics-core[otel]"
            ) from error
        self._logger = get_logger("ragmetrics", VERSION, logger_provider)
        self._tracer = None if tracer_provider is None else tracer_provider.get_tracer("ragmetrics", VERSION)

    def write(self, result: LiveResult) -> None:
        """Emit an event for each score, and the carrier of all of them."""
        from opentelemetry._logs import LogRecord, SeverityNumber
        from opentelemetry.context import Context
        from opentelemetry.trace import Link, NonRecordingSpan, set_span_in_context

        records = by_name(result.records)
        scores = [sent_score(each, name=name) for name, each in records.items() if each.status != "skipped"]
        span = _span_of(result.capture)
        context = Context() if span is None else set_span_in_context(NonRecordingSpan(span), Context())
        response_id = result.capture.labels.get("response_id")
        for score in scores:
            attributes = event_attributes(score)
            event = LogRecord(
                timestamp=time.time_ns(),
                context=context,
                severity_number=SeverityNumber.WARN if score.has_failed else SeverityNumber.INFO,
                attributes=attributes if response_id is None else attributes | {_RESPONSE: response_id},
                event_name=EVENT,
            )
            self._logger.emit(event)
        if self._tracer is not None and span is not None and scores:
            carrier = self._tracer.start_span(
                "ragmetrics evaluation",
                context=Context(),
                links=[Link(span)],
                attributes=carrier_attributes(scores),
            )
            carrier.end()


def current_span_context() -> "SpanContext | None":
    """The context of the host's current span, or None."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:  # whoever has a span has loaded this
        return None
    context: SpanContext = trace.get_current_span().get_span_context()
    return context if context.is_valid else None


def _span_of(capture: Capture) -> "SpanContext | None":
    from opentelemetry.trace import SpanContext

    spans = (capture.parent, capture.data.get("span_context"))
    return next((span for span in spans if isinstance(span, SpanContext)), None)
