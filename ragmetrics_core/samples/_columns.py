"""The columns of a row, in the spellings of several libraries, read into the fields of a sample.

Used by `Sample.from_mapping`, whose docstring states the rules.
"""

import ast
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError

from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._stages import Stage
from ragmetrics_core.shapes import Json, is_mapping, is_series

__all__ = ["TEXT_COLUMNS", "Label", "field_named", "is_sample_column", "read_row", "shown", "spelled"]

Label: TypeAlias = str | float | bool | None

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "question": ("question", "questions", "user_input", "query", "input"),
    "answer": ("answer", "response", "predicted_answer", "predicted_answers", "actual_output"),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "documents", "context"),
    "reference": ("reference", "ground_truth", "ground_truth_answer", "expected_output", "reference_answer"),
    "references": ("references", "ground_truths", "ground_truth_answers"),
    "reference_contexts": ("reference_contexts",),
    "context_ids": ("context_ids", "retrieved_context_ids", "retrieved_ids"),
    "reference_context_ids": ("reference_context_ids", "expected_ids"),
    "reference_context_grades": ("reference_context_grades", "relevance_grades"),
    "history": ("history", "chat_history"),
    "language": ("language",),
    "stages": ("stages",),
    "request_messages": ("request_messages",),
    "labels": ("labels",),
}
_FIELD_OF: Final = {column: name for name, columns in _COLUMNS.items() for column in columns}
_TEXT_FIELDS: Final = frozenset({"question", "answer", "reference", "language"})
_ID_FIELDS: Final = frozenset({"context_ids", "reference_context_ids"})
_DEEPEVAL_COLUMNS: Final = frozenset({"actual_output", "expected_output", "retrieval_context"})
_DOCUMENT_KEYS: Final = ("page_content", "content", "text")

TEXT_COLUMNS: Final = frozenset(c for c, name in _FIELD_OF.items() if name in _TEXT_FIELDS or c == "id")

# LangSmith: the parts of an example, and what the columns inside of each mean
_CONTENT_FIELD_OF: Final = {c: name for c, name in _FIELD_OF.items() if name not in {"id", "labels"}}
_AS_REFERENCE: Final = {
    "answer": "reference",
    "reference": "reference",
    "references": "references",
    "contexts": "reference_contexts",
    "reference_contexts": "reference_contexts",
    "context_ids": "reference_context_ids",
    "reference_context_ids": "reference_context_ids",
}
_LANGSMITH: Final[Mapping[str, Mapping[str, str]]] = {
    "inputs": _CONTENT_FIELD_OF,
    "outputs": _CONTENT_FIELD_OF | {"output": "answer"},
    "reference_outputs": {c: _AS_REFERENCE[name] for c, name in _FIELD_OF.items() if name in _AS_REFERENCE}
    | {"output": "reference"},
}

_STAGES: Final = TypeAdapter(tuple[Stage, ...])
# what one text may come as
_SCALARS: Final = (int, float, Decimal, date, time, UUID)

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# a list of strings as Python or numpy write it; possessive, so that no text makes the match slow
_ESCAPE: Final = r"""\\(?:[\\'"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"""
_STRING: Final = rf"""(?:'(?:[^'\\\n]++|{_ESCAPE})*+'|"(?:[^"\\\n]++|{_ESCAPE})*+")"""
_STRING_ITEM: Final = re.compile(_STRING)
_STRING_LIST: Final = re.compile(
    rf"\[\s*+(?:{_STRING}(?:(?:\s*+,\s*+|\s++){_STRING})*+\s*+(?:,\s*+)?)?\]",
)


def spelled(column: str) -> str:
    """The one spelling of a column's name: `actual_output` for "actualOutput" and " Actual_Output"."""
    return _CAMEL.sub("_", column.strip()).casefold()


def is_sample_column(column: str) -> bool:
    """Whether a column of this name is read into a field of a sample, or would become a label."""
    return field_named(column) is not None


def field_named(column: str) -> str | None:
    """The field of a sample that a column of this name is read into; None for a label."""
    return _field_of(column, deepeval=False)


def _field_of(column: str, *, deepeval: bool) -> str | None:
    """The field that a column means; None for a label."""
    name = spelled(column)
    if name == "context" and deepeval:
        return "reference_contexts"
    part, dot, inner = name.partition(".")
    if dot and part in _LANGSMITH:
        return _LANGSMITH[part].get(inner)
    return _FIELD_OF.get(name)


