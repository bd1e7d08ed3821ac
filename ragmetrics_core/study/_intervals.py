"""Figures with their intervals, and the intervals of shares."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from ragmetrics_core.study._distributions import normal_quantile

__all__ = ["Estimate", "Summary", "summary_of", "wilson_interval", "wilson_of"]


class Estimate(NamedTuple):
    """A figure with the interval around it; what cannot be told is None."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The figure in short: "0.750 (0.600, 0.860)"."""
        return format(self, ".3f")

    def __format__(self, digits: str) -> str:
        """The figure with digits of its own: `f"{figure:.2f}"`, or with its sign `f"{figure:+z.2f}"`."""
        if self.value is None:
            return "none"
        value, *ends = (format(each, digits or ".3f") for each in self if each is not None)
        return f"{value} ({', '.join(ends)})" if len(ends) == 2 else value

    @property
    def width(self) -> float | None:
        """Of the interval, from end to end."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def side(self) -> int:
        """On which side of zero the whole interval lies: 1 or -1, or 0 where it reaches it or is none."""
        return 0 if self.low is None or self.high is None else (self.low > 0) - (self.high < 0)

    def __neg__(self) -> "Estimate":
        """The figure on the other side of zero."""
        value, low, high = (None if each is None else -each for each in self)
        return Estimate(value, high, low)


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


def wilson_interval(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    r"""A share with Wilson's score interval, which stays within [0, 1] and is honest near its ends.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Undefined (None) when n is 0.

    References:
        Wilson (1927), JASA 22(158), 209-212; Brown, Cai, DasGupta (2001), Statistical Science 16(2).

    >>> str(wilson_interval(8, 10))
    '0.800 (0.490, 0.943)'
    """
    return wilson_of(successes / n, n, normal_quantile(0.5 + level / 2)) if n else Estimate(None)


def wilson_of(share: float, n: float, z: float) -> Estimate:
    """Wilson's interval of a share of n trials, which may be an effective number, for a quantile z."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # at the ends the formula gives 0 and 1 up to rounding
    return Estimate(share, 0.0 if share == 0 else middle - half, 1.0 if share == 1 else middle + half)
