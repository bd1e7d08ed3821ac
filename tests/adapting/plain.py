"""A framework of plain Python, read through a dialect: documents are `Doc`, messages are `Said`."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from ragmetrics_core.adapting import Call, CapturedMessage, Chunk, Dialect, Kind


class Doc(NamedTuple):
    """A document."""

    text: str
    id: str | None = None
    window: str | None = None


class Said(NamedTuple):
    """A message."""

    role: str
    text: str


def _document(value: object) -> Chunk | None:
    if not isinstance(value, Doc):
        return None
    return Chunk(value.text, value.id, others=(value.window,) if value.window else ())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _messages(value: object) -> Sequence[CapturedMessage]:
    if isinstance(value, list) and value and all(isinstance(each, Said) for each in value):
        return [CapturedMessage(each.role, each.text) for each in value]
    return ()


def _fields(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


PLAIN = Dialect(document=_document, text=_text, messages=_messages, fields=_fields)


class Clock:
    """Makes calls one after the other."""

    def __init__(self) -> None:
        self._ticks = count(1)

    def call(self, kind: Kind, name: str, inputs: Any, outputs: Any, **more: Any) -> Call:
        """A call that begins after all before it have ended."""
        began = next(self._ticks)
        return Call(
            kind=kind, name=name, inputs=inputs, outputs=outputs, began=began, ended=next(self._ticks), **more
        )