def read_row(row: Mapping[str, object], *, textual: bool) -> dict[str, Any]:
    """Read a row into the fields of a sample, whatever library named its columns.

    Raises:
        SampleError: as `Sample.from_mapping`, without the place of the row.
    """
    cells = list(_cells(row))
    deepeval = any(spelled(column) in _DEEPEVAL_COLUMNS for column, _ in cells)
    values: dict[str, Any] = {}
    labels: dict[str, Label] = {}
    source: dict[str, str] = {}
    for column, raw in cells:
        value = None if textual and raw == "" else _plain(raw)
        name = _field_of(column, deepeval=deepeval)
        if name is None or name == "labels":
            found = _mapping(column, value) if name else {column: value}
            for label, content in found.items():
                read = _label(label, content, textual=textual)
                if label in labels and labels[label] != read:
                    raise SampleError(f"label {label!r} is given twice with different values")
                labels[_text("a label's name", label)] = read
        elif value is not None:
            read_value = _field(name, column, value)
            if name in values and values[name] != read_value:
                raise SampleError(f"{source[name]!r} and {column!r} both mean {name} and disagree; keep one")
            values.setdefault(name, read_value)
            source.setdefault(name, column)
    if not values.keys() - {"id", "language"}:
        raise SampleError(f"nothing to evaluate, found only the columns {[column for column, _ in cells]}")
    return {**values, "labels": labels}


def _cells(row: Mapping[Any, object]) -> Iterator[tuple[str, object]]:
    """Columns and values, with LangSmith's nested parts laid out as `inputs.question`."""
    for column, value in row.items():
        if not isinstance(column, str):
            raise SampleError(f"column names must be text, got {shown(column)}")
        if column in _LANGSMITH and is_mapping(value):
            yield from ((f"{column}.{inner}", content) for inner, content in value.items())
        else:
            yield column, value


def _plain(value: object) -> object:
    """Python's own type for a numpy value; None for NaN, also that of pandas (`NA`, `NaT`)."""
    if isinstance(value, np.datetime64):  # of nanoseconds numpy makes a number
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic | np.ndarray):
        return _plain(cast("object", value.tolist()))
    if isinstance(value, float) and math.isnan(value):
        return None
    return None if type(value).__name__ in {"NAType", "NaTType"} else value


def _field(
    name: str, column: str, value: object
) -> str | tuple[str, ...] | tuple[float, ...] | tuple[dict[str, str], ...] | tuple[Stage, ...]:
    """The value of one field, from a cell that is not absent."""
    if name == "id":
        return _identifier(repr(column), value)
    if name in {"history", "request_messages"}:
        return _turns(column, value)
    if name == "stages":
        return _stages(column, value)
    if name == "reference_context_grades":
        return _grades(column, value)
    if name in _TEXT_FIELDS:
        return _text(repr(column), value) if name == "language" else _words(repr(column), value)
    items = _decoded(value) if isinstance(value, str) else value
    if isinstance(items, _SCALARS):  # one where a list is expected is a list of one
        items = [items]
    if not is_series(items):
        raise SampleError(f"{column!r} must be a list of texts, got {shown(value)}")
    read = _identifier if name in _ID_FIELDS else _passage
    return tuple(read(f"{column!r} item {n}", _plain(item)) for n, item in enumerate(items, start=1))


