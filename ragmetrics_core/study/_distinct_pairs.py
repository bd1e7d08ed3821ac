"""Correlations of resampled pairs from how often each distinct pair was drawn, without a sort."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["DistinctPairs"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class _Column(NamedTuple):
    """The distinct values of a column, ascending; each pair's place among them, the pairs by value."""

    values: Array
    of_pair: Indices
    order: Indices
    starts: Indices

    @classmethod
    def of(cls, values: Array, of_pair: Indices) -> "_Column":
        order = np.argsort(of_pair, kind="stable")
        starts = np.searchsorted(of_pair[order], np.arange(len(values)))
        return cls(values, of_pair, order, starts)

    def drawn(self, counts: Array) -> Array:
        """How often each value was drawn, where each pair was drawn as often as the counts say."""
        ordered = np.take(counts, self.order, axis=1)
        if len(self.starts) == len(self.order):
            return ordered
        return np.asarray(np.add.reduceat(ordered, self.starts, axis=1))


class DrawnPairs(NamedTuple):
    """Resamples of pairs, one in each line: how often each distinct pair is in it, and each value."""

    columns: tuple[_Column, _Column]
    counts: Array
    values: tuple[Array, Array]

    def spearman(self) -> Array:
        """Spearman's correlation in each resample; not a number where a column is constant in it."""
        # equal values share the mean of their ranks
        return self._correlated(*(drawn.cumsum(axis=1) - (drawn - 1) / 2 for drawn in self.values))

    def pearson(self) -> Array:
        """Pearson's correlation in each resample; not a number where a column is constant in it."""
        return self._correlated(*(column.values[None] for column in self.columns))

    def _correlated(self, *numbers: Array) -> Array:
        """Pearson's correlation of the numbers that stand for the values of the two columns."""
        n = self.counts.sum(axis=1, keepdims=True)
        product, scale = self.counts, np.ones(len(self.counts))
        for column, drawn, of_value in zip(self.columns, self.values, numbers, strict=True):
            from_mean = of_value - (drawn * of_value).sum(axis=1, keepdims=True) / n
            scale = scale * (drawn * from_mean**2).sum(axis=1)
            product = product * np.take(from_mean, column.of_pair, axis=1)
        scale = np.sqrt(scale)
        found: Array = np.full(len(self.counts), np.nan)
        np.divide(product.sum(axis=1), scale, out=found, where=scale > 1e-12)
        return found


class DistinctPairs:
    """The distinct pairs of two columns of numbers.

    Scores have few values, so a resample is told by how often each distinct pair is in it. The ranks of its
    values are sums of these counts: the pairs are put in order once, and not in each resample again.

    Args:
        x: one column, not empty.
        y: the other one, in the same order.
    """

    def __init__(self, x: Array, y: Array) -> None:
        x_values, x_places = np.unique(x, return_inverse=True)
        y_values, y_places = np.unique(y, return_inverse=True)
        distinct, self._places = np.unique(x_places * len(y_values) + y_places, return_inverse=True)
        self._size = len(distinct)
        self._columns = (
            _Column.of(x_values, distinct // len(y_values)),
            _Column.of(y_values, distinct % len(y_values)),
        )

    def drawn(self, resamples: Iterable[Indices]) -> DrawnPairs:
        """What resamples have drawn.

        Args:
            resamples: of each the places of its pairs in the columns.
        """
        return self._of([np.bincount(self._places[each], minlength=self._size) for each in resamples])

    def weighted(self, weights: Iterable[Indices]) -> DrawnPairs:
        """What resamples have drawn, of which each says how often every pair is in it."""
        return self._of([np.bincount(self._places, each, minlength=self._size) for each in weights])

    def _of(self, rows: Sequence[NDArray[Any]]) -> DrawnPairs:
        counts = np.array(rows, dtype=float)
        one, other = (column.drawn(counts) for column in self._columns)
        return DrawnPairs(self._columns, counts, (one, other))
