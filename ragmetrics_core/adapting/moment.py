"""The application's objects as they are now: what it changes afterwards changes no sample."""

from copy import copy
from dataclasses import is_dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel

__all__ = ["as_now"]

T = TypeVar("T")

# How deep texts lie: a response holds nodes with scores, these hold nodes, these hold their text.
_DEEPEST = 6
# How many objects are copied; beyond that they are left as they are, so that a hook stays quick.
_MOST = 2000


def as_now(value: T) -> T:
    """The value with its texts held: lists, mappings, documents and messages are copied, texts are shared.

    An application may shorten its documents for display, or append to its messages, as soon as a hook has
    returned. Copied are built-in lists, tuples and dicts, pydantic models and dataclasses, down to the
    depth at which frameworks keep texts; whatever else there is (a stream, a client, a lock) stays the host's
    own. It serialises nothing, takes some microseconds for each document, and never raises.
    """
    return cast(T, _Copies().of(value, _DEEPEST))


class _Copies:
    """Copies each object once, so that what is shared stays shared and what holds itself ends."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}

    def of(self, value: Any, depth: int) -> Any:
        kind: type[object] = type(value)
        if kind is str or value is None or kind is int or kind is float or kind is bool:
            return value
        if id(value) in self._made:
            return self._made[id(value)]
        if not depth or len(self._made) >= _MOST:
            return value
        try:
            return self._copied(value, kind, depth - 1)
        except Exception:  # the boundary to the host's objects: what cannot be copied stays the host's own
            return value

    def _copied(self, value: Any, kind: type[object], depth: int) -> Any:
        made: Any
        if kind is list:
            made = self._made[id(value)] = list[Any]()
            made.extend([self.of(each, depth) for each in tuple(value)])
        elif kind is dict:
            made = self._made[id(value)] = dict[Any, Any]()
            made.update([(key, self.of(each, depth)) for key, each in tuple(value.items())])
        elif kind is tuple:
            made = self._made[id(value)] = tuple([self.of(each, depth) for each in value])
        elif isinstance(value, BaseModel) or (is_dataclass(value) and hasattr(value, "__dict__")):
            made = self._made[id(value)] = copy(cast("Any", value))
            for name, each in tuple(made.__dict__.items()):
                made.__dict__[name] = self.of(each, depth)
        else:
            return value
        return made
