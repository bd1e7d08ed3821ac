"""Correlations of two columns of numbers: Pearson, Spearman and Kendall, with bootstrap intervals."""

from collections.abc import Callable, Sequence
from math import atanh, isfinite, tanh
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._distributions import normal_quantile, tau_b
from ragmetrics_core.study._estimates import (
    FEWEST_CLUSTERS,
    Clusters,
    Estimate,
    are_singletons,
    are_too_few,
    clusters_of,
)
from ragmetrics_core.study._resampling import (
    RESAMPLES,
    Figure,
    Resampling,
    cluster_worth,
    divided,
    drawn_units,
    percentile_interval,
    resampled,
)
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "Correlation",
    "compare_correlations",
    "correlate",
    "kendall",
    "kendall_figure",
    "kendall_interval",
    "pearson_figure",
    "pooled_correlation",
    "pooled_correlations",
    "spearman_figure",
]

# Kendall's interval keeps square matrices of signs; above so many distinct pairs it is taken from a formula.
_MOST_SIGNS = 1500

Array = NDArray[np.float64]


class Correlation(NamedTuple):
    """Correlation of two columns.

    Attributes:
        spearman, kendall, pearson: the coefficients with their intervals; None if a column is constant or
            there are fewer than three pairs.
        n: number of pairs.
        note: why there is no coefficient, or no interval.
    """

    spearman: Estimate
    kendall: Estimate
    pearson: Estimate
    n: int
    note: str = ""


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
    **how: Unpack[Resampling],
) -> Correlation:
    """All three coefficients of two columns with percentile intervals over resampled pairs.

    Args:
        x: one column.
        y: the other one, in the same order.
        clusters: each pair's cluster; whole clusters are drawn, and below 10 of them there is no interval.
        level: confidence.
        how: `count` and `seed` of the resamples; see `Resampling`.
    """
    one, other = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    n, none = len(one), Estimate(None)
    if n < 3:
        return Correlation(none, none, none, n, number_of(n, "pair is", "pairs are") + " too few")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        which = "both columns are" if np.ptp(one) == np.ptp(other) == 0 else "a column is"
        return Correlation(none, none, none, n, f"{which} constant")
    clusters = clusters_of(n, clusters)
    size, note = len(set(clusters)), ""
    by_pairs = kendall_interval(one, other, clusters, level=level, **how)
    if size < FEWEST_CLUSTERS:
        note = f"{size} {'pairs' if are_singletons(clusters) else 'clusters'} are too few for an interval"
    elif abs(by_pairs.value or 0.0) > 1 - 1e-12:
        note = "both have one order: resamples give no interval"

    figures = spearman_figure(one, other), pearson_figure(one, other)

    def figure(weights: Array) -> Array:
        return np.column_stack([of_pairs(weights) for of_pairs in figures])

    (values,) = figure(np.ones((1, n))).tolist()
    if note or not all(map(isfinite, values)):
        by_rank, by_number = (Estimate(value if isfinite(value) else None) for value in values)
        return Correlation(by_rank, Estimate(by_pairs.value), by_number, n, note)
    drawn, worth = resampled(figure, clusters, **how), cluster_worth(clusters)
    by_rank, by_number = (
        percentile_interval(value, column, n=worth, level=level)
        for value, column in zip(values, drawn.T, strict=True)
    )
    return Correlation(by_rank, by_pairs, by_number, n)


def kendall(x: ArrayLike, y: ArrayLike) -> float | None:
    r"""Kendall's :math:`\tau_b`, which corrects for equal values.

    Undefined (`None`) for fewer than two pairs or a constant column.

    >>> round(kendall([1, 2, 3, 4], [1, 3, 2, 4]), 12)
    0.666666666667
    """
    one, other = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return tau_b(one, other)


def kendall_interval(
    x: Array, y: Array, clusters: Clusters, *, level: float = 0.95, **how: Unpack[Resampling]
) -> Estimate:
    """Kendall's correlation with its percentile interval, or for very many pairs one by formula.

    The formula ignores clusters, so there is no interval for very many pairs in clusters of several samples.
    """
    value, n = kendall(x, y), len(x)
    distinct = len(np.unique(np.column_stack([x, y]), axis=0)) if n else 0
    if value is None or are_too_few(clusters) or (distinct > _MOST_SIGNS and not are_singletons(clusters)):
        return Estimate(value)
    if distinct > _MOST_SIGNS:
        # Fieller, Hartley, Pearson (1957): the variance of atanh(tau) is about 0.437 / (n - 4)
        half = normal_quantile(0.5 + level / 2) * (0.437 / (n - 4)) ** 0.5
        middle = atanh(min(max(value, -1 + 1e-12), 1 - 1e-12))
        return Estimate(value, tanh(middle - half), tanh(middle + half))
    drawn = resampled(kendall_figure(x, y), clusters, draws=drawn_units, width=3 * distinct, **how)
    return percentile_interval(value, drawn, n=cluster_worth(clusters), level=level)


def pearson_figure(x: ArrayLike, y: ArrayLike) -> Figure:
    """Pearson's correlation of resampled pairs; not a number where a column is constant in a resample."""
    return _on_distinct(lambda one, other: lambda weights: _correlated(weights, one, other), x, y)


def spearman_figure(x: ArrayLike, y: ArrayLike) -> Figure:
    """Spearman's correlation of resampled pairs: Pearson's of the ranks in each resample."""

    def figure(one: Array, other: Array) -> Figure:
        ranks = _ranks(one), _ranks(other)
        return lambda weights: _correlated(weights, *(rank(weights) for rank in ranks))

    return _on_distinct(figure, x, y)


