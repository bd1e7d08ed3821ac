"""Bootstrap intervals: samples are drawn with replacement, by a seed, many resamples at a time."""

from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._distributions import normal_share, t_quantile
from ragmetrics_core.study._intervals import Estimate

__all__ = [
    "RESAMPLES",
    "bootstrap",
    "bootstrap_mean",
    "drawn_tables",
    "drawn_units",
    "percentile_interval",
    "resampled_counts",
    "resamples",
]

RESAMPLES = 2000

# numbers of one batch of resamples: more than fit beside the processor take longer, each
_BATCH = 250_000

# Above so many units the draws of a resample are counted one by one.
_COUNTED = 2_000

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def resamples(n: int, *, count: int = RESAMPLES, seed: int = 0) -> Iterator[Indices]:
    """Rows of n indices below n, each row one resample, in batches; the same ones for a seed."""
    generator = np.random.default_rng(seed)
    rows = max(1, _BATCH // max(n, 1))
    while count > 0:
        yield generator.integers(0, n, size=(min(rows, count), n))
        count -= rows


def drawn_tables(
    shares: ArrayLike, n: int, *, width: int, count: int = RESAMPLES, seed: int = 0
) -> Iterator[Array]:
    """How often each of several kinds is drawn in n draws, one row for each resample, in batches.

    Args:
        shares: the chance of each kind.
        n: draws in a resample.
        width: how many numbers the caller makes of a resample, which limits how many rows there are at once.
        count: how many resamples.
        seed: of the random draws; the same ones whatever the batches are.
    """
    generator = np.random.default_rng(seed)
    rows = max(1, _BATCH // max(width, 1))
    while count > 0:
        yield generator.multinomial(n, np.asarray(shares), size=min(rows, count)).astype(float)
        count -= rows


def drawn_units(n: int, *, width: int, count: int = RESAMPLES, seed: int = 0) -> Iterator[Array]:
    """How often each of n units is drawn in n draws; see `drawn_tables`."""
    if n <= _COUNTED:
        yield from drawn_tables(np.full(n, 1 / n), n, width=width, count=count, seed=seed)
        return
    # counting n draws takes a tenth of the time that n numbers of draws take
    generator = np.random.default_rng(seed)
    rows = max(1, _BATCH // max(width, n))
    while count > 0:
        drawn = generator.integers(0, n, size=(min(rows, count), n))
        yield np.array([np.bincount(row, minlength=n) for row in drawn], dtype=float)
        count -= rows


def resampled_counts(n: int, *, count: int = RESAMPLES, seed: int = 0) -> Array:
    """How often each of n units is drawn, one row for each resample."""
    return np.concatenate([*drawn_units(n, width=n, count=count, seed=seed)])


def bootstrap(
    statistic: Callable[[Indices], Array],
    n: int,
    *,
    value: float | None,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """A figure with its percentile interval over resamples of n units.

    Args:
        statistic: from rows of indices to one number a row; not a number where a resample has none.
        n: how many units there are.
        value: the figure for the units as they are.
        level: confidence.
        count: how many resamples.
        seed: of the random draws.

    Resamples without a number are left out; no interval (None) when they are more than half, when there is
    no value, or fewer than two units.
    """
    if value is None or n < 2:
        return Estimate(value)
    drawn = np.concatenate([statistic(rows) for rows in resamples(n, count=count, seed=seed)])
    return percentile_interval(value, drawn, n=n, level=level)


def percentile_interval(value: float, drawn: Array, *, n: float, level: float = 0.95) -> Estimate:
    r"""A figure with the quantiles of what its resamples gave; see `bootstrap`.

    Resamples of n units vary too little by the factor :math:`\sqrt{(n-1)/n}`, and quantiles do not know that
    the spread is estimated. So the quantiles are taken further out, at
    :math:`\Phi(\pm t_{n-1} \sqrt{n/(n-1)})`, which for a mean gives Student's width.

    References:
        Hesterberg (2015), "What Teachers Should Know About the Bootstrap", The American Statistician 69(4),
        371-386, section 5.3 (the expanded percentile interval).
    """
    known = drawn[np.isfinite(drawn)]
    if 2 * len(known) < len(drawn):
        return Estimate(value)
    share = normal_share(t_quantile(0.5 + level / 2, n - 1) * sqrt(n / (n - 1)))
    low, high = np.quantile(known, [1 - share, share])
    return Estimate(value, float(low), float(high))


def bootstrap_mean(
    values: ArrayLike, *, level: float = 0.95, count: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """The mean of values with its bootstrap interval."""
    array = np.asarray(values, dtype=float)
    value = float(array.mean()) if len(array) else None
    return bootstrap(
        lambda rows: array[rows].mean(axis=1), len(array), value=value, level=level, count=count, seed=seed
    )
