"""Tests of two groups whose samples are clustered: of means, of ranks, and the effect size."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._bootstrap import drawn_units, percentile_interval
from ragmetrics_core.study._cluster_errors import cluster_codes
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_difference, cluster_worth
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
    codes, size = cluster_codes(clusters), len(set(clusters))
    # of each cluster how many values it has on either side, their sum and the sum of their squares
    powers = [np.where(side, values**power, 0.0) for side in (is_one, ~is_one) for power in range(3)]
    of_cluster = np.column_stack([np.bincount(codes, weights=each, minlength=size) for each in powers])
    (d,) = _effects(of_cluster.sum(axis=0)[None])
    if not np.isfinite(d):
        return Estimate(None)
    if min(len(set(of_one)), len(set(of_other))) < FEWEST_CLUSTERS:
        return Estimate(float(d))
    batches = drawn_units(size, width=size, seed=seed)
    drawn = np.concatenate([_effects(weights @ of_cluster) for weights in batches])
    return percentile_interval(float(d), drawn, n=cluster_worth(clusters), level=level)


def _effects(sums: Array) -> Array:
    """The effect in each line: of both sides the number of values, their sum, and that of their squares."""
    n, total, squares = (sums[:, place::3] for place in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        variances = (squares - n * means**2) / (n - 1)
        return np.asarray((means[:, 0] - means[:, 1]) / np.sqrt(variances.mean(axis=1)))
