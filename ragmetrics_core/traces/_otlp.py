"""Spans in OpenTelemetry's protocol: as JSON, as single spans that exporters print, and from log records."""

import base64
import binascii
import string
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.traces._conventions import RawSpan, span_of
from ragmetrics_core.traces._spans import TraceSpan

__all__ = ["recognises", "spans_of"]

# How deep a value of an attribute is read.
_DEEPEST: Final = 40
_FAILED: Final = frozenset({2, "2", "ERROR", "STATUS_CODE_ERROR"})
_IDS: Final = {"trace": 32, "span": 16}


def recognises(row: Mapping[str, Any]) -> bool:
    """Whether an object is a request or a span of the protocol, or a span as Python's SDK prints it."""
    if any(is_series(row.get(name)) for name in ("resourceSpans", "resource_spans", "resourceLogs")):
        return True
    if is_mapping(context := row.get("context")) and "span_kind" not in row:  # which Phoenix writes
        return "trace_id" in context and "span_id" in context and is_mapping(row.get("attributes"))
    return bool(_get(row, "traceId") and _get(row, "spanId")) and is_series(row.get("attributes"))


def spans_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[TraceSpan]:
    """The spans in objects, those of log records with the span's content only."""
    for row in rows:
        for resource in _all(row, "resourceSpans"):
            for scope in _all(resource, "scopeSpans"):
                yield from map(_span, _all(scope, "spans"))
        for resource in _all(row, "resourceLogs"):
            for scope in _all(resource, "scopeLogs"):
                for record in _all(scope, "logRecords"):
                    yield from _content(record)
        if _get(row, "spanId") or is_mapping(row.get("context")):
            yield _span(row)


def _span(span: Mapping[str, Any]) -> TraceSpan:
    context = span.get("context")
    trace, id = _ids(context if is_mapping(context) else span)
    if not trace or not id:
        return TraceSpan(trace="", id="", kind="ignored", problems=("a span without ids",))
    status = span.get("status")
    code: Any = (status.get("code") or _get(status, "statusCode")) if is_mapping(status) else None
    events = _all(span, "events")
    return span_of(
        RawSpan(
            trace=trace,
            id=id,
            parent=_parent(span.get("parent_id") or _get(span, "parentSpanId")),
            name=_string(span.get("name")),
            began=_time(_get(span, "startTimeUnixNano") or span.get("start_time")) or 0,
            ended=_time(_get(span, "endTimeUnixNano") or span.get("end_time")),
            failed=code in _FAILED,
            attributes=_attributes(span.get("attributes")),
            lost=_whole(_get(span, "droppedAttributesCount")) or 0,
            events=[(_string(each.get("name")), _attributes(each.get("attributes"))) for each in events],
        )
    )


def _content(record: Mapping[str, Any]) -> Iterator[TraceSpan]:
    """The content of a span in a log record, if it belongs to one."""
    trace, id = _ids(record)
    if trace and id:
        named, body = _attributes(record.get("attributes")), _any(record.get("body"), _DEEPEST)
        event = _string(_get(record, "eventName")) or _string(named.get("event.name"))
        events = [(event, {**(body if is_mapping(body) else {}), **named})]
        yield span_of(RawSpan(trace=trace, id=id, attributes={}, events=events))


def _ids(holder: Mapping[str, Any]) -> tuple[str, str]:
    return _id(_get(holder, "traceId"), "trace"), _id(_get(holder, "spanId"), "span")


def _get(named: Mapping[str, Any], name: str) -> Any:
    """A field under its name in JSON, or with underscores."""
    value = named.get(name)
    return named.get("".join(f"_{c.lower()}" if c.isupper() else c for c in name)) if value is None else value


def _all(named: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    values = _get(named, name)
    return [value for value in values if is_mapping(value)] if is_series(values) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _id(value: Any, kind: str) -> str:
    """An id in hexadecimal digits, also from Base64, as general encoders of Protobuf write it; "" if none."""
    text = _string(value).removeprefix("0x")
    length = _IDS[kind]
    if len(text) != length or not set(text) <= set(string.hexdigits):
        try:
            text = base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return ""
    text = text.lower()
    return text if len(text) == length and text.strip("0") else ""


def _parent(value: Any) -> str | None:
    """The id of a parent; None for a root. An id that cannot be read is that of a missing parent."""
    is_root = not value or (isinstance(value, str) and not value.strip("0"))
    return None if is_root else _id(value, "span") or "unreadable"


def _time(value: Any) -> int | None:
    """A time in nanoseconds; None if there is none."""
    if isinstance(value, str) and not value.isdecimal():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        whole = int(moment.replace(microsecond=0).timestamp())
        return (whole * 1_000_000 + moment.microsecond) * 1000
    return _whole(value) or None


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes as a mapping, from a list of keys and values or from a mapping."""
    if is_mapping(value):
        return {str(key): each for key, each in value.items()}
    return _pairs(value, _DEEPEST)


def _pairs(value: Any, depth: int) -> dict[str, Any]:
    """A list of keys and values as a mapping."""
    pairs: Any = [each for each in value if is_mapping(each)] if is_series(value) else []
    return {each["key"]: _any(each.get("value"), depth) for each in pairs if isinstance(each.get("key"), str)}


def _any(value: Any, depth: int) -> Any:
    """The Python value of an `AnyValue`; None if it has none or is too deep."""
    if not is_mapping(value) or not depth:
        return None
    for name in ("stringValue", "boolValue"):
        if (held := _get(value, name)) is not None:
            return held
    if (number := _get(value, "intValue")) is not None:
        return _whole(number)
    if (number := _get(value, "doubleValue")) is not None:
        return number
    if is_mapping(array := _get(value, "arrayValue")):
        return [_any(each, depth - 1) for each in _all(array, "values")]
    if is_mapping(mapping := _get(value, "kvlistValue")):
        return _pairs(mapping["values"], depth - 1) if "values" in mapping else {}
    return None
