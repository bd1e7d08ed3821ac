"""Tests and effect sizes, also from a published table, whose rounding leaves a range of p open."""

from collections.abc import Sequence
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study.distributions import (
    Alternative,
    binomial_test,
    normal_quantile,
    t_share,
)
from ragmetrics_core.study.intervals import Estimate, Summary

__all__ = ["Range", "decided", "effect_size", "holm", "holm_ranges", "mcnemar", "welch", "welch_range"]


class Range(NamedTuple):
    """The lowest and the highest value that a figure can have; equal when it is known exactly."""

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """Whether there is one value only."""
        return self.low == self.high


def welch(x: Summary, y: Summary, *, alternative: Alternative = "two-sided") -> float | None:
    r"""P of Welch's t-test that the mean of x is not above that of y (or, two-sided, that they are equal).

    .. math:: t = \frac{\bar x - \bar y}{\sqrt{s_x^2/n_x + s_y^2/n_y}}, \quad
        \nu = \frac{(s_x^2/n_x + s_y^2/n_y)^2}{(s_x^2/n_x)^2/(n_x-1) + (s_y^2/n_y)^2/(n_y-1)}

    Undefined (`None`) when a group has fewer than two values, or neither of them varies.

    References:
        Welch (1947), Biometrika 34, 28-35.
    """
    if x.n < 2 or y.n < 2 or (x.sd == 0 and y.sd == 0):
        return None
    difference = np.array([x.mean - y.mean])
    return float(_p(difference, np.array([x.sd]), np.array([y.sd]), x.n, y.n, alternative)[0])


def welch_range(
    x: Summary, y: Summary, *, half_width: float, alternative: Alternative = "two-sided"
) -> Range | None:
    """The p values of `welch` that are possible when means and sds were rounded by up to `half_width`.

    The extremes are looked for on a grid of the four numbers that holds all their ends, and no difference of
    means where the ends allow that. Undefined (`None`) as in `welch`.
    """
    if half_width == 0:
        p = welch(x, y, alternative=alternative)
        return None if p is None else Range(p, p)
    if x.n < 2 or y.n < 2:
        return None
    difference = x.mean - y.mean
    ends = [difference - 2 * half_width, difference, difference + 2 * half_width]
    if ends[0] < 0 < ends[2]:
        ends.append(0.0)
    steps = np.linspace(-half_width, half_width, 5)
    grid = np.array(
        [
            (d, max(x.sd + i, 0.0), max(y.sd + j, 0.0))
            for d, i, j in product(ends, steps, steps)
            if x.sd + i > 0 or y.sd + j > 0
        ]
    )
    if not len(grid):
        return None
    found = _p(grid[:, 0], grid[:, 1], grid[:, 2], x.n, y.n, alternative)
    return Range(float(found.min()), float(found.max()))


def _p(
    difference: NDArray[np.float64],
    sd_x: NDArray[np.float64],
    sd_y: NDArray[np.float64],
    n_x: int,
    n_y: int,
    alternative: Alternative,
) -> NDArray[np.float64]:
    part_x, part_y = sd_x**2 / n_x, sd_y**2 / n_y
    t = difference / np.sqrt(part_x + part_y)
    df = (part_x + part_y) ** 2 / (part_x**2 / (n_x - 1) + part_y**2 / (n_y - 1))
    if alternative == "greater":
        return t_share(-t, df)
    if alternative == "less":
        return t_share(t, df)
    return np.minimum(2 * t_share(-np.abs(t), df), 1.0)


def effect_size(x: Summary, y: Summary, *, level: float = 0.95) -> Estimate:
    r"""Standardised difference of two means, for groups whose variances differ.

    .. math:: d = \frac{\bar x - \bar y}{s}, \qquad s^2 = (s_x^2 + s_y^2) / 2

    with the interval of Bonett (2008), equation 10. 0.2, 0.5 and 0.8 are called small, medium and large.
    Undefined (None) when a group has fewer than two values, or neither of them varies.

    References:
        Bonett (2008), "Confidence intervals for standardized linear contrasts of means", Psychological
        Methods 13(2), 99-109.
    """
    if x.n < 2 or y.n < 2 or (x.sd == 0 and y.sd == 0):
        return Estimate(None)
    squared = (x.sd**2 + y.sd**2) / 2
    d = (x.mean - y.mean) / sqrt(squared)
    parts = [(group.sd**2, group.n - 1) for group in (x, y)]
    variance = d**2 / (8 * squared**2) * sum(v**2 / df for v, df in parts)
    variance += sum(v / df for v, df in parts) / squared
    half = normal_quantile(0.5 + level / 2) * sqrt(variance)
    return Estimate(d, d - half, d + half)


def mcnemar(gained: int, lost: int) -> float:
    """Exact two-sided p of McNemar's test from the pairs that changed; 1 when none did.

    >>> mcnemar(1, 9)
    0.021484375
    """
    return binomial_test(gained, gained + lost)


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


def holm_ranges(ranges: Sequence[Range | None]) -> list[Range | None]:
    """Holm's adjustment of p values that are known as ranges.

    An adjusted p never falls when one of the p values rises, so the ends of the ranges are adjusted each for
    themselves.
    """
    lows = holm([None if each is None else each.low for each in ranges])
    highs = holm([None if each is None else each.high for each in ranges])
    return [
        None if low is None or high is None else Range(low, high)
        for low, high in zip(lows, highs, strict=True)
    ]


def decided(p: Range | None, alpha: float) -> bool | None:
    """Whether p lies below alpha; None when its range leaves that open, or there is no p."""
    if p is None or p.low < alpha <= p.high:
        return None
    return p.high < alpha
