"""Shared steps of text overlap metrics: the references of a sample, and the best of several values."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from ragmetrics_core.samples import Asked, Worded

__all__ = ["Best", "best_of", "references_of"]

T = TypeVar("T")


class Best(NamedTuple):
    """The highest value, and the index of its reference, from 0."""

    value: float
    number: int


def references_of(sample: Worded | Asked) -> tuple[str, ...]:
    """Distinct acceptable answers; `reference` comes first."""
    return tuple(dict.fromkeys((sample.reference, *sample.references)))


def best_of(values: Sequence[float | None]) -> Best | None:
    """The highest defined value, the first of equal ones; None if all are undefined."""
    known = [(value, -number) for number, value in enumerate(values) if value is not None]
    if not known:
        return None
    value, place = max(known)
    return Best(value, -place)
