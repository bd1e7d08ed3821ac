"""A reply that stands in for a judge's: of the right type and of a usual length, with no content."""

import json
import types
from collections.abc import Sequence
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

__all__ = ["filled"]

_SENTENCE = "A sentence of about the length that a judge writes for one"
# How many entries a list has that does not follow from the question: about as many as answers have sentences.
_ENTRIES = 3


def filled(kind: type[BaseModel], numbers: Sequence[int]) -> str:
    """The JSON of such a type: a value of the right kind in each of its fields.

    A list of numbered entries has one for each number, any other list a few.
    """
    return json.dumps(_fields(kind, numbers, None))


def _fields(kind: type[BaseModel], numbers: Sequence[int], number: int | None) -> dict[str, Any]:
    return {
        name: number if name == "number" and number is not None else _value(field.annotation, numbers, name)
        for name, field in kind.model_fields.items()
    }


def _value(kind: Any, numbers: Sequence[int], name: str) -> Any:
    if get_origin(kind) in {tuple, list}:
        return _entries(get_args(kind)[0], numbers, name)
    if get_origin(kind) in {Union, types.UnionType}:
        return _value(get_args(kind)[0], numbers, name)
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _fields(kind, numbers, None)
    values: dict[Any, Any] = {bool: False, int: 1, float: 1.0}
    return values.get(kind, f"{_SENTENCE}, as its {name}.")


def _entries(kind: Any, numbers: Sequence[int], name: str) -> list[Any]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if "number" in kind.model_fields:
            return [_fields(kind, numbers, number) for number in numbers]
        return [_fields(kind, numbers, None) for _ in range(_ENTRIES)]
    # no two are the same: repeated ones would not count
    return [_numbered(_value(kind, numbers, name), place) for place in range(1, _ENTRIES + 1)]


def _numbered(value: Any, place: int) -> Any:
    return f"{value[:-1]} {place}." if isinstance(value, str) else value