def kendall_figure(x: ArrayLike, y: ArrayLike) -> Figure:
    r"""Kendall's :math:`\tau_b` of resampled pairs.

    A resample that draws pair i w_i times has w' S w concordant pairs less discordant ones, for the matrix S
    of their signs.
    """

    def figure(one: Array, other: Array) -> Figure:
        up, across = (np.sign(each[:, None] - each[None]) for each in (one, other))

        def pairs(weights: Array, signs: Array) -> Array:
            return np.asarray(((weights @ signs) * weights).sum(axis=1))

        return lambda weights: divided(
            pairs(weights, up * across), np.sqrt(pairs(weights, np.abs(up)) * pairs(weights, np.abs(across)))
        )

    return _on_distinct(figure, x, y)


def _on_distinct(figure: Callable[[Array, Array], Figure], x: ArrayLike, y: ArrayLike) -> Figure:
    """The figure of two columns, from counts of distinct pairs, because scores have few values."""
    pairs, places = np.unique(np.column_stack([x, y]).astype(float), axis=0, return_inverse=True)
    of_distinct, places = figure(*pairs.T), places.ravel()

    def of_pairs(weights: Array) -> Array:
        rows = [np.bincount(places, weights=row, minlength=len(pairs)) for row in weights]
        return of_distinct(np.array(rows, dtype=float))

    return of_pairs


def _correlated(weights: Array, x: Array, y: Array) -> Array:
    total = weights.sum(axis=1, keepdims=True)
    x, y = (each - (weights * each).sum(axis=1, keepdims=True) / total for each in (x, y))
    scale = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    return divided((weights * x * y).sum(axis=1), np.where(scale > 1e-12, scale, 0.0))


def _ranks(values: Array) -> Figure:
    """The rank of each weighted pair; equal values share their mean rank."""
    cuts, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(cuts)))

    def ranks(weights: Array) -> Array:
        at = np.add.reduceat(weights[:, order], starts, axis=1)
        return np.asarray((at.cumsum(axis=1) - (at - 1) / 2)[:, place])

    return ranks


def compare_correlations(
    one: ArrayLike,
    other: ArrayLike,
    people: ArrayLike,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
    **how: Unpack[Resampling],
) -> Estimate:
    """Difference of two metrics' Spearman correlations with people, on the same samples.

    The interval comes from a paired bootstrap: samples, or whole clusters, are drawn with all three numbers.
    Undefined (None) if a column is constant.
    """
    x, y, z = (np.asarray(each, dtype=float) for each in (one, other, people))
    pooled = pooled_correlations([([x, y], z)], [clusters_of(len(z), clusters)], level=level, **how)
    return pooled([1.0, -1.0])


def pooled_correlation(
    sets: Sequence[tuple[ArrayLike, ArrayLike]], *, level: float = 0.95, **how: Unpack[Resampling]
) -> Estimate:
    """Spearman's correlation within sets, averaged with their sizes as weights.

    Samples are drawn within sets. Pooling the numbers themselves would take differences between sets for
    agreement. Sets without a correlation do not count; undefined (None) when none has one.
    """
    if not sets:
        return Estimate(None)
    known = [([np.asarray(x, dtype=float)], np.asarray(y, dtype=float)) for x, y in sets]
    own = [range(len(people)) for _, people in known]
    return pooled_correlations(known, own, level=level, **how)([1.0])


def pooled_correlations(
    sets: Sequence[tuple[Sequence[Array], Array]],
    clusters: Sequence[Clusters],
    *,
    level: float = 0.95,
    **how: Unpack[Resampling],
) -> Callable[[ArrayLike], Estimate]:
    """Correlate each of several columns with people, within sets, over the same resamples.

    No interval (None) where a set has fewer than 10 samples, or clusters of them.

    Args:
        sets: the columns and what people say.
        clusters: of each set.
        level: confidence.
        how: `count` and `seed` of the resamples.

    Returns:
        From the weights of the columns to the weighted sum of their correlations: 1 and -1 is a difference.
    """
    figures = [[spearman_figure(column, people) for column in columns] for columns, people in sets]
    sizes = [len(people) for _, people in sets]

    def of_set(place: int) -> Figure:
        return lambda weights: np.column_stack([figure(weights) for figure in figures[place]])

    places = range(len(sets))
    (values,) = _averaged([of_set(place)(np.ones((1, sizes[place]))) for place in places], sizes)
    drawn = np.full((1, len(values)), np.nan)
    if min(len(set(each)) for each in clusters) >= FEWEST_CLUSTERS:
        seed, count = how.get("seed", 0), how.get("count", RESAMPLES)
        tables = [resampled(of_set(at), clusters[at], count=count, seed=seed + at) for at in places]
        drawn = _averaged(tables, sizes)
    worth = sum(cluster_worth(each) for each in clusters)

    def summed(weights: ArrayLike) -> Estimate:
        at = np.flatnonzero(weights)
        counted = np.asarray(weights, dtype=float)[at]
        value = float(values[at] @ counted)
        if not np.isfinite(value):
            return Estimate(None)
        return percentile_interval(value, drawn[:, at] @ counted, n=worth, level=level)

    return summed


def _averaged(tables: Sequence[Array], sizes: Sequence[int]) -> Array:
    """The tables' mean, weighted by size; what has no number in one does not count there."""
    stacked = np.array(tables)
    counted = np.isfinite(stacked) * np.array(sizes)[:, None, None]
    return divided((np.nan_to_num(stacked) * counted).sum(axis=0), counted.sum(axis=0))
