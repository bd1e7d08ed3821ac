"""What the connector's tracer forwards to the tracer that was there before."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from haystack import tracing
from haystack.tracing import Span, Tracer
from haystack.tracing.logging_tracer import LoggingTracer
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsTracer
from tests.integrations.haystack.connected import QUESTION, connected, samples
from tests.integrations.haystack.generators import question_data, rag_pipeline


class RecordingSpan(Span):
    def __init__(self, calls: list[Any], name: str) -> None:
        self.calls = calls
        self.name = name

    def set_tag(self, key: str, value: Any) -> None:
        self.calls.append((self.name, "set_tag", key))

    def set_content_tag(self, key: str, value: Any) -> None:
        self.calls.append((self.name, "set_content_tag", key))

    def raw_span(self) -> Any:
        return f"raw {self.name}"

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        return {"trace": self.name}


class Recording(Tracer):
    """Writes down every call, with the parents that it was given."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.errors: list[Any] = []
        self.url = "https://example.invalid"

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        name = str((tags or {}).get("haystack.component.name", operation_name))
        span = RecordingSpan(self.calls, name)
        parent = None if parent_span is None else (type(parent_span), parent_span.name)  # type: ignore[attr-defined]
        self.calls.append(("open", operation_name, sorted(tags or {}), parent))
        try:
            yield span
        except BaseException as error:
            self.errors.append(type(error))
            raise
        finally:
            self.calls.append(("close", name))

    def current_span(self) -> Span | None:
        self.calls.append("current_span")
        return None


def test_the_tracer_that_was_there_gets_every_call_unchanged():
    alone, inside = Recording(), Recording()
    data = question_data(QUESTION, with_answers=True)
    tracing.enable_tracing(alone)
    rag_pipeline(with_answers=True).run(data)

    tracing.enable_tracing(inside)
    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer)
    rag_pipeline(with_answers=True).run(data)

    scorer.close()
    assert inside.calls == alone.calls
    assert len(scorer.results) == 1


def test_spans_and_other_attributes_are_those_of_the_tracer_inside():
    inside = Recording()
    tracing.enable_tracing(inside)
    tracer = RagMetricsTracer.install()

    with tracing.tracer.trace("haystack.pipeline.run", tags={}) as span:
        assert span.raw_span() == "raw haystack.pipeline.run"
        assert span.get_correlation_data_for_logs() == {"trace": "haystack.pipeline.run"}
        assert span.name == "haystack.pipeline.run"  # type: ignore[attr-defined]
    assert tracer.url == "https://example.invalid"
    assert tracing.tracer.current_span() is None
    assert "current_span" in inside.calls


def test_an_error_of_the_application_passes_through_the_tracer_inside():
    inside = Recording()
    tracing.enable_tracing(inside)
    RagMetricsTracer.install()

    error = KeyError("of the application")
    with pytest.raises(KeyError), tracing.tracer.trace("haystack.component.run"):
        raise error

    assert inside.errors == [KeyError]


def test_a_tracer_that_is_enabled_later_is_wrapped_by_the_next_run():
    pipeline = rag_pipeline()
    connector = connected(pipeline)
    pipeline.run(question_data(QUESTION))
    later = Recording()
    tracing.enable_tracing(later)

    pipeline.run(question_data("What is the capital of Italy?"))

    assert len(samples(connector)) == 2
    assert ("close", "haystack.pipeline.run") in later.calls


def test_a_tracer_that_wraps_ours_and_is_wrapped_again_counts_each_run_once():
    class Wraps(Tracer):
        def __init__(self, inner: Tracer) -> None:
            self.inner = inner

        @contextmanager
        def trace(
            self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
        ) -> Iterator[Span]:
            with self.inner.trace(operation_name, tags, parent_span) as span:
                yield span

        def current_span(self) -> Span | None:
            return self.inner.current_span()

    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer)
    tracing.enable_tracing(Wraps(tracing.tracer.actual_tracer))
    RagMetricsTracer.install()

    rag_pipeline().run(question_data(QUESTION))

    scorer.close()
    assert len(scorer.results) == 1


def test_the_last_connector_that_is_closed_puts_the_tracer_back():
    before = LoggingTracer()
    tracing.enable_tracing(before)
    first, second = rag_pipeline(), rag_pipeline()
    connected(first)
    connected(second)
    first.warm_up()
    second.warm_up()

    first.close()
    assert isinstance(tracing.tracer.actual_tracer, RagMetricsTracer)
    second.close()

    assert tracing.tracer.actual_tracer is before


def test_spans_of_opentelemetry_keep_their_parents():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.enable_tracing(OpenTelemetryTracer(provider.get_tracer("app")))
    pipeline = rag_pipeline()
    connector = connected(pipeline)

    pipeline.run(question_data(QUESTION))

    assert len(samples(connector)) == 1
    spans = exporter.get_finished_spans()
    (root,) = [span for span in spans if span.name == "haystack.pipeline.run"]
    parts = [span for span in spans if span.name == "haystack.component.run"]
    assert len(spans) == 5
    assert all(part.parent and part.parent.span_id == root.context.span_id for part in parts)


class OpenTelemetrySpan(Span):
    def __init__(self, span: Any) -> None:
        self.span = span

    def set_tag(self, key: str, value: Any) -> None:
        self.span.set_attribute(key, str(value))

    def raw_span(self) -> Any:
        return self.span


class OpenTelemetryTracer(Tracer):
    """As in Haystack's documentation."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        with self.tracer.start_as_current_span(operation_name) as span:
            wrapped = OpenTelemetrySpan(span)
            wrapped.set_tags(tags or {})
            yield wrapped

    def current_span(self) -> Span | None:
        return None
