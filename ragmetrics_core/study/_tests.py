"""Tests of two groups and of pairs, effect sizes, and the adjustment for many tests."""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._distributions import (
    Alternative,
    average_ranks,
    binomial_test,
    mann_whitney,
    normal_quantile,
    t_test,
)
from ragmetrics_core.study._estimates import (
    Clusters,
    Estimate,
    MeanPart,
    are_singletons,
    are_too_few,
    cluster_codes,
    clusters_of,
    spread_of,
)
from ragmetrics_core.study._resampling import cluster_worth, drawn_units, percentile_interval, resampled

__all__ = ["FLIPS", "effect_size", "holm", "mean_test", "rank_test", "sign_flip", "win_shares"]

# Random flips where not all of them are counted; p is known to about 0.002 near 0.05.
FLIPS = 10_000

# All 2^18 flips are counted up to this many differences.
_EXACT = 18

_BATCH = 1_000_000

# So many differences of each size, on the average, are many.
_FEW_SIZES = 20

Array = NDArray[np.float64]


def mean_test(one: MeanPart, other: MeanPart, *, alternative: Alternative = "two-sided") -> float | None:
    r"""P of Welch's t-test that one mean is not above the other (or, two-sided, that they are equal).

    .. math:: t = \frac{\bar x - \bar y}{\sqrt{s_x^2/n_x + s_y^2/n_y}}, \quad
        \nu = \frac{(s_x^2/n_x + s_y^2/n_y)^2}{(s_x^2/n_x)^2/(n_x-1) + (s_y^2/n_y)^2/(n_y-1)}

    with the errors of whole clusters, see `spread_of`. Undefined (`None`) when a group has fewer than two
    values, or 10 clusters of several, or neither of them varies.
    """
    return _test(one.mean - other.mean, one, other, alternative)


def _test(value: float, one: MeanPart, other: MeanPart, alternative: Alternative) -> float | None:
    spread = spread_of(one, other.subtracted)
    if any(are_too_few(part.clusters) for part in (one, other)) or not spread.error:
        return None
    return t_test(value / spread.error, spread.df, alternative)


def win_shares(one: ArrayLike, other: ArrayLike) -> tuple[Array, Array]:
    """Of each value of both groups the share of the other group that it is above; equal ones count half."""
    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    ranks = average_ranks(np.concatenate([x, y]))
    return (ranks[: len(x)] - average_ranks(x)) / len(y), (ranks[len(x) :] - average_ranks(y)) / len(x)


def rank_test(one: MeanPart, other: MeanPart, *, alternative: Alternative = "two-sided") -> float | None:
    """P that a value of one group is as likely below one of the other as above it.

    Of samples on their own it is the test of Mann and Whitney; else that of their area with the error of
    whole clusters (Obuchowski 1997). Undefined (`None`) as `mean_test`.
    """
    x, y = (np.asarray(part.values, dtype=float) for part in (one, other))
    if are_singletons([*one.clusters, *other.clusters]):
        return (
            mann_whitney(x.tolist(), y.tolist(), alternative=alternative) if min(len(x), len(y)) > 1 else None
        )
    wins, losses = win_shares(x, y)
    # the wins are A on the average, the losses 1 - A
    return _test(
        float(wins.mean()) - 0.5, one._replace(values=wins), other._replace(values=losses), alternative
    )


def effect_size(one: MeanPart, other: MeanPart, *, level: float = 0.95, seed: int = 0) -> Estimate:
    r"""Standardised difference of two means, for groups whose variances differ.

    .. math:: d = \frac{\bar x - \bar y}{s}, \qquad s^2 = (s_x^2 + s_y^2) / 2

    with the interval of Bonett (2008), equation 10, or of resamples of whole clusters. 0.2, 0.5 and 0.8 are
    called small, medium and large. Undefined (None) when a group has fewer than two values, or neither of
    them varies.

    References:
        Bonett (2008), "Confidence intervals for standardized linear contrasts of means", Psychological
        Methods 13(2), 99-109.
    """
    x, y = (np.asarray(part.values, dtype=float) for part in (one, other))
    if min(len(x), len(y)) < 2 or np.ptp(x) == np.ptp(y) == 0:
        return Estimate(None)
    variances = x.var(ddof=1), y.var(ddof=1)
    squared = float(sum(variances)) / 2
    d = float(x.mean() - y.mean()) / sqrt(squared)
    if are_singletons([*one.clusters, *other.clusters]):
        parts = [(float(v), len(group) - 1) for v, group in zip(variances, (x, y), strict=True)]
        variance = d**2 / (8 * squared**2) * sum(v**2 / df for v, df in parts)
        half = normal_quantile(0.5 + level / 2) * sqrt(variance + sum(v / df for v, df in parts) / squared)
        return Estimate(d, d - half, d + half)
    if any(are_too_few(part.clusters) for part in (one, other)):
        return Estimate(d)
    own, values = [*one.clusters, *other.clusters], np.concatenate([x, y])
    first = np.arange(len(values)) < len(x)
    # of each value whether it is on either side, itself and its square
    powers = [np.where(side, values**power, 0.0) for side in (first, ~first) for power in range(3)]
    table = np.column_stack(powers)
    drawn = resampled(lambda weights: _effects(weights @ table), own, draws=drawn_units, seed=seed)
    return percentile_interval(d, drawn, n=cluster_worth(own), level=level)


