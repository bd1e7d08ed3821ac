"""MLflow's traces as spans: `Trace.to_dict`, `Trace.to_json` and the rows of `search_traces`.

Read with mlflow 3.17.2, whose spans have base64 ids, and in the older form with a "context".
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragmetrics_core.adapting import Fields, Kind
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.traces._exports import ExportedRow, unreadable
from ragmetrics_core.traces._spans import TraceSpan
from ragmetrics_core.traces._values import decoded

__all__ = ["recognises", "spans_of"]

_CONVENTION = "MLflow traces"
_KINDS: Mapping[str, Kind | str] = {
    "LLM": "model",
    "CHAT_MODEL": "model",
    "RETRIEVER": "retriever",
    "RERANKER": "postprocessor",
    "TOOL": "tool",
    "EMBEDDING": "ignored",
    "GUARDRAIL": "ignored",
    "EVALUATOR": "ignored",
}
_TRACE, _SESSION = "mlflow.traceRequestId", "mlflow.trace.session"


def recognises(row: Fields) -> bool:
    """Whether it is a trace, or a row of `search_traces`."""
    trace = _opened(row)
    return is_mapping(trace.get("info")) and is_mapping(trace.get("data"))


def spans_of(rows: Iterable[Fields]) -> Iterator[TraceSpan]:
    """The spans of traces."""
    for row in rows:
        trace = ExportedRow(_opened(row))
        info, data = ExportedRow(trace.mapping("info")), ExportedRow(trace.mapping("data"))
        id = info.text("trace_id", "request_id")
        metadata = {**info.mapping("request_metadata"), **info.mapping("trace_metadata")}
        session = ExportedRow(metadata).text(_SESSION)
        spans = [_span(ExportedRow(span), id, session) for span in data.rows("spans")]
        yield from spans
        if data.problems or not spans:
            yield unreadable("; ".join(data.problems) or f"the trace {id!r} has no spans")


def _opened(row: Fields) -> Fields:
    """A trace; a row of `search_traces` holds it as JSON."""
    trace: Any = decoded(row.get("trace"))
    if is_mapping(trace):
        return trace
    if is_series(row.get("spans")) and "trace_metadata" in row:
        return {"info": row, "data": row}
    return row


def _span(span: ExportedRow, trace: str | None, session: str | None) -> TraceSpan:
    context = ExportedRow(span.mapping("context"))
    attributes = span.mapping("attributes")
    kind = _json_text(attributes.get("mlflow.spanType"))
    written = _json_text(attributes.get(_TRACE))
    status: Any = span.fields.get("status", span.fields.get("status_code"))
    code = status.get("code") if is_mapping(status) else status
    return span.span(
        trace=trace or (written if isinstance(written, str) else None),
        id=_hex(span.text("span_id") or context.text("span_id")),
        parent=_hex(span.text("parent_span_id", "parent_id")),
        name=span.text("name") or "",
        kind=_KINDS.get(kind, "chain") if isinstance(kind, str) else "chain",
        convention=_CONVENTION,
        began=span.time("start_time_unix_nano", "start_time") or 0,
        ended=span.time("end_time_unix_nano", "end_time"),
        failed="ERROR" in str(code),
        inputs=_json_text(attributes.get("mlflow.spanInputs")),
        outputs=_json_text(attributes.get("mlflow.spanOutputs")),
        attributes={name: _json_text(value) for name, value in attributes.items()},
        session=session,
    )


def _json_text(value: Any) -> Any:
    """The value of an attribute, which MLflow writes as JSON."""
    if isinstance(value, str) and value[:1] == '"':
        inner = decoded(f"[{value}]")
        return inner[0] if is_series(inner) and len(inner) == 1 else value
    return decoded(value)


def _hex(id: str | None) -> str | None:
    """An id as MLflow's clients take it: 16 hex digits; they are stored in base64."""
    if id is None or len(id) != 12 or not id.endswith("="):
        return id
    try:
        return b64decode(id, validate=True).hex()
    except ValueError:
        return id
