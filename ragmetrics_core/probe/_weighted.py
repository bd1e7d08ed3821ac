"""Figures on labelled items, as functions of how often each item counts; whole sources are drawn."""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study import Estimate, Figure, bootstrap, divided, drawn_units, wilson_interval

__all__ = ["area", "balanced_accuracy", "fitted_threshold", "halves", "rounded", "share", "stored"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


def rounded(estimate: Estimate) -> Estimate:
    """A figure as a card has it: with four digits."""
    return Estimate(*(None if end is None else round(end, 4) for end in estimate))


def stored(figure: Figure, sources: Sequence[str], *, less: Figure | None = None) -> Estimate:
    """A figure with its 95 % percentile interval over resamples of whole sources, with four digits.

    A figure of exactly 0 or 1 that varies in no resample has Wilson's interval, with the sources as trials.
    Below 10 sources of several items there is no interval. With `less` it is what the figure has more than
    that one on the same items: the paired difference.
    """
    if less is not None:
        return rounded(bootstrap(lambda w: figure(w) - less(w), sources, draws=drawn_units))
    estimate = bootstrap(figure, sources, draws=drawn_units)
    if estimate.value in (0.0, 1.0) and estimate.width == 0:
        count = len(set(sources))
        estimate = wilson_interval(round(estimate.value) * count, count)
    return rounded(estimate)


def area(values: Array, good: Flags) -> Figure:
    r"""The area under the ROC curve: the chance that a good item scores above a bad one, ties counting half.

    .. math:: A = \frac{\sum_{ij} w_i w_j ([x_i > y_j] + \tfrac12 [x_i = y_j])}{\sum_i w_i \sum_j w_j}

    over good items i and bad items j. Undefined when a side is empty.
    """
    order = np.argsort(values, kind="stable")
    ranked, is_good = values[order], good[order]
    _, starts = np.unique(ranked, return_index=True)

    def figure(weights: Array) -> Array:
        at_good, at_bad = (
            np.add.reduceat(weights[:, order] * side, starts, axis=1) for side in (is_good, ~is_good)
        )
        below = at_bad.cumsum(axis=1) - at_bad
        pairs = at_good.sum(axis=1) * at_bad.sum(axis=1)
        return divided((at_good * (below + at_bad / 2)).sum(axis=1), pairs)

    return figure


def balanced_accuracy(passed: Flags, good: Flags) -> Figure:
    """Mean of the share of good items that pass and of bad ones that do not; undefined without a side."""

    def figure(weights: Array) -> Array:
        right_good = divided(weights @ (passed & good), weights @ good)
        right_bad = divided(weights @ (~passed & ~good), weights @ ~good)
        return np.asarray((right_good + right_bad) / 2)

    return figure


def share(right: Array) -> Figure:
    """The mean of `right`; undefined without an item."""
    return lambda weights: divided(weights @ right, weights.sum(axis=1))


def halves(sources: Sequence[str]) -> Flags:
    """Whether each item is in the second half; halves share no source and are deterministic."""
    ordered = sorted(set(sources), key=lambda source: sha256(source.encode()).digest())
    second = set(ordered[::2])
    return np.array([source in second for source in sources], dtype=bool)


def fitted_threshold(values: Array, good: Flags) -> float | None:
    """The lowest passing score with the best balanced accuracy; the lowest of equal ones.

    It lies halfway between two scores. Undefined (None) if there are no good or no bad items.
    """
    if not good.any() or good.all():
        return None
    cuts, place = np.unique(values, return_inverse=True)
    at_good, at_bad = (np.bincount(place, weights=side, minlength=len(cuts)) for side in (good, ~good))
    passed = at_good[::-1].cumsum()[::-1] / at_good.sum()
    caught = (at_bad.cumsum() - at_bad) / at_bad.sum()
    best = int(np.argmax(passed + caught))
    return float(cuts[best] if best == 0 else (cuts[best] + cuts[best - 1]) / 2)
