"""Maps from a judge's probability to the share that people confirm: isotonic regression and Platt scaling."""

from bisect import bisect_right
from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np

__all__ = ["Knots", "LogitLine", "at_knots", "isotonic_fit", "on_line", "platt_fit"]

# Probabilities are kept with six digits.
_NEAREST = 1e-6
_MOST_STEPS = 100


class Knots(NamedTuple):
    """Points of a rising curve, with straight lines between them."""

    inputs: tuple[float, ...]
    outputs: tuple[float, ...]


class LogitLine(NamedTuple):
    """A straight line for log odds."""

    slope: float
    intercept: float


def isotonic_fit(probabilities: Sequence[float], confirmed: Sequence[bool]) -> Knots:
    r"""Isotonic regression: the rising curve with the least squared error, by pool adjacent violators.

    .. math:: \min_{f_1 \le \dots \le f_m} \sum_j w_j (f_j - \bar y_j)^2

    for the m distinct probabilities, with the number :math:`w_j` and the share :math:`\bar y_j` of confirmed
    ones among those that are equal. Of equal neighbours only the two ends are knots.

    Args:
        probabilities: a probability for each verdict, at least one.
        confirmed: whether people confirm that it is positive.

    References:
        Zadrozny and Elkan (2002), Transforming classifier scores into accurate multiclass probability
        estimates, KDD; Ayer et al. (1955), Annals of Mathematical Statistics 26(4), 641-647.

    >>> isotonic_fit([0.1, 0.4, 0.6, 0.9], [False, True, False, True])
    Knots(inputs=(0.1, 0.4, 0.6, 0.9), outputs=(0.0, 0.5, 0.5, 1.0))
    """
    inputs, places = np.unique(np.asarray(probabilities, dtype=float), return_inverse=True)
    counts = np.bincount(places)
    positive = np.bincount(places, weights=np.asarray(confirmed, dtype=float))
    blocks: list[tuple[int, float, int]] = []  # first place, confirmed, all
    for place, (yes, n) in enumerate(zip(positive.tolist(), counts.tolist(), strict=True)):
        block = (place, yes, n)
        # compared without a division, so that equal shares are equal
        while blocks and blocks[-1][1] * block[2] >= block[1] * blocks[-1][2]:
            first, before, many = blocks.pop()
            block = (first, before + block[1], many + block[2])
        blocks.append(block)
    knots: list[tuple[float, float]] = []
    ends = [*(first for first, _, _ in blocks[1:]), len(inputs)]
    for (first, yes, n), end in zip(blocks, ends, strict=True):
        for place in sorted({first, end - 1}):
            knots.append((float(inputs[place]), yes / n))
    return Knots(tuple(x for x, _ in knots), tuple(y for _, y in knots))


def at_knots(knots: Knots, probability: float) -> float:
    """The curve's value at a probability; beyond its ends, the value at the end.

    >>> at_knots(Knots((0.2, 0.6), (0.0, 1.0)), 0.5), at_knots(Knots((0.2, 0.6), (0.0, 1.0)), 0.9)
    (0.75, 1.0)
    """
    inputs, outputs = knots
    place = bisect_right(inputs, probability)
    if place == 0 or place == len(inputs):
        return outputs[0] if place == 0 else outputs[-1]
    before, after = inputs[place - 1], inputs[place]
    low, high = outputs[place - 1], outputs[place]
    return low + (high - low) * (probability - before) / (after - before)


def platt_fit(probabilities: Sequence[float], confirmed: Sequence[bool]) -> LogitLine:
    r"""Platt scaling of log odds: logistic regression on the logit of the probability, by Newton's method.

    .. math:: q = \frac{1}{1 + e^{-(a \, \mathrm{logit}(p) + b)}}

    A judge that is calibrated already keeps its probabilities (a = 1, b = 0). Targets are Platt's: of N
    confirmed verdicts :math:`(N + 1) / (N + 2)`, of M others :math:`1 / (M + 2)`, so that the fit is finite.

    Args:
        probabilities: a probability for each verdict, taken between 0.000001 and 0.999999.
        confirmed: whether people confirm that it is positive.

    References:
        Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin, Weng (2007), A note on
        Platt's probabilistic outputs, Machine Learning 68, 267-276.
    """
    odds = np.array([_logit(each) for each in probabilities])
    yes = np.asarray(confirmed, dtype=bool)
    positive = int(yes.sum())
    targets = np.where(yes, (positive + 1) / (positive + 2), 1 / (len(yes) - positive + 2))
    columns = np.stack([odds, np.ones_like(odds)], axis=1)

    def loss(weights: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
        values = columns @ weights
        return float((np.logaddexp(0, values) - targets * values).sum())

    found = np.zeros(2)
    for _ in range(_MOST_STEPS):
        shares = 1 / (1 + np.exp(-(columns @ found)))
        gradient = columns.T @ (shares - targets)
        curvature = columns.T @ (columns * (shares * (1 - shares))[:, None])
        # one probability alone leaves the slope open: the shortest step is taken
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        while loss(found - step) > loss(found) and np.abs(step).max() > _NEAREST**2:
            step /= 2
        found -= step
        if np.abs(step).max() <= _NEAREST**2:
            break
    return LogitLine(float(found[0]), float(found[1]))


def on_line(line: LogitLine, probability: float) -> float:
    """The probability whose log odds are on the line.

    >>> on_line(LogitLine(1.0, 0.0), 0.5), round(on_line(LogitLine(0.5, 0.0), 0.8), 6)
    (0.5, 0.666667)
    """
    value = line.slope * _logit(probability) + line.intercept
    # either form alone would overflow at one end
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))


def _logit(probability: float) -> float:
    share = min(1 - _NEAREST, max(_NEAREST, probability))
    return log(share / (1 - share))
