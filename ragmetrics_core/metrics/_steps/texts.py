"""What metrics of text overlap share: the references of a sample, and the best of several values."""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from ragmetrics_core.samples import Asked, Worded

__all__ = ["Best", "best_of", "references_of"]

T = TypeVar("T")


class Best(NamedTuple):
    """The highest value, and which of the references gave it, from 0."""

    value: float
    number: int


def references_of(sample: Worded | Asked) -> tuple[str, ...]:
    """The acceptable answers, each once; `reference` comes first."""
    return tuple(dict.fromkeys((sample.reference, *sample.references)))


def best_of(values: Sequence[float | None]) -> Best | None:
    """The highest of the values that are defined, the first of equal ones; None where none is."""
    known = [(value, -number) for number, value in enumerate(values) if value is not None]
    if not known:
        return None
    value, place = max(known)
    return Best(value, -place)
