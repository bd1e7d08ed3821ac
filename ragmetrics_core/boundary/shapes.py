"""Type checks of external values: parsed JSON, columns of data, objects of other libraries.

After `isinstance(value, dict)` a type checker treats keys and values as `Any`. The functions here make the
same check and give them the type `object`, which must be checked before use. Values known to be JSON are
declared as `Json`; for these `isinstance` is enough.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from typing_extensions import TypeIs

__all__ = [
    "Json",
    "are_dicts",
    "field_of",
    "is_dict",
    "is_iterable",
    "is_list",
    "is_mapping",
    "is_sequence",
    "is_series",
    "is_tuple",
]

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


def are_dicts(items: list[Json]) -> TypeGuard[list[dict[str, Json]]]:
    """Whether every item is a `dict`; True for no items."""
    return all(isinstance(item, dict) for item in items)


def field_of(source: object, name: str) -> Any:
    """The entry of a mapping, or the attribute of an object; None if it is missing."""
    return source.get(name) if is_mapping(source) else getattr(source, name, None)


def is_dict(value: object) -> TypeIs[dict[str, object]]:
    """Whether it is a `dict`; its keys are assumed to be texts, as in JSON."""
    return isinstance(value, dict)


def is_iterable(value: object) -> TypeIs[Iterable[object]]:
    """Whether it can be iterated over."""
    return isinstance(value, Iterable)


def is_list(value: object) -> TypeIs[list[object]]:
    """Whether it is a `list`."""
    return isinstance(value, list)


def is_mapping(value: object) -> TypeIs[Mapping[Any, object]]:
    """Whether it is a mapping of any kind, with keys of any kind."""
    return isinstance(value, Mapping)


def is_sequence(value: object) -> TypeIs[Sequence[object]]:
    """Whether it is a sequence of any kind, including a text."""
    return isinstance(value, Sequence)


def is_series(value: object) -> TypeIs[list[object] | tuple[object, ...]]:
    """Whether it is a `list` or a `tuple`."""
    return isinstance(value, list | tuple)


def is_tuple(value: object) -> TypeIs[tuple[object, ...]]:
    """Whether it is a `tuple`."""
    return isinstance(value, tuple)
