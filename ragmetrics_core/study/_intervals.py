"""Figures with their intervals: means, shares and correlations."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.study._distributions import beta_quantile, normal_quantile, t_quantile

__all__ = [
    "Estimate",
    "Summary",
    "beta_interval",
    "mean_interval",
    "mean_of",
    "summary_of",
    "wilson_interval",
    "wilson_of",
]


class Estimate(NamedTuple):
    """A figure with the interval around it; what cannot be told is None."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The figure in short: "0.75 (0.60, 0.86)"."""
        if self.value is None:
            return "none"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.low:.3f}, {self.high:.3f})"


class Summary(NamedTuple):
    """What a table prints of a group: mean, standard deviation (n - 1) and number of values."""

    mean: float
    sd: float
    n: int


def summary_of(values: Sequence[float]) -> Summary | None:
    """Mean, sd and n of values; None without a value. The sd of a single value is 0.

    >>> summary_of([0.0, 1.0, 1.0, 1.0])
    Summary(mean=0.75, sd=0.5, n=4)
    """
    if not len(values):
        return None
    array = np.asarray(values, dtype=float)
    return Summary(float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else 0.0, len(array))


def mean_of(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The mean of values with Student's interval; see `mean_interval`."""
    summary = summary_of(np.asarray(values, dtype=float).tolist())
    return Estimate(None) if summary is None else mean_interval(summary, level=level)


def mean_interval(summary: Summary, *, level: float = 0.95) -> Estimate:
    r"""Student's interval of a mean.

    .. math:: \bar x \pm t_{n-1} \, s / \sqrt n

    It takes the mean to be normal, which for scores that pile up at 0 and 1 it is from about 30 values on
    (benchmarks/coverage prints how well it covers). No interval (None) for fewer than two values.
    """
    if summary.n < 2:
        return Estimate(summary.mean)
    half = t_quantile(0.5 + level / 2, summary.n - 1) * summary.sd / sqrt(summary.n)
    return Estimate(summary.mean, summary.mean - half, summary.mean + half)


def wilson_interval(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    r"""A share with Wilson's score interval, which stays within [0, 1] and is honest near its ends.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Undefined (None) when n is 0.

    References:
        Wilson (1927), JASA 22(158), 209-212; Brown, Cai, DasGupta (2001), Statistical Science 16(2).

    >>> str(wilson_interval(8, 10))
    '0.800 (0.490, 0.943)'
    """
    if n == 0:
        return Estimate(None)
    return wilson_of(successes / n, n, normal_quantile(0.5 + level / 2))


def wilson_of(share: float, n: float, z: float) -> Estimate:
    """Wilson's interval of a share of n trials, which may be an effective number, for a quantile z."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # at the ends the formula gives 0 and 1 up to rounding
    return Estimate(share, 0.0 if share == 0 else middle - half, 1.0 if share == 1 else middle + half)


def beta_interval(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    r"""A share with Jeffreys' interval: quantiles of :math:`\mathrm{Beta}(k + 1/2, n - k + 1/2)`.

    At 0 and n successes the end that lies there is 0 or 1. Undefined (None) when n is 0.

    References:
        Brown, Cai, DasGupta (2001), Statistical Science 16(2), section 4.3.

    >>> str(beta_interval(8, 10))
    '0.800 (0.497, 0.956)'
    """
    if n == 0:
        return Estimate(None)
    a, b = successes + 0.5, n - successes + 0.5
    low = 0.0 if successes == 0 else beta_quantile(0.5 - level / 2, a, b)
    high = 1.0 if successes == n else beta_quantile(0.5 + level / 2, a, b)
    return Estimate(successes / n, low, high)
