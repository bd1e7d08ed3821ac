"""Incoming values: read as absent, a text or a list of texts, or refused."""

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias, cast
from uuid import UUID

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ragmetrics_core.boundary.shapes import is_mapping, is_sequence, is_series
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._citations import read_citations
from ragmetrics_core.samples._documents import document_text, is_document, message_text
from ragmetrics_core.samples._messages import ChatMessage, UnreadableMessage, messages_in
from ragmetrics_core.samples._printed import Unreadable, is_printed_object, printed_value
from ragmetrics_core.samples._stages import Stage

__all__ = [
    "Kind",
    "dated",
    "parsed",
    "plain",
    "read_cell",
    "read_messages",
    "shown",
    "valid_text",
    "whole_number",
]

Kind: TypeAlias = Literal[
    "id",
    "name",
    "text",
    "answer",
    "citations",
    "texts",
    "chunks",
    "relevant",
    "ids",
    "grades",
    "number",
    "turns",
    "stages",
]
"""Kinds of cells; a blank `answer` is an answer, and a blank `text` is absent."""

_STAGES: Final = TypeAdapter(tuple[Stage, ...])
_SCALARS: Final = (int, float, Decimal, date, time, UUID)
_LISTS: Final = frozenset({"texts", "chunks", "relevant", "ids"})
_AS_LIST: Final = 'write it as a JSON list, such as ["first text", "second text"]'
# what is written for an absent list of chunks
_NOTHING: Final = frozenset({"none", "null", "nan", "<na>"})
# what may separate ids in one text
_BETWEEN_IDS: Final = frozenset(" ,;|\n\t")


def read_cell(what: str, value: object, kind: Kind, *, separators: str = "") -> object:
    """Read an incoming value; None if it is absent.

    Args:
        what: name of the cell, for an error.
        value: the cell.
        kind: the kind of cell.
        separators: characters that may separate the texts of a list in this cell.

    Raises:
        SampleError: the value cannot be read, or is ambiguous.
    """
    if type(value) is not str or kind in _LISTS:
        value = plain(value)
        if value is None:
            return None
    if kind in _LISTS:
        return _listed(what, value, kind, separators)
    if isinstance(value, str) and kind != "answer" and not value.strip():
        return None
    return _READERS[kind](what, value)


def plain(value: object) -> object:
    """Python's own type for a numpy value; None for NaN, including `Decimal` and pandas (`NA`, `NaT`)."""
    if value is None or type(value) in (str, list, dict, int, bool, tuple):
        return value
    if isinstance(value, np.datetime64):  # of nanoseconds numpy makes a number
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic | np.ndarray):
        return plain(cast("object", value.tolist()))
    if value.is_nan() if isinstance(value, Decimal) else isinstance(value, float) and math.isnan(value):
        return None
    return None if type(value).__name__ in {"NAType", "NaTType"} else value


def dated(value: object) -> object:
    """The text of a date, an exact number or a UUID; other values unchanged."""
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal | UUID) else value


def parsed(value: object) -> object:
    """The value that a text prints, if it can be read; other values unchanged."""
    if isinstance(value, str):
        with suppress(Unreadable):
            read = printed_value(value)
            if not isinstance(read, str):
                return read
        with suppress(ValueError, RecursionError):
            return cast("object", json.loads(value))
    return value


