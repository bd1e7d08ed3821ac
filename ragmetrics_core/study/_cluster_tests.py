"""Tests of two groups whose samples are clustered: of means, of ranks, and the effect size."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._bootstrap import percentile_interval
from ragmetrics_core.study._clusters import (
    FEWEST_CLUSTERS,
    cluster_counts,
    cluster_difference,
    cluster_worth,
)
from ragmetrics_core.study._distributions import Alternative, average_ranks
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._significance import t_test

__all__ = ["cluster_effect", "cluster_rank", "cluster_welch"]

Array = NDArray[np.float64]


def cluster_welch(
    one: Sequence[float],
    other: Sequence[float],
    of_one: Sequence[Hashable],
    of_other: Sequence[Hashable],
    *,
    alternative: Alternative = "two-sided",
) -> float | None:
    """P that the mean of one group is not above the other's, or that they are equal.

    The error is that of `cluster_difference`. Undefined (`None`) below 10 clusters in a group, and
    without spread.
    """
    found = cluster_difference(one, other, of_one, of_other)
    if found is None or not found.error:
        return None
    return t_test(found.value / found.error, found.df, alternative)


def cluster_rank(
    one: Sequence[float],
    other: Sequence[float],
    of_one: Sequence[Hashable],
    of_other: Sequence[Hashable],
    *,
    alternative: Alternative = "two-sided",
) -> float | None:
    """P that a value of one group is as likely below one of the other as above it.

    It is the test of Mann and Whitney's area with the error of whole clusters (Obuchowski 1997), as
    `cluster_difference` takes it: the area is the mean of the shares that each value wins. Undefined (`None`)
    below 10 clusters in a group, and without spread.
    """
    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    together = average_ranks(np.concatenate([x, y]))
    # of each value the share of the other group that it is above, where equal ones count half
    wins = (together[: len(x)] - average_ranks(x)) / len(y)
    losses = (together[len(x) :] - average_ranks(y)) / len(x)
    found = cluster_difference(wins, losses, of_one, of_other)
    if found is None or not found.error:
        return None
    # the difference is A - (1 - A), twice what the area is from 1/2; its error is that of A
    return t_test(found.value / 2 / found.error, found.df, alternative)


def cluster_effect(
    one: Sequence[float],
    other: Sequence[float],
    of_one: Sequence[Hashable],
    of_other: Sequence[Hashable],
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The standardised difference of `effect_size` with an interval over resamples of whole clusters."""
    values, clusters = np.asarray([*one, *other], dtype=float), [*of_one, *of_other]
    is_one = np.arange(len(values)) < len(one)
    (d,) = _effects(values, np.ones((1, len(values))), is_one)
    if not np.isfinite(d):
        return Estimate(None)
    if min(len(set(of_one)), len(set(of_other))) < FEWEST_CLUSTERS:
        return Estimate(float(d))
    drawn = _effects(values, cluster_counts(clusters, seed=seed), is_one)
    return percentile_interval(float(d), drawn, n=cluster_worth(clusters), level=level)


def _effects(values: Array, weights: Array, is_one: NDArray[np.bool_]) -> Array:
    means: list[Array] = []
    variances: list[Array] = []
    for side in (is_one, ~is_one):
        of, x = weights[:, side], values[side]
        n = of.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = of @ x / n
            means.append(mean)
            variances.append((of @ (x * x) - n * mean**2) / (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((means[0] - means[1]) / np.sqrt((variances[0] + variances[1]) / 2))
