"""The columns of a row, in the spellings of several libraries, read into the fields of a sample.

Used by `Sample.from_mapping`, whose docstring states the rules.
"""

import ast
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError

from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._stages import Stage
from ragmetrics_core.shapes import is_list, is_mapping, is_series

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
_DEEPEVAL_COLUMNS: Final = frozenset({"actual_output", "expected_output", "retrieval_context"})
_DOCUMENT_KEYS: Final = ("page_content", "content", "text")

# LangSmith: the parts of an example, and what the columns inside of each mean
_CONTENT: Final = {c: name for c, name in _FIELD_OF.items() if name not in {"id", "labels"}}
_EXPECTED: Final = {"answer": "reference"} | {
    name.removeprefix("reference_"): name for name in ("reference_contexts", "reference_context_ids")
}
_LANGSMITH: Final[Mapping[str, Mapping[str, str]]] = {
    "inputs": _CONTENT,
    "outputs": _CONTENT | {"output": "answer"},
    "reference_outputs": {
        column: _EXPECTED.get(name, name)
        for column, name in (_FIELD_OF | {"output": "answer"}).items()
        if name in {*_EXPECTED, *_EXPECTED.values(), "references"}
    },
}

_STAGES: Final = TypeAdapter(tuple[Stage, ...])
# what one text may come as
_SCALARS: Final = (int, float, Decimal, date, time, UUID)

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# what pandas reads as absent in a file whose cells are text, but for "None", which can be an answer
_ABSENT: Final = frozenset({
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
})  # fmt: skip
# a list of strings as Python or numpy write it; possessive, so that no text makes the match slow
_ESCAPE: Final = r"""\\(?:[\\'"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"""
_STRING: Final = rf"""(?:'(?:[^'\\\n]++|{_ESCAPE})*+'|"(?:[^"\\\n]++|{_ESCAPE})*+")"""
_STRING_ITEM: Final = re.compile(_STRING)
_STRING_LIST: Final = re.compile(
    rf"\[\s*+(?:{_STRING}(?:(?:\s*+,\s*+|\s++){_STRING})*+\s*+(?:,\s*+)?)?\]",
)


@lru_cache(maxsize=4096)
def spelled(column: str) -> str:
    """The one spelling of a column's name: `actual_output` for "actualOutput" and " Actual_Output"."""
    return _CAMEL.sub("_", column.strip()).casefold()


def is_sample_column(column: str) -> bool:
    """Whether a column of this name is read into a field of a sample, or would become a label."""
    return field_named(column) is not None


@lru_cache(maxsize=4096)
def field_named(column: str, *, deepeval: bool = False) -> str | None:
    """The field of a sample that a column of this name is read into; None for a label.

    Args:
        column: its name.
        deepeval: it stands beside a column of DeepEval.
    """
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
        value = None if textual and isinstance(raw, str) and raw in _ABSENT else _plain(raw)
        name = field_named(column, deepeval=deepeval)
        if name is None or name == "labels":
            for label, content in (_labels(column, value) if name else {column: value}).items():
                read = _label(label, content, textual=textual)
                if labels.setdefault(_text("a label's name", label), read) != read:
                    raise SampleError(f"label {label!r} is given twice with different values")
        elif value is not None:
            field = _READERS.get(name, _words)(repr(column), value)
            if values.setdefault(name, field) != field:
                raise SampleError(f"{source[name]!r} and {column!r} both mean {name} and disagree; keep one")
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
    """Python's own type for a numpy value; None for NaN, of a `Decimal` and pandas too (`NA`, `NaT`)."""
    if isinstance(value, np.datetime64):  # of nanoseconds numpy makes a number
        value = value.astype("datetime64[us]")
    if isinstance(value, np.generic | np.ndarray):
        return _plain(cast("object", value.tolist()))
    if value.is_nan() if isinstance(value, Decimal) else isinstance(value, float) and math.isnan(value):
        return None
    return None if type(value).__name__ in {"NAType", "NaTType"} else value


# What makes a field of a cell, each with the cell's name for an error; it is never an absent cell.


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
    if isinstance(value, int):  # of more than 4300 digits there is no text
        with suppress(ValueError):
            return str(value)
    return _text(what, _dated(value))


def _dated(value: object) -> object:
    """The text of a date, an exact number or a UUID; anything else as it is."""
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal | UUID) else value


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


def _listed(what: str, value: object, read: Callable[[str, object], str] = _passage) -> tuple[str, ...]:
    """Several texts; one where a list is expected is a list of one."""
    items = _decoded(value) if isinstance(value, str) else [value] if isinstance(value, _SCALARS) else value
    if not is_series(items):
        raise SampleError(f"{what} must be a list of texts, got {shown(value)}")
    return tuple(read(f"{what} item {n}", _plain(item)) for n, item in enumerate(items, start=1))