def valid_text(what: str, value: object) -> str:
    """Check that a text can be written as UTF-8."""
    if not isinstance(value, str):
        raise SampleError(f"{what} must be text, got {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SampleError(f"{what} is not valid Unicode: unpaired surrogate at {error.start}") from None
    return str(value)


def shown(value: object) -> str:
    """Type and value for a message, cut to a readable length."""
    if value is None:
        return "None"
    try:
        text = repr(value)
    except ValueError:  # whole numbers of more than 4300 digits have none
        text = "..."
    return f"{type(value).__name__} ({text if len(text) <= 60 else text[:57] + '...'})"


def _words(what: str, value: object) -> str:
    """A text; numbers, dates and truth values become their text in a CSV file.

    A data frame turns whole numbers to floats if one is missing, so 42.0 is "42".
    """
    if isinstance(value, str):
        return valid_text(what, value)
    if isinstance(value, float):
        if math.isinf(value):
            raise SampleError(f"{what} must be text or a finite number, got {value}")
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(float(value))
    if isinstance(value, int):  # of more than 4300 digits there is no text
        with suppress(ValueError):
            return str(value)
    return valid_text(what, dated(value))


def _said(what: str, value: object) -> str:
    """A question, an answer or a reference: a text, or a message with one."""
    if isinstance(value, str):
        if is_printed_object(value):
            raise SampleError(
                f"{what} is a printed object or list, not its text: {shown(value)}; write the text alone"
            )
    elif not isinstance(value, _SCALARS) and not is_series(value):
        text = message_text(value)
        value = value if text is None else text
    return _words(what, value)


def _identifier(what: str, value: object) -> str:
    """An id: a text or a whole number (pandas turns these to floats if one is missing)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, UUID) or (isinstance(value, int) and not isinstance(value, bool)):
        value = str(value)
    return valid_text(what, value)


def _passage(what: str, value: object) -> str:
    """A chunk: a text, or a document with one."""
    if isinstance(value, str) or value is None or isinstance(value, (*_SCALARS, bytes)):
        return _words(what, value)
    text = document_text(value)
    if text is not None:
        return valid_text(what, text)
    if is_mapping(value):
        raise SampleError(f"{what} has no text under any of page_content, content, text")
    raise SampleError(f"{what} must be text, got {shown(value)}")


def _listed(what: str, value: object, kind: Kind, separators: str) -> tuple[str, ...] | None:
    """A list of texts; a single text is a list of one."""
    items = _items(what, value, kind, separators)
    if items is None:
        return None
    if all(type(item) is str for item in items):
        texts = tuple(cast("Sequence[str]", items))
        try:
            "\0".join(texts).encode()
        except UnicodeEncodeError:
            texts = tuple(valid_text(f"{what} item {n}", item) for n, item in enumerate(texts, start=1))
    else:
        read = _identifier if kind == "ids" else _passage
        texts = tuple(read(f"{what} item {n}", plain(item)) for n, item in enumerate(items, start=1))
    if kind in ("chunks", "ids"):
        return texts
    said = tuple(text for text in texts if text.strip())
    return said if said or not texts else None


def _items(what: str, value: object, kind: Kind, separators: str) -> Sequence[object] | None:
    """Items of a list in any form; None if there is no list."""
    if isinstance(value, str):
        return _items_of_text(what, value, kind, separators)
    if isinstance(value, _SCALARS):
        return [value]
    if is_series(value):
        first = value[0] if len(value) == 1 else None
        if isinstance(first, str) and first.lstrip()[:1] in ("[", "(") and is_printed_object(first):
            raise SampleError(f"{what} holds a printed list as one text, {shown(first)}; {_AS_LIST}")
        return value
    if kind != "ids" and is_document(value):
        return [value]
    if is_sequence(value) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    if not is_mapping(value) and callable(getattr(value, "tolist", None)):  # a series of pandas
        return _items(what, cast("Any", value).tolist(), kind, separators)
    raise SampleError(f"{what} must be a list of texts, got {shown(value)}")


def _items_of_text(what: str, text: str, kind: Kind, separators: str) -> Sequence[object] | None:
    if not text.strip():
        return None
    if kind != "texts" and text.strip().casefold() in _NOTHING:
        return None
    try:
        read = printed_value(text)
    except Unreadable:
        raise SampleError(
            f"{what} starts like a printed list or object but cannot be read as one: {shown(text)}; "
            f"{_AS_LIST}"
        ) from None
    if read is None:
        return None
    if is_series(read):
        return read
    if is_mapping(read) and kind != "ids":
        return [read]
    if not isinstance(read, str):
        raise SampleError(f"{what} must be a list of texts, got {shown(read)}; {_AS_LIST}")
    between = _BETWEEN_IDS if kind == "ids" else frozenset(separators)
    if found := next((mark for mark in text.strip() if mark in between), None):
        raise SampleError(
            f"{what} may be one text or several, separated by {found!r}: {shown(text)}; {_AS_LIST}"
        )
    return [text]


def _grades(what: str, value: object) -> tuple[float, ...]:
    """Finite numbers, from a list or its text."""
    items = parsed(value)
    numbers = [plain(item) for item in items] if is_series(items) else [items]
    grades = [each for each in numbers if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(grades) < len(numbers):
        raise SampleError(f"{what} must be a list of numbers, got {shown(value)}")
    # a whole number may be larger than any float
    if not all(abs(each) <= sys.float_info.max for each in grades):
        raise SampleError(f"{what} must hold finite numbers, got {shown(value)}")
    return tuple(map(float, grades))


def whole_number(value: object) -> int | None:
    """A whole number from 1 (data frames and CSV files write it as a float or a text); None for the rest."""
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and value >= 1 else None


def _number(what: str, value: object) -> int:
    number = whole_number(value)
    if number is None:
        raise SampleError(f"{what} must be a whole number from 1, got {shown(value)}")
    return number


def read_messages(what: str, value: object) -> tuple[ChatMessage, ...]:
    """The messages of a list or its text; results of tools in a message are messages of their own.

    Raises:
        SampleError: it is not a list, or a message cannot be read.
    """
    values = parsed(value)
    if not is_series(values):
        raise SampleError(f"{what} must be a list of messages, got {shown(values)}")
    messages: list[ChatMessage] = []
    for n, message in enumerate(values, start=1):
        item = f"{what} item {n}"
        try:
            found = list(messages_in(message))
        except UnreadableMessage as error:
            problem = str(error) or f"must have a role and a content, got {shown(message)}"
            raise SampleError(f"{item} {problem}") from None
        for part in found:
            role = valid_text(f"{item} role", part.role)
            content = valid_text(f"{item} content", part.content)
            contexts = read_cell(f"{item} contexts", part.contexts, "chunks")
            messages.append(part._replace(role=role, content=content, contexts=contexts))
    return tuple(messages)


def _turns(what: str, value: object) -> tuple[dict[str, Any], ...]:
    """The messages as turns of a sample."""
    return tuple(message.turn for message in read_messages(what, value))


def _stages(what: str, value: object) -> tuple[Stage, ...]:
    """Stages of a retrieval."""
    try:
        return _STAGES.validate_python(parsed(value))
    except ValidationError as error:
        raise SampleError(f"{what} must be a list of stages: {error.errors()[0]['msg']}") from None


def _citations(what: str, value: object) -> tuple[object, ...] | None:
    """Citations, from a list or its text; None for an empty list."""
    return read_citations(what, parsed(value)) or None


_READERS: Final[Mapping[str, Callable[[str, object], object]]] = {
    "id": _identifier,
    "name": valid_text,
    "text": _said,
    "answer": _said,
    "citations": _citations,
    "grades": _grades,
    "number": _number,
    "turns": _turns,
    "stages": _stages,
}
