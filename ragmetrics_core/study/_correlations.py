"""Correlations of two columns of numbers: Pearson, Spearman and Kendall, with bootstrap intervals."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._bootstrap import RESAMPLES, percentile_interval, resampled_counts, resamples
from ragmetrics_core.study._clusters import (
    FEWEST_CLUSTERS,
    cluster_counts,
    cluster_weights,
    cluster_worth,
    in_batches,
)
from ragmetrics_core.study._distinct_pairs import DistinctPairs
from ragmetrics_core.study._distributions import average_ranks, normal_quantile, tau_b
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.wording import number_of

__all__ = [
    "Correlation",
    "Resampling",
    "correlate",
    "kendall",
    "kendall_interval",
    "pearson",
    "pearson_interval",
    "spearman",
    "spearman_interval",
]

# Kendall's interval keeps three square matrices of signs; above this many pairs it is taken from a formula.
_MOST_SIGNS = 1500

# With fewer pairs, or clusters of them, there are too few different resamples for quantiles to mean anything.
FEWEST_PAIRS = FEWEST_CLUSTERS

Array = NDArray[np.float64]
Clusters = Sequence[Hashable] | None


class Correlation(NamedTuple):
    """How two columns go together.

    Attributes:
        spearman, kendall, pearson: the coefficients with their intervals; None where a column is constant or
            there are fewer than three pairs.
        n: how many pairs there are.
        note: why there is no coefficient.
    """

    spearman: Estimate
    kendall: Estimate
    pearson: Estimate
    n: int
    note: str = ""


class Resampling(TypedDict, total=False):
    """How an interval is drawn.

    Attributes:
        clusters: each pair's cluster; whole clusters are drawn, and below 10 of them there is no interval.
        level: confidence, 0.95 without it.
        count: how many resamples, 2000 without it.
        seed: of the random draws, 0 without it.
    """

    clusters: Clusters
    level: float
    count: int
    seed: int


def correlate(x: ArrayLike, y: ArrayLike, **how: Unpack[Resampling]) -> Correlation:
    """All three coefficients of two columns with percentile intervals over resampled pairs.

    Args:
        x: one column.
        y: the other one, in the same order.
        how: `clusters`, `level`, `count` and `seed` of the resamples; see `Resampling`.
    """
    one, other = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    n, none = len(one), Estimate(None)
    if n < 3:
        return Correlation(none, none, none, n, number_of(n, "pair is", "pairs are") + " too few")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        which = "both columns are" if np.ptp(one) == np.ptp(other) == 0 else "a column is"
        return Correlation(none, none, none, n, f"{which} constant")
    by_rank, by_number = _resampled(one, other, how)
    by_pairs = kendall_interval(one, other, **how)
    clusters = how.get("clusters")
    size = n if clusters is None else len(set(clusters))
    note = ""
    if size < FEWEST_PAIRS:
        note = f"{size} {'pairs' if clusters is None else 'clusters'} are too few for an interval"
    elif abs(by_pairs.value or 0.0) > 1 - 1e-12:
        note = "both have one order: resamples give no interval"
    if note:
        by_rank, by_pairs, by_number = (Estimate(each.value) for each in (by_rank, by_pairs, by_number))
    return Correlation(by_rank, by_pairs, by_number, n, note)


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Pearson's correlation; undefined (`None`) for fewer than two pairs or a constant column.

    >>> pearson([1, 2, 3], [2, 4, 6])
    1.0
    """
    one, other = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    one, other = one - one.mean(), other - other.mean()
    scale = sqrt(float((one * one).sum()) * float((other * other).sum()))
    return float(np.clip((one * other).sum() / scale, -1.0, 1.0)) if scale > 1e-12 else None


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, where equal values share theirs.

    Undefined (`None`) as `pearson` is.
    """
    return pearson(average_ranks(x), average_ranks(y))


def kendall(x: ArrayLike, y: ArrayLike) -> float | None:
    r"""Kendall's :math:`\tau_b`, which corrects for equal values; undefined (`None`) as `pearson` is.

    >>> round(kendall([1, 2, 3, 4], [1, 3, 2, 4]), 12)
    0.666666666667
    """
    one, other = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return tau_b(one, other)


def spearman_interval(x: Array, y: Array, **how: Unpack[Resampling]) -> Estimate:
    """Spearman's correlation with its percentile interval; the ranks are those of each resample."""
    return _resampled(x, y, how)[0]


def pearson_interval(x: Array, y: Array, **how: Unpack[Resampling]) -> Estimate:
    """Pearson's correlation with its percentile interval."""
    return _resampled(x, y, how)[1]


def kendall_interval(x: Array, y: Array, **how: Unpack[Resampling]) -> Estimate:
    """Kendall's correlation with its percentile interval, or for many pairs one by formula.

    A resample that draws pair i w_i times has w' S w concordant pairs less discordant ones, for the matrix S
    of their signs. The formula knows no clusters: with them there is no interval for many pairs.
    """
    value, n = kendall(x, y), len(x)
    clusters, level = how.get("clusters"), how.get("level", 0.95)
    count, seed = how.get("count", RESAMPLES), how.get("seed", 0)
    size = n if clusters is None else len(set(clusters))
    if value is None or (clusters is not None and (size < FEWEST_CLUSTERS or n > _MOST_SIGNS)):
        return Estimate(value)
    if n > _MOST_SIGNS:
        # Fieller, Hartley, Pearson (1957): the variance of atanh(tau) is about 0.437 / (n - 4)
        half = normal_quantile(0.5 + level / 2) * np.sqrt(0.437 / (n - 4))
        middle = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
        return Estimate(value, float(np.tanh(middle - half)), float(np.tanh(middle + half)))
    up, across = np.sign(x[:, None] - x[None]), np.sign(y[:, None] - y[None])
    weights = (
        resampled_counts(n, count=count, seed=seed)
        if clusters is None
        else cluster_counts(clusters, count=count, seed=seed)
    )

    def pairs(signs: Array) -> Array:
        return np.asarray(((weights @ signs) * weights).sum(axis=1))

    together, scale = pairs(up * across), np.sqrt(pairs(np.abs(up)) * pairs(np.abs(across)))
    drawn = np.divide(together, scale, out=np.full(count, np.nan), where=scale > 0)
    worth = n if clusters is None else cluster_worth(clusters)
    return percentile_interval(value, drawn, n=worth, level=level)


def _resampled(x: Array, y: Array, how: Resampling) -> tuple[Estimate, Estimate]:
    """Spearman's and Pearson's correlation with their percentile intervals, of the same resamples."""
    clusters, level = how.get("clusters"), how.get("level", 0.95)
    count, seed = how.get("count", RESAMPLES), how.get("seed", 0)
    by_rank, by_number = spearman(x, y), pearson(x, y)
    n = len(x) if clusters is None else len(set(clusters))
    if by_rank is None or by_number is None or n < (2 if clusters is None else FEWEST_CLUSTERS):
        return Estimate(by_rank), Estimate(by_number)
    pairs = DistinctPairs(x, y)
    batches = (
        map(pairs.drawn, resamples(n, count=count, seed=seed))
        if clusters is None
        else map(pairs.weighted, in_batches(cluster_weights(clusters, count=count, seed=seed), len(x)))
    )
    drawn = [(each.spearman(), each.pearson()) for each in batches]
    ranks, numbers = (np.concatenate(each) for each in zip(*drawn, strict=True))
    worth = n if clusters is None else cluster_worth(clusters)
    return (
        percentile_interval(by_rank, ranks, n=worth, level=level),
        percentile_interval(by_number, numbers, n=worth, level=level),
    )