def _grades(what: str, value: object) -> tuple[float, ...]:
    """Finite numbers, also as a JSON list that was written as text."""
    items = _parsed(value)
    numbers = [_plain(item) for item in items] if is_series(items) else [items]
    grades = [each for each in numbers if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(grades) < len(numbers):
        raise SampleError(f"{what} must be a list of numbers, got {shown(value)}")
    # a whole number may be larger than any float
    if not all(abs(each) <= sys.float_info.max for each in grades):
        raise SampleError(f"{what} must hold finite numbers, got {shown(value)}")
    return tuple(map(float, grades))


def _parsed(value: object) -> object:
    """What a text says as JSON; what is none as it is."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return cast("object", json.loads(value))
    return value


def _decoded(text: str) -> list[str]:
    """The strings of a JSON or Python list that was written as text; otherwise the text alone."""
    listed = text.strip()
    if not (listed.startswith("[") and listed.endswith("]")):
        return [text]
    items = _parsed(listed)
    if is_list(items) and all(isinstance(item, str) for item in items):
        return [str(item) for item in items]
    if _STRING_LIST.fullmatch(listed):
        # what reaches the parser is one quoted string at a time: no names, no calls, no nesting
        with suppress(ValueError, SyntaxError):
            return [ast.literal_eval(item) for item in _STRING_ITEM.findall(listed)]
    return [text]


def _turns(what: str, value: object) -> tuple[dict[str, str], ...]:
    """The role and the content of each message."""
    messages = _parsed(value)
    if not is_series(messages):
        raise SampleError(f"{what} must be a list of messages, got {shown(messages)}")
    turns: list[dict[str, str]] = []
    for n, message in enumerate(messages, start=1):
        item = f"{what} item {n}"
        if not is_mapping(message) and not isinstance(message, BaseModel):
            raise SampleError(f"{item} must have a role and a content, got {shown(message)}")
        parts: dict[Any, object] = dict(message)
        turns.append({key: _text(f"{item} {key}", parts.get(key)) for key in ("role", "content")})
    return tuple(turns)


def _stages(what: str, value: object) -> tuple[Stage, ...]:
    """The stages of a retrieval, as a sample writes them."""
    try:
        return _STAGES.validate_json(value) if isinstance(value, str) else _STAGES.validate_python(value)
    except ValidationError as error:
        raise SampleError(f"{what} must be a list of stages: {error.errors()[0]['msg']}") from None


# Of a field that is not named here: `_words`.
_READERS: Final[Mapping[str, Callable[[str, object], object]]] = {
    "id": _identifier,
    "language": _text,
    **dict.fromkeys(("contexts", "references", "reference_contexts"), _listed),
    **dict.fromkeys(("context_ids", "reference_context_ids"), partial(_listed, read=_identifier)),
    "reference_context_grades": _grades,
    **dict.fromkeys(("history", "request_messages"), _turns),
    "stages": _stages,
}
_LISTS: Final = frozenset({name for name in _COLUMNS if name in _READERS} - {"id", "language"})
TEXT_COLUMNS: Final = frozenset(c for c, name in _FIELD_OF.items() if name not in _LISTS | {"labels"})


# Labels


def _labels(column: str, value: object) -> Mapping[str, object]:
    """The labels of a column of that name; what is no mapping is one label, as in any other column."""
    if value is None:
        return {}
    inner = _parsed(value)
    if not is_mapping(inner):
        return {column: value}
    if not all(isinstance(key, str) for key in inner):
        raise SampleError(f"{column!r} must be a mapping with text keys, got {shown(value)}")
    return inner


def _label(name: str, value: object, *, textual: bool) -> Label:
    value = _plain(value)
    value = _typed(value) if textual and isinstance(value, str) else _dated(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isinf(value):
        raise SampleError(f"label {name!r} must be a finite number, got {value}")
    if isinstance(value, float) or (isinstance(value, int) and abs(value) <= 2**53):
        return float(value)
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, default=_jsonable)
        except (TypeError, ValueError, RecursionError):
            raise SampleError(f"label {name!r} cannot be kept, got {shown(value)}") from None
    return _text(f"label {name!r}", value)


def _typed(text: str) -> Label:
    """A cell of a CSV file as the truth value or number that it spells, otherwise the text."""
    truth = {"true": True, "false": False}.get(text.strip().casefold())
    if truth is not None or not _NUMBER.fullmatch(text):
        return text if truth is None else truth
    number = float(text)
    # from 2**53 on a float no longer tells neighbouring whole numbers apart
    return text if abs(number) >= 2**53 else number


def _jsonable(value: object) -> object:
    """What JSON can write for numpy values and dates inside a label; `json.dumps` calls it."""
    if isinstance(value, np.generic | np.ndarray):
        return cast("object", value.tolist())
    plain = _dated(value)
    if plain is value:
        raise TypeError(type(value).__name__)
    return plain


def shown(value: object) -> str:
    """Type and value for a message, cut to a readable length."""
    if value is None:
        return "None"
    try:
        text = repr(value)
    except ValueError:  # whole numbers of more than 4300 digits have none
        text = "..."
    return f"{type(value).__name__} ({text if len(text) <= 60 else text[:57] + '...'})"
