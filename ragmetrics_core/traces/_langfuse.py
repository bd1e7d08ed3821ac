"""Langfuse's observations as spans: of its API, its export to blob storage and its user interface.

Read with langfuse 5.0.4; https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragmetrics_core.adapting import Fields, Kind
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.traces._exports import ExportedRow, items_of
from ragmetrics_core.traces._spans import TraceSpan
from ragmetrics_core.traces._values import decoded

__all__ = ["recognises", "spans_of"]

_CONVENTION = "Langfuse observations"
_KINDS: Mapping[str, Kind | str] = {
    "GENERATION": "model",
    "RETRIEVER": "retriever",
    "TOOL": "tool",
    "SPAN": "chain",
    "CHAIN": "chain",
    "AGENT": "chain",
    "EVENT": "chain",
    "EMBEDDING": "ignored",
    "EVALUATOR": "ignored",
    "GUARDRAIL": "ignored",
}
_TRACE, _PARENT = ("traceId", "trace_id"), ("parentObservationId", "parent_observation_id")
_SESSION = ("sessionId", "session_id")
_BEGAN, _ENDED = ("startTime", "start_time"), ("endTime", "end_time")


def recognises(row: Fields) -> bool:
    """Whether it is an observation, a page of them, or a trace with its observations."""
    if is_series(row.get("observations")):
        return is_mapping(row.get("trace")) or any(name in row for name in ("id", *_SESSION))
    first = next(items_of([row], "data"), row)
    has_type = str(first.get("type")).upper() in _KINDS
    return has_type and all(any(name in first for name in names) for names in (_TRACE, _BEGAN))


def spans_of(rows: Iterable[Fields]) -> Iterator[TraceSpan]:
    """The spans of observations; a trace that has its own input and output is the parent of its outermost."""
    for row in items_of(rows, "data"):
        if not is_series(row.get("observations")):
            yield _span(ExportedRow(row))
            continue
        listed = ExportedRow(row)
        trace = ExportedRow(listed.mapping("trace") or row)
        id, session = trace.text("id"), trace.text(*_SESSION)
        has_own = any(trace.fields.get(name) not in (None, "") for name in ("input", "output"))
        spans = [
            _span(ExportedRow(each), id, session, id if has_own else None)
            for each in listed.rows("observations")
        ]
        if has_own:
            ends = [span.ended for span in spans if span.ended is not None]
            yield trace.span(
                trace=id,
                id=id,
                name=trace.text("name") or "trace",
                kind="chain",
                convention=_CONVENTION,
                began=min((span.began for span in spans), default=0),
                ended=max(ends, default=None),
                inputs=_arguments(decoded(trace.fields.get("input"))),
                outputs=decoded(trace.fields.get("output")),
                session=session,
            )
        yield from spans


def _span(
    row: ExportedRow, trace: str | None = None, session: str | None = None, parent: str | None = None
) -> TraceSpan:
    id, kind = row.text("id"), (row.text("type") or "").upper()
    if kind not in _KINDS:
        row.problems.append(f"the type {kind!r} of an observation is unknown: read as a span")
    began = row.time(*_BEGAN)
    outputs: Any = row.fields.get("output")
    is_text = kind == "GENERATION" and isinstance(outputs, str) and outputs[:1] not in ("{", "[")
    return row.span(
        trace=row.text(*_TRACE) or trace,
        id=id,
        parent=row.text(*_PARENT) or parent,
        name=row.text("name") or "",
        kind=_KINDS.get(kind, "chain"),
        convention=_CONVENTION,
        began=began or 0,
        ended=began if kind == "EVENT" else row.time(*_ENDED),
        failed=row.fields.get("level") == "ERROR",
        inputs=_arguments(_without_tools(decoded(row.fields.get("input")))),
        outputs=outputs if is_text else decoded(outputs),
        attributes=ExportedRow(row.mapping("metadata")).mapping("attributes"),
        session=row.text(*_SESSION) or session,
        extra={"observation": id} if id else {},
    )


def _arguments(inputs: Any) -> Any:
    """The arguments of a decorated function: the only one, or all by name and number."""
    if not is_mapping(inputs) or set(inputs) != {"args", "kwargs"}:
        return inputs
    positional, named = inputs["args"], inputs["kwargs"]
    if not is_series(positional) or not is_mapping(named):
        return inputs
    if len(positional) == 1 and not named:
        return positional[0]
    return {**{str(number): each for number, each in enumerate(positional)}, **named}


def _without_tools(inputs: Any) -> Any:
    """The messages of a request without the definitions of tools, which the LangChain handler adds."""
    if not is_series(inputs):
        return inputs
    return [each for each in inputs if not (is_mapping(each) and _is_definition(each.get("content")))]


def _is_definition(content: Any) -> bool:
    return is_mapping(content) and content.get("type") == "function" and is_mapping(content.get("function"))
