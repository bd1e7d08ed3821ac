"""Tests of two groups, their effect sizes, and the adjustment for many tests."""

from collections.abc import Sequence
from math import sqrt

from ragmetrics_core.study._distributions import (
    Alternative,
    binomial_test,
    normal_quantile,
    t_share,
)
from ragmetrics_core.study._intervals import Estimate, Summary

__all__ = ["effect_size", "holm", "mcnemar", "t_test", "welch"]


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
    parts = x.sd**2 / x.n, y.sd**2 / y.n
    t = (x.mean - y.mean) / sqrt(sum(parts))
    return t_test(t, sum(parts) ** 2 / (parts[0] ** 2 / (x.n - 1) + parts[1] ** 2 / (y.n - 1)), alternative)


def t_test(t: float, df: float, alternative: Alternative = "two-sided") -> float:
    """P of a value of Student's t."""
    below, above = float(t_share(t, df)), float(t_share(-t, df))
    if alternative == "two-sided":
        return min(1.0, 2 * min(below, above))
    return below if alternative == "less" else above


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
