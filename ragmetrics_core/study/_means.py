"""Means of scores with intervals that know the ends of their range, and the clusters of the samples."""

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.study._intervals import Estimate, wilson_interval
from ragmetrics_core.study._parts import Clusters, are_too_few, clusters_of, mean_of, share_of

__all__ = ["is_share", "score_mean"]


def score_mean(
    values: ArrayLike, clusters: Clusters = (), *, ends: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> Estimate:
    r"""The mean of scores that lie within a range.

    It is Student's interval (`mean_of`), which is cut off at the ends of the range. Scores that are all at
    one of its two ends are a share, with Wilson's interval. Where all scores are one value c, nothing is
    known of their spread, and Student's interval would have no width. Then at most the share u of others has
    another value, which may be anything in the range:

    .. math:: [\,c - u (c - \mathrm{low}), \; c + u (\mathrm{high} - c)\,]

    for the upper end u of Wilson's interval of 0 in n, or in as many as there are clusters.

    Args:
        values: the scores.
        clusters: each sample's cluster; below 10 of several samples there is no interval.
        ends: of the range; the upper one is infinite where scores have no highest value.
        level: confidence.

    >>> str(score_mean([0.0, 0.0, 0.0, 1.0])), str(score_mean([0.5] * 10))
    ('0.250 (0.046, 0.699)', '0.500 (0.361, 0.639)')
    """
    array = np.asarray(values, dtype=float)
    clusters, (low, high) = clusters_of(len(array), clusters), ends
    mean = mean_of(array, clusters, level=level)
    if are_too_few(clusters) or mean.value is None:
        return Estimate(mean.value)
    if is_share(array, ends):
        share = share_of(array == high, clusters, level=level)
        return Estimate(*(None if each is None else low + each * (high - low) for each in share))
    if np.ptp(array) == 0:
        value, others = float(array[0]), wilson_interval(0, len(set(clusters)), level=level).high or 0.0
        if high == inf or not low <= value <= high:
            return Estimate(value)
        return Estimate(value, value - others * (value - low), value + others * (high - value))
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return Estimate(mean.value)
    return Estimate(mean.value, max(mean.low, min(low, array.min())), min(mean.high, max(high, array.max())))


def is_share(values: ArrayLike, ends: tuple[float, float]) -> bool:
    """Whether all scores are at one of the two ends of their range, and some at either."""
    array = np.asarray(values, dtype=float)
    return len(array) > 0 and ends[1] < inf and set(np.unique(array).tolist()) == set(ends)
