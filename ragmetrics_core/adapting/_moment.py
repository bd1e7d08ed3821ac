"""Copies of the application's objects, so that later changes do not affect samples."""

from copy import copy
from dataclasses import is_dataclass
from types import NoneType
from typing import Any, TypeVar, cast

from pydantic import BaseModel

__all__ = ["as_now"]

T = TypeVar("T")

# How deep texts lie: a response holds nodes with scores, these hold nodes, these hold their text.
_DEEPEST = 6
# How many objects are copied; beyond that they are left as they are, so that a hook stays quick.
_MOST = 2000
_ATOMS = frozenset({str, int, float, bool, NoneType})


def as_now(value: T) -> T:
    """The value with its texts fixed: lists, mappings, documents and messages are copied, texts are shared.

    An application may change its documents or messages as soon as a hook has returned. Built-in lists, tuples
    and dicts, pydantic models and dataclasses are copied, down to the depth at which frameworks keep texts.
    Other objects (a stream, a client, a lock) are not copied. Nothing is serialized; takes microseconds per
    document and never raises.
    """
    return cast(T, _Copies().of(value, _DEEPEST))


class _Copies:
    """Make and count the copies; cyclic objects end at the maximum depth."""

    def __init__(self) -> None:
        self._count = 0

    def of(self, value: Any, depth: int) -> Any:
        kind = cast(Any, type(value))
        if not depth or self._count >= _MOST:
            return value
        try:
            return self._copied(value, kind, depth - 1)
        except Exception:  # the boundary to the host's objects: what cannot be copied stays the host's own
            return value

    def _copied(self, value: Any, kind: type[object], depth: int) -> Any:
        if kind in _ATOMS:
            return value
        self._count += 1
        if kind is list:
            return [self.of(each, depth) for each in tuple(value)]
        if kind is dict:
            return {key: self.of(each, depth) for key, each in tuple(value.items())}
        if kind is tuple:
            return tuple([self.of(each, depth) for each in value])
        if isinstance(value, BaseModel) or (is_dataclass(value) and hasattr(value, "__dict__")):
            made: Any = copy(value)
            for name, each in tuple(made.__dict__.items()):
                made.__dict__[name] = self.of(each, depth)
            return made
        return value