def _text(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise SampleError(f"{what} must be text, got {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise SampleError(f"{what} is not valid Unicode: half a character at {error.start}") from None
    return str(value)


def _words(what: str, value: object) -> str:
    """A text; a number, a date or a truth value as the text that a CSV file has of it.

    A column of whole numbers becomes one of floats in a data frame where one is missing: 42.0 is "42".
    """
    if isinstance(value, float):
        if math.isinf(value):
            raise SampleError(f"{what} must be text or a finite number, got {value}")
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(float(value))
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int):  # of more than 4300 digits there is no text
        with suppress(ValueError):
            return str(value)
    if isinstance(value, Decimal | UUID):
        return str(value)
    return _text(what, value)


def _identifier(what: str, value: object) -> str:
    """An id: text, or a whole number (pandas turns a column of them to floats when one is missing)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, UUID) or (isinstance(value, int) and not isinstance(value, bool)):
        value = str(value)
    return _text(what, value)


def _passage(what: str, value: object) -> str:
    """A chunk: text, or a document as a mapping."""
    if is_mapping(value):
        key = next((key for key in _DOCUMENT_KEYS if isinstance(value.get(key), str)), None)
        if key is None:
            raise SampleError(f"{what} has no text under any of {', '.join(_DOCUMENT_KEYS)}")
        value = value[key]
    return _words(what, value)


def _grades(column: str, value: object) -> tuple[float, ...]:
    """Finite numbers, also as a JSON list that was written as text."""
    items = value
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            items = json.loads(value)
    numbers = [_plain(item) for item in items] if is_series(items) else [items]
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in numbers):
        raise SampleError(f"{column!r} must be a list of numbers, got {shown(value)}")
    grades = [each for each in numbers if isinstance(each, int | float)]
    # a whole number may be larger than any float
    if not all(abs(each) <= sys.float_info.max for each in grades):
        raise SampleError(f"{column!r} must hold finite numbers, got {shown(value)}")
    return tuple(map(float, grades))


def _decoded(text: str) -> list[str]:
    """The strings of a JSON or Python list that was written as text; otherwise the text alone."""
    listed = text.strip()
    if not (listed.startswith("[") and listed.endswith("]")):
        return [text]
    try:
        items: Json = json.loads(listed)
    except (ValueError, RecursionError):
        items = None
    if isinstance(items, list):
        texts = [item for item in items if isinstance(item, str)]
        if len(texts) == len(items):
            return texts
    if not _STRING_LIST.fullmatch(listed):
        return [text]
    try:
        # what reaches the parser is one quoted string at a time: no names, no calls, no nesting
        return [ast.literal_eval(item) for item in _STRING_ITEM.findall(listed)]
    except (ValueError, SyntaxError):
        return [text]


def _turns(column: str, value: object) -> tuple[dict[str, str], ...]:
    """The role and the content of each message."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise SampleError(f"{column!r} must be a list of messages, got {shown(value)}") from None
    if not is_series(value):
        raise SampleError(f"{column!r} must be a list of messages, got {shown(value)}")
    turns: list[dict[str, str]] = []
    for n, message in enumerate(value, start=1):
        what = f"{column!r} item {n}"
        if not is_mapping(message) and not isinstance(message, BaseModel):
            raise SampleError(f"{what} must have a role and a content, got {shown(message)}")
        parts: dict[Any, object] = dict(message)
        turns.append({key: _text(f"{what} {key}", parts.get(key)) for key in ("role", "content")})
    return tuple(turns)


def _stages(column: str, value: object) -> tuple[Stage, ...]:
    """The stages of a retrieval, as a sample writes them."""
    try:
        return _STAGES.validate_json(value) if isinstance(value, str) else _STAGES.validate_python(value)
    except ValidationError as error:
        raise SampleError(f"{column!r} must be a list of stages: {error.errors()[0]['msg']}") from None


def _mapping(column: str, value: object) -> Mapping[str, object]:
    """The labels of a column of that name; what is no mapping is one label, as in any other column."""
    if value is None:
        return {}
    inner = value
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            inner = json.loads(value)
    if not is_mapping(inner):
        return {column: value}
    if not all(isinstance(key, str) for key in inner):
        raise SampleError(f"{column!r} must be a mapping with text keys, got {shown(value)}")
    return inner


def _label(name: str, value: object, *, textual: bool) -> Label:
    value = _plain(value)
    if textual and isinstance(value, str):
        value = _typed(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(f"label {name!r}", value)
    if isinstance(value, int):
        return float(value) if abs(value) <= 2**53 else _json_text(name, value)
    if isinstance(value, float):
        if math.isinf(value):
            raise SampleError(f"label {name!r} must be a finite number, got {value}")
        return float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    return _json_text(name, value)


def _json_text(name: str, value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=_jsonable)
    except (TypeError, ValueError, RecursionError):
        raise SampleError(f"label {name!r} cannot be kept, got {shown(value)}") from None
    return _text(f"label {name!r}", text)


def _typed(text: str) -> Label:
    """A cell of a CSV file as the truth value or number that it spells, otherwise the text."""
    truth = {"true": True, "false": False}.get(text.strip().casefold())
    if truth is not None:
        return truth
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    # from 2**53 on a float no longer tells neighbouring whole numbers apart
    return text if abs(number) >= 2**53 else number


def _jsonable(value: object) -> object:
    """What JSON can write for numpy values and dates inside a label; `json.dumps` calls it."""
    if isinstance(value, np.generic | np.ndarray):
        return cast("object", value.tolist())
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    raise TypeError(type(value).__name__)


def shown(value: object) -> str:
    """Type and value for a message, cut to a readable length."""
    if value is None:
        return "None"
    try:
        text = repr(value)
    except ValueError:  # whole numbers of more than 4300 digits have none
        text = "..."
    return f"{type(value).__name__} ({text if len(text) <= 60 else text[:57] + '...'})"
