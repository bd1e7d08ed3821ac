"""The distributions and rank tests that scipy computes; scipy is imported at the first use."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError

__all__ = [
    "Alternative",
    "average_ranks",
    "binomial_test",
    "mann_whitney",
    "normal_quantile",
    "normal_share",
    "t_quantile",
    "t_test",
    "tau_b",
]

Alternative = Literal["two-sided", "greater", "less"]

_NORMAL = NormalDist()


def normal_quantile(share: float) -> float:
    """Where the given share of the standard normal distribution lies below."""
    return _NORMAL.inv_cdf(share)


def normal_share(z: float) -> float:
    """The share of the standard normal distribution below z."""
    return _NORMAL.cdf(z)


def t_quantile(share: float, df: float) -> float:
    """Where the given share of Student's t distribution lies below."""
    return float(_special().stdtrit(df, share))


def t_test(t: float, df: float, alternative: Alternative = "two-sided") -> float:
    """P of a value of Student's t."""
    below, above = (float(_special().stdtr(df, each)) for each in (t, -t))
    if alternative == "two-sided":
        return min(1.0, 2 * min(below, above))
    return below if alternative == "less" else above


def binomial_test(successes: int, trials: int) -> float:
    """Exact two-sided p of a fair coin: successes in trials; 1 without a trial.

    Of pairs that changed sides it is McNemar's test: so many gained, of all that changed.

    >>> binomial_test(1, 10)
    0.021484375
    """
    return float(_stats().binomtest(successes, trials, 0.5).pvalue) if trials else 1.0


def mann_whitney(x: Sequence[float], y: Sequence[float], *, alternative: Alternative) -> float | None:
    """P of the Mann-Whitney test that x is not above y (or, two-sided, that neither is).

    Ties are corrected for. Undefined (`None`) for an empty group or when all values are one.
    """
    if not len(x) or not len(y) or len(set(x) | set(y)) == 1:
        return None
    return float(_stats().mannwhitneyu(x, y, alternative=alternative).pvalue)


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 along the last axis; equal values share the mean of their ranks."""
    return np.asarray(_stats().rankdata(values, axis=-1), dtype=float)


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's correlation with a correction for equal values, in n log n steps; neither may be constant."""
    # nobody reads the p-value, so it is made in the way that costs nothing; one order is 1, not a digit less
    return round(float(_stats().kendalltau(x, y, method="asymptotic").statistic), 15)


def _stats() -> Any:
    try:
        from scipy import stats
    except ModuleNotFoundError:
        raise _without_extra() from None
    return stats


def _special() -> Any:
    try:
        from scipy import special
    except ModuleNotFoundError:
        raise _without_extra() from None
    return special


def _without_extra() -> ConfigError:
    return ConfigError("studies and reports need the scipy package: pip install 'ragmetrics[study]'")
