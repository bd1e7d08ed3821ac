"""Formulas over ranked results."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bounds", "average_precision", "average_precision_bounds"]


class Bounds(NamedTuple):
    """The lowest and the highest possible value of a score."""

    low: float
    high: float


def average_precision(relevances: Sequence[bool] | NDArray[np.bool_]) -> float | None:
    r"""Average precision of a ranked list: context precision's formula.

    .. math:: AP = \frac{\sum_{k=1}^{K} P@k \cdot v_k}{\sum_{k=1}^{K} v_k},
        \qquad P@k = \frac{1}{k} \sum_{i=1}^{k} v_i

    with :math:`v_k = 1` when the result at rank k is relevant, else 0. It divides by the retrieved relevant
    results, not by all relevant items. Range [0, 1], higher is better: 1 when all relevant results come
    first, 0 when none is relevant. Undefined (`None`) when the list is empty. Summed in fractions and rounded
    once.

    References:
        ragas, "Context precision". https://docs.ragas.io/en/stable/concepts/metrics/ It adds 1e-10 to the
        denominator; this formula does not, so a perfect ranking is exactly 1. Manning, Raghavan, Schütze
        (2008), "Introduction to Information Retrieval", section 8.4.

    Examples:
        >>> average_precision([False, True])
        0.5
        >>> average_precision([True, False, True])
        0.8333333333333334
        >>> average_precision([False, False])
        0.0
        >>> average_precision([]) is None
        True
    """
    if len(relevances) == 0:
        return None
    relevant = 0
    precisions = Fraction(0)
    for rank, is_relevant in enumerate(relevances, start=1):
        if is_relevant:
            relevant += 1
            precisions += Fraction(relevant, rank)
    return float(precisions / relevant) if relevant else 0.0


def average_precision_bounds(relevances: Sequence[bool | None]) -> Bounds:
    r"""Lowest and highest average precision over all completions of the missing verdicts (`None`).

    .. math:: \left[\min_{v \in V} AP(v),\ \max_{v \in V} AP(v)\right]

    with :math:`V` the completions of the list. Trying "all relevant" and "none relevant" is not enough,
    because average precision is not monotone in a verdict: `[True, False, False]` has 1, and `[True, False,
    True]`, with one more relevant result, has (1 + 2/3) / 2 = 0.83. Exact for any number of missing verdicts
    without listing all completions: for each number of relevant results in the first k ranks, only the
    smallest and the largest sum of precisions matter for the later ranks.

    Range [0, 1] for both. Without missing verdicts both are the average precision.

    Raises:
        ValueError: the list is empty, so average precision is undefined.

    References:
        The formula is that of `average_precision`; the bounds are this library's own.

    Examples:
        >>> average_precision_bounds([True, False, None])
        Bounds(low=0.8333333333333334, high=1.0)
        >>> average_precision_bounds([None])
        Bounds(low=0.0, high=1.0)
    """
    if len(relevances) == 0:
        raise ValueError("give at least one verdict: average precision of an empty list is undefined")
    least: dict[int, Fraction] = {0: Fraction(0)}
    greatest: dict[int, Fraction] = {0: Fraction(0)}
    for rank, verdict in enumerate(relevances, start=1):
        choices = (False, True) if verdict is None else (bool(verdict),)
        lower: dict[int, Fraction] = {}
        higher: dict[int, Fraction] = {}
        for before, least_sum in least.items():
            greatest_sum = greatest[before]
            for is_relevant in choices:
                relevant = before + is_relevant
                gain = Fraction(relevant, rank) if is_relevant else Fraction(0)
                low, high = least_sum + gain, greatest_sum + gain
                lower[relevant] = min(low, lower.get(relevant, low))
                higher[relevant] = max(high, higher.get(relevant, high))
        least, greatest = lower, higher
    return Bounds(
        low=float(min(total / max(relevant, 1) for relevant, total in least.items())),
        high=float(max(total / max(relevant, 1) for relevant, total in greatest.items())),
    )
