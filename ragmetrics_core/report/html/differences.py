"""Means with intervals, and the difference of two runs on the same samples.

The one place that decides how the report judges a difference.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Difference", "Interval", "Verdict", "interval", "paired"]

RESAMPLES = 2000
_AT_ONCE = 2_000_000

Verdict = Literal["higher", "lower", "no clear difference", "too few pairs"]


class Interval(NamedTuple):
    """A 95% interval."""

    low: float
    high: float


class Difference(NamedTuple):
    """How the second run's scores differ from the first's on the samples that both have.

    Attributes:
        mean: mean of second less first; None without a pair.
        interval: the interval of that mean; None for fewer than two pairs.
        n: how many pairs there are.
        up, down: on how many samples the second run is higher, or lower.
        verdict: "higher" or "lower" when the interval leaves out zero.
    """

    mean: float | None
    interval: Interval | None
    n: int
    up: int
    down: int
    verdict: Verdict


def interval(values: Sequence[float], *, seed: int = 0) -> Interval | None:
    """The 95% percentile bootstrap interval of the mean (2,000 resamples of the samples).

    None for fewer than two values. Values are taken to four decimals: samples with the same value are drawn
    together, which gives the same distribution and takes a fraction of the time.

    References:
        Efron (1979), Bootstrap methods: another look at the jackknife, Annals of Statistics 7(1).

    >>> interval([0.5, 0.5, 0.5])
    Interval(low=0.5, high=0.5)
    """
    if len(values) < 2:
        return None
    distinct, counts = np.unique(np.round(np.asarray(values, dtype=np.float64), 4), return_counts=True)
    n = len(values)
    generator = np.random.default_rng(seed)
    batch = max(1, _AT_ONCE // len(distinct))
    means: list[NDArray[np.float64]] = []
    for start in range(0, RESAMPLES, batch):
        drawn = generator.multinomial(n, counts / n, size=min(batch, RESAMPLES - start))
        means.append(drawn @ distinct / n)
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Interval(float(low), float(high))


def paired(before: Sequence[float], after: Sequence[float], *, seed: int = 0) -> Difference:
    """The difference of two runs from their values on the same samples, pair by pair.

    >>> paired([0.0, 0.5], [0.5, 1.0]).verdict
    'higher'
    """
    moved = [round(b - a, 9) for a, b in zip(before, after, strict=True)]
    if not moved:
        return Difference(None, None, 0, 0, 0, "too few pairs")
    reach = interval(moved, seed=seed)
    up, down = sum(each > 0 for each in moved), sum(each < 0 for each in moved)
    verdict: Verdict = "no clear difference"
    if reach is None:
        verdict = "too few pairs"
    elif reach.low > 0:
        verdict = "higher"
    elif reach.high < 0:
        verdict = "lower"
    return Difference(sum(moved) / len(moved), reach, len(moved), up, down, verdict)
