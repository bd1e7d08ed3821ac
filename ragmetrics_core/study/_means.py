"""Means of scores with intervals that know the ends of their range, and the clusters of the samples."""

from collections.abc import Hashable, Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_mean, cluster_share
from ragmetrics_core.study._intervals import Estimate, mean_of, wilson_interval

__all__ = ["is_share", "score_mean"]

Array = NDArray[np.float64]


def score_mean(
    values: ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    *,
    ends: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Estimate:
    r"""The mean of scores that lie within a range.

    It is Student's interval (`mean_of`, `cluster_mean`), which is cut off at the ends of the range. Scores
    that are all at one of its two ends are a share, with Wilson's interval. Where all scores are one value c,
    nothing is known of their spread, and Student's interval would have no width. Then at most the share u of
    others has another value, which may be anything in the range:

    .. math:: [\,c - u (c - \mathrm{low}), \; c + u (\mathrm{high} - c)\,]

    for the upper end u of Wilson's interval of 0 in n, or in as many as there are clusters.

    Args:
        values: the scores.
        clusters: each sample's cluster; below 10 there is no interval.
        ends: of the range; the upper one is infinite where scores have no highest value.
        level: confidence.

    >>> str(score_mean([0.0, 0.0, 0.0, 1.0])), str(score_mean([0.5] * 10))
    ('0.250 (0.046, 0.699)', '0.500 (0.361, 0.639)')
    """
    array = np.asarray(values, dtype=float)
    n, (low, high) = len(array), ends
    size = n if clusters is None else len(set(clusters))
    if n < 2 or (clusters is not None and size < FEWEST_CLUSTERS):
        return Estimate(float(array.mean()) if n else None)
    if is_share(array, ends):
        flags = array == high
        share = (
            wilson_interval(int(flags.sum()), n, level=level)
            if clusters is None
            else cluster_share(flags, clusters, level=level)
        )
        return _scaled(share, low, high)
    if np.ptp(array) == 0:
        value, others = float(array[0]), wilson_interval(0, size, level=level).high or 0.0
        if high == inf or not low <= value <= high:
            return Estimate(value)
        return Estimate(value, value - others * (value - low), value + others * (high - value))
    found = mean_of(array, level=level) if clusters is None else cluster_mean(array, clusters, level=level)
    if found.low is None or found.high is None or found.low == found.high:
        return Estimate(found.value)
    return Estimate(
        found.value, max(found.low, min(low, array.min())), min(found.high, max(high, array.max()))
    )


def is_share(values: ArrayLike, ends: tuple[float, float]) -> bool:
    """Whether all scores are at one of the two ends of their range, and some at either."""
    array = np.asarray(values, dtype=float)
    return len(array) > 0 and ends[1] < inf and set(np.unique(array).tolist()) == set(ends)


def _scaled(share: Estimate, low: float, high: float) -> Estimate:
    value, *interval = (None if each is None else low + each * (high - low) for each in share)
    return Estimate(value, *interval)
