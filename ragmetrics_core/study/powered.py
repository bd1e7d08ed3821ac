"""Prediction-powered differences: of two runs of the same samples, and of two slices."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.study.estimate import prediction_powered_mean
from ragmetrics_core.study.intervals import Estimate

__all__ = ["powered_difference", "powered_pairs"]


def powered_pairs(
    labels: tuple[ArrayLike, ArrayLike],
    predicted: tuple[ArrayLike, ArrayLike],
    unlabelled: tuple[ArrayLike, ArrayLike],
    *,
    level: float = 0.95,
) -> tuple[Estimate, float | None]:
    """The prediction-powered difference of two runs of the same samples, second less first.

    It is the prediction-powered mean of the differences, sample by sample; each argument has the first run's
    numbers, then the second's in the same order. See `prediction_powered_mean`.
    """
    differences = (
        np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
        for first, second in (labels, predicted, unlabelled)
    )
    return prediction_powered_mean(*differences, level=level)


def powered_difference(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two prediction-powered means of different samples, such as two slices of a run.

    Their errors are independent, and so the squares of their intervals' half widths add up. No interval
    (None) where one of them has none.
    """
    if one.value is None or other.value is None:
        return Estimate(None)
    value = one.value - other.value
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return Estimate(value)
    half = sqrt(((one.high - one.low) / 2) ** 2 + ((other.high - other.low) / 2) ** 2)
    return Estimate(value, value - half, value + half)
