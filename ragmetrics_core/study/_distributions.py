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
    "scipy_module",
    "t_quantile",
    "t_test",
    "tau_b",
]

Alternative = Literal["two-sided", "greater", "less"]


def normal_quantile(share: float) -> float:
    """Quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(share)


def normal_share(z: float) -> float:
    """The share of the standard normal distribution below z."""
    return NormalDist().cdf(z)


def t_quantile(share: float, df: float) -> float:
    """Quantile of Student's t distribution."""
    return float(scipy_module("special").stdtrit(df, share))


def t_test(t: float, df: float, alternative: Alternative = "two-sided") -> float:
    """P of a value of Student's t."""
    tail = {"two-sided": -abs(t), "less": t, "greater": -t}[alternative]
    share = float(scipy_module("special").stdtr(df, tail))
    return 2 * share if alternative == "two-sided" else share


def binomial_test(successes: int, trials: int) -> float:
    """Exact two-sided p of a fair coin: successes in trials; 1 without a trial.

    For pairs that changed sides it is McNemar's test: the number gained of all that changed.

    >>> binomial_test(1, 10)
    0.021484375
    """
    return float(scipy_module("stats").binomtest(successes, trials, 0.5).pvalue) if trials else 1.0


def mann_whitney(x: Sequence[float], y: Sequence[float], *, alternative: Alternative) -> float | None:
    """P of the Mann-Whitney test that x is not above y (or, two-sided, that neither is).

    Corrected for ties. Undefined (`None`) for an empty group or if all values are equal.
    """
    if not len(x) or not len(y) or len(set(x) | set(y)) == 1:
        return None
    return float(scipy_module("stats").mannwhitneyu(x, y, alternative=alternative).pvalue)


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 along the last axis; equal values share the mean of their ranks."""
    return np.asarray(scipy_module("stats").rankdata(values, axis=-1), dtype=float)


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's correlation with a correction for equal values, in n log n steps; neither may be constant."""
    # nobody reads the p-value, so it is made in the way that costs nothing; one order is 1, not a digit less
    return round(float(scipy_module("stats").kendalltau(x, y, method="asymptotic").statistic), 15)


def scipy_module(name: str) -> Any:
    """A part of scipy.

    Raises:
        ConfigError: scipy is not installed.
    """
    try:
        import scipy
    except ModuleNotFoundError:
        raise ConfigError(
            "studies and reports need the scipy package: pip install 'ragmetrics-core[study]'"
        ) from None
    return getattr(scipy, name)