def _effects(sums: Array) -> Array:
    """The effect in each line: of both sides the number of values, their sum, and that of their squares."""
    n, total, squares = (sums[:, place::3] for place in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = total / n
        variances = (squares - n * means**2) / (n - 1)
        return np.asarray((means[:, 0] - means[:, 1]) / np.sqrt(variances.mean(axis=1)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in their order; a test without a p does not count as a test.

    References:
        Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        adjusted[place] = highest
    return adjusted


def sign_flip(
    differences: ArrayLike, clusters: Clusters = (), *, count: int = FLIPS, seed: int = 0
) -> float | None:
    r"""Two-sided p that paired differences are as likely to fall on either side of zero.

    .. math:: p = P\left(\left|\sum_i \epsilon_i d_i\right| \ge \left|\sum_i d_i\right|\right), \quad
        \epsilon_i = \pm 1

    Differences of zero change nothing, whatever their sign. Where all others are of one size, as of yes/no
    scores, it is the exact test of McNemar; up to 18 of them every flip is counted; beyond, `count` random
    flips, of which the data are one, so that p is never 0. No distribution is assumed, and ties need no
    correction. 1 when all differences are zero. Undefined (`None`) without a difference.

    Args:
        differences: one for each pair.
        clusters: each pair's cluster; the differences of one cluster are flipped together.
        count: random flips.
        seed: of the random flips.

    References:
        Fisher (1935), "The Design of Experiments", section 21; Phipson and Smyth (2010), "Permutation
        P-values Should Never Be Zero", Statistical Applications in Genetics and Molecular Biology 9(1).

    >>> sign_flip([1, 1, 1, 1, 1, 0, 0])  # 2 of 2^5 flips
    0.0625
    """
    array = np.asarray(differences, dtype=float)
    if not len(array):
        return None
    # 2/3 - 1/3 and 1 - 2/3 are one difference, though in floats they are not equal
    sums = np.bincount(cluster_codes(clusters_of(len(array), clusters)), weights=array)
    moved: Array = np.round(sums, 12).astype(float)
    moved = moved[moved != 0]
    if not len(moved):
        return 1.0
    if np.ptp(np.abs(moved)) == 0:
        return binomial_test(int((moved > 0).sum()), len(moved))
    reached = abs(float(moved.sum())) - 1e-9
    if len(moved) <= _EXACT:
        flipped = np.zeros(1)
        for move in moved[1:]:  # the first sign is kept: the other half of the flips is this one's mirror
            flipped = np.concatenate([flipped + move, flipped - move])
        return float((np.abs(flipped + moved[0]) >= reached).mean())
    hits = 1 + sum(int((np.abs(sums) >= reached).sum()) for sums in _flipped(moved, count, seed))
    return hits / (count + 1)


def _flipped(differences: Array, count: int, seed: int) -> Iterator[Array]:
    """The sums of `count` random flips, in batches."""
    generator = np.random.default_rng(seed)
    sizes, times = np.unique(np.abs(differences), return_counts=True)
    # of many differences of one size it only counts how many are positive
    are_few = _FEW_SIZES * len(sizes) <= len(differences)
    rows = max(1, _BATCH // (len(sizes) if are_few else len(differences)))
    for start in range(0, count, rows):
        size = min(rows, count - start)
        # a sum of signed differences is twice that of the positive ones, less all
        if are_few:
            positive = generator.binomial(times, 0.5, size=(size, len(sizes))).astype(float)
            yield 2 * (positive @ sizes) - float((times * sizes).sum())
        else:
            signs = generator.integers(0, 2, size=(size, len(differences)), dtype=np.int8)
            yield 2 * (signs @ differences) - differences.sum()
