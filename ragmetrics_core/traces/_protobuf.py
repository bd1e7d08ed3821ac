"""OpenTelemetry's protocol in Protobuf: messages as the objects that the protocol has in JSON.

Field numbers are those of opentelemetry-proto 1.10, which no version may change.
"""

import struct
from typing import Any, Final, NamedTuple

__all__ = ["decoded_resource", "decoded_traces", "varint"]

_DEEPEST: Final = 100
# Bytes of a number of 64 bits.
_LONGEST: Final = 10


class _Field(NamedTuple):
    """A field: its name in JSON, its kind or the fields of its message, and whether it is a list."""

    name: str
    kind: "str | dict[int, _Field]"
    is_list: bool = False


_ANY: dict[int, _Field] = {
    1: _Field("stringValue", "text"),
    2: _Field("boolValue", "bool"),
    3: _Field("intValue", "int"),
    4: _Field("doubleValue", "double"),
}
_PAIR: Final = {1: _Field("key", "text"), 2: _Field("value", _ANY)}
_ANY[5] = _Field("arrayValue", {1: _Field("values", _ANY, is_list=True)})
_ANY[6] = _Field("kvlistValue", {1: _Field("values", _PAIR, is_list=True)})
_EVENT: Final = {2: _Field("name", "text"), 3: _Field("attributes", _PAIR, is_list=True)}
_SPAN: Final = {
    1: _Field("traceId", "hex"),
    2: _Field("spanId", "hex"),
    4: _Field("parentSpanId", "hex"),
    5: _Field("name", "text"),
    7: _Field("startTimeUnixNano", "time"),
    8: _Field("endTimeUnixNano", "time"),
    9: _Field("attributes", _PAIR, is_list=True),
    10: _Field("droppedAttributesCount", "int"),
    11: _Field("events", _EVENT, is_list=True),
    15: _Field("status", {3: _Field("code", "int")}),
}
_SCOPE: Final = {2: _Field("spans", _SPAN, is_list=True)}
_RESOURCE: Final = {2: _Field("scopeSpans", _SCOPE, is_list=True)}
_TRACES: Final = {1: _Field("resourceSpans", _RESOURCE, is_list=True)}


def decoded_traces(message: bytes) -> dict[str, Any]:
    """A message with all its spans, as in JSON.

    Raises:
        ValueError: it is not such a message.
    """
    return _decoded(memoryview(message), _TRACES, _DEEPEST)


def decoded_resource(message: bytes) -> dict[str, Any]:
    """The spans of one resource, as a message that has only these."""
    return {"resourceSpans": [_decoded(memoryview(message), _RESOURCE, _DEEPEST)]}


def varint(data: memoryview | bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and the place after it.

    Raises:
        ValueError: it has no end.
    """
    number = 0
    for index in range(_LONGEST):
        if place + index >= len(data):
            break
        byte = data[place + index]
        number |= (byte & 127) << (7 * index)
        if byte < 128:
            return number, place + index + 1
    raise ValueError("a number has no end")


def _decoded(data: memoryview, fields: dict[int, _Field], depth: int) -> dict[str, Any]:
    if not depth:
        raise ValueError("nested too deep")
    message: dict[str, Any] = {each.name: [] for each in fields.values() if each.is_list}
    place = 0
    while place < len(data):
        tag, place = varint(data, place)
        value, place = _raw(data, place, tag & 7)
        field = fields.get(tag >> 3)
        if field is not None:
            held = _value(value, field.kind, depth)
            if field.is_list:
                message[field.name].append(held)
            else:
                message[field.name] = held
    return message


def _raw(data: memoryview, place: int, wire: int) -> tuple[int | memoryview, int]:
    """A value as in a message, and the place after it."""
    if wire == 0:
        return varint(data, place)
    if wire == 2:
        size, place = varint(data, place)
    elif wire in (1, 5):
        size = 8 if wire == 1 else 4
    else:
        raise ValueError(f"unknown wire type {wire}")
    if place + size > len(data):
        raise ValueError("a value is cut off")
    return data[place : place + size], place + size


def _value(value: int | memoryview, kind: str | dict[int, _Field], depth: int) -> Any:
    if isinstance(value, int):
        if kind == "bool":
            return bool(value)
        if kind == "int":
            return value - 2**64 if value >= 2**63 else value
    elif not isinstance(kind, str):
        return _decoded(value, kind, depth - 1)
    elif kind == "text":
        return str(value, "utf-8", "replace")
    elif kind == "hex":
        return value.hex()
    elif kind == "time" and len(value) == 8:
        return int.from_bytes(value, "little")
    elif kind == "double" and len(value) == 8:
        return struct.unpack("<d", value)[0]
    raise ValueError("a field has a different type from the protocol")
