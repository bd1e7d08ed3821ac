"""Figures on labelled items, with intervals that know that items share a source.

A figure is a function of weights: how often each item counts, a row for each resample. For the interval whole
sources are drawn, and all items of a source come with it.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._resampling import drawn_tables, percentile_interval
from ragmetrics_core.study._correlations import kendall
from ragmetrics_core.study._intervals import Estimate, wilson_interval

__all__ = [
    "Figure",
    "Resampled",
    "area",
    "balanced_accuracy",
    "clustered",
    "drawn",
    "fitted_threshold",
    "halves",
    "kendall_with",
    "share",
    "spearman_with",
]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Figure: TypeAlias = Callable[[Array], Array]
"""From rows of weights to one number a row; not a number where a row has none."""

RESAMPLES = 1000
# Kendall's matrix of signs is square in the items.
_MOST_SIGNS = 1500


class Resampled(NamedTuple):
    """A figure, and what it is in each resample; of one set of items all figures have the same resamples.

    Attributes:
        value: the figure; not a number where it is undefined.
        draws: of each resample.
        sources: how many sources there are.
    """

    value: float
    draws: Array
    sources: int

    @property
    def estimate(self) -> Estimate:
        """The figure with its 95 % percentile interval.

        Undefined (None) where the figure is; no interval with fewer than two sources. A figure of exactly 0
        or 1 varies in no resample: its interval is Wilson's, with the sources as trials.
        """
        if not np.isfinite(self.value):
            return Estimate(None)
        if self.sources < 2:
            return Estimate(self.value)
        known = self.draws[np.isfinite(self.draws)]
        if self.value in (0.0, 1.0) and np.ptp(np.append(known, self.value)) == 0:
            return wilson_interval(round(self.value) * self.sources, self.sources)
        return percentile_interval(self.value, self.draws, n=self.sources)

    def less(self, other: "Resampled") -> Estimate:
        """The difference of two figures on the same items and resamples: the paired difference."""
        value = self.value - other.value
        if not np.isfinite(value):
            return Estimate(None)
        if self.sources < 2:
            return Estimate(value)
        return percentile_interval(value, self.draws - other.draws, n=self.sources)


def drawn(figure: Figure, sources: Sequence[str], *, count: int = RESAMPLES, seed: int = 0) -> Resampled:
    """A figure for the items as they are, and for resamples of whole sources."""
    names, codes = np.unique(np.asarray(sources, dtype=str), return_inverse=True)
    n = len(names)
    if not n:
        return Resampled(np.nan, np.array([]), 0)
    (value,) = figure(np.ones((1, len(codes))))
    batches = drawn_tables(np.full(n, 1 / n), n, width=len(codes), count=count, seed=seed)
    return Resampled(float(value), np.concatenate([figure(each[:, codes]) for each in batches]), n)


def clustered(figure: Figure, sources: Sequence[str], *, count: int = RESAMPLES, seed: int = 0) -> Estimate:
    """A figure with its 95 % percentile interval over resamples of whole sources; see `Resampled`."""
    return drawn(figure, sources, count=count, seed=seed).estimate


def area(values: Array, good: Flags) -> Figure:
    r"""The area under the ROC curve: the chance that a good item scores above a bad one, ties counting half.

    .. math:: A = \frac{\sum_{ij} w_i w_j ([x_i > y_j] + \tfrac12 [x_i = y_j])}{\sum_i w_i \sum_j w_j}

    over good items i and bad items j. Undefined when a side is empty.
    """
    order = np.argsort(values, kind="stable")
    ranked, is_good = values[order], good[order]
    _, starts = np.unique(ranked, return_index=True)

    def figure(weights: Array) -> Array:
        inside = weights[:, order]
        at_good = np.add.reduceat(inside * is_good, starts, axis=1)
        at_bad = np.add.reduceat(inside * ~is_good, starts, axis=1)
        below = at_bad.cumsum(axis=1) - at_bad
        pairs = at_good.sum(axis=1) * at_bad.sum(axis=1)
        return _divided((at_good * (below + at_bad / 2)).sum(axis=1), pairs)

    return figure


def balanced_accuracy(passed: Flags, good: Flags) -> Figure:
    """Mean of the share of good items that pass and of bad ones that do not; undefined without a side."""

    def figure(weights: Array) -> Array:
        right_good = _divided(weights @ (passed & good).astype(float), weights @ good.astype(float))
        right_bad = _divided(weights @ (~passed & ~good).astype(float), weights @ (~good).astype(float))
        return np.asarray((right_good + right_bad) / 2)

    return figure


def share(right: Array) -> Figure:
    """The mean of `right`; undefined without an item."""
    return lambda weights: _divided(weights @ right, weights.sum(axis=1))


def spearman_with(values: Array, ratings: Array) -> Figure:
    """Spearman's rank correlation with ratings; the ranks are those of each resample."""
    ranked, other = _ranks(values), _ranks(ratings)

    def figure(weights: Array) -> Array:
        total = weights.sum(axis=1, keepdims=True)
        x, y = ranked(weights), other(weights)
        x = x - (weights * x).sum(axis=1, keepdims=True) / total
        y = y - (weights * y).sum(axis=1, keepdims=True) / total
        scale = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
        return _divided((weights * x * y).sum(axis=1), np.where(scale > 1e-9, scale, 0.0))

    return figure


def kendall_with(values: Array, ratings: Array) -> Figure:
    r"""Kendall's :math:`\tau_b` with ratings; of very many items without resamples, which are undefined."""
    if len(values) > _MOST_SIGNS:
        plain = kendall(values, ratings)
        whole = np.nan if plain is None else plain
        return lambda weights: np.array([whole if (each == 1).all() else np.nan for each in weights])
    up, across = np.sign(values[:, None] - values[None]), np.sign(ratings[:, None] - ratings[None])

    def pairs(weights: Array, signs: Array) -> Array:
        return np.asarray(((weights @ signs) * weights).sum(axis=1))

    def figure(weights: Array) -> Array:
        scale = np.sqrt(pairs(weights, np.abs(up)) * pairs(weights, np.abs(across)))
        return _divided(pairs(weights, up * across), scale)

    return figure


def halves(sources: Sequence[str]) -> Flags:
    """Which items are in the second half; halves share no source and are the same each time."""
    ordered = sorted(set(sources), key=lambda each: sha256(each.encode()).digest())
    second = set(ordered[::2])
    return np.array([each in second for each in sources], dtype=bool)


def fitted_threshold(values: Array, good: Flags) -> float | None:
    """The score from which on an item passes, with the best balanced accuracy; of equal ones the lowest.

    It stands halfway between two scores. Undefined (None) when a side is empty.
    """
    if not good.any() or good.all():
        return None
    cuts, place = np.unique(values, return_inverse=True)
    at_good = np.bincount(place, weights=good, minlength=len(cuts))
    at_bad = np.bincount(place, weights=~good, minlength=len(cuts))
    passed = at_good[::-1].cumsum()[::-1] / at_good.sum()
    caught = (at_bad.cumsum() - at_bad) / at_bad.sum()
    best = int(np.argmax(passed + caught))
    return float(cuts[best] if best == 0 else (cuts[best] + cuts[best - 1]) / 2)


def _ranks(values: Array) -> Figure:
    """The rank of each item where items count several times; equal values share the mean of theirs."""
    cuts, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(cuts)))

    def figure(weights: Array) -> Array:
        at = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = at.cumsum(axis=1) - (at - 1) / 2
        return np.asarray(middle[:, place])

    return figure


def _divided(above: Array, below: Array) -> Array:
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found
