"""Figures of judges and people: estimates from few labels, searched thresholds, metrics compared."""

from collections.abc import Iterator
from functools import partial
from math import asin, pi, sqrt

import numpy as np
from numpy.random import Generator

from benchmarks.coverage.design import RESAMPLES, Array, Design, seed_of
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._coefficients import compare_correlations, pooled_correlation
from ragmetrics_core.study._estimates import Estimate, estimate
from ragmetrics_core.study._judge_errors import corrected_mean, judge_errors
from ragmetrics_core.study._powered import LabelledValues, prediction_powered_mean
from ragmetrics_core.study._repeats import judge_share

__all__ = ["designs"]


def _powered(g: Generator, *, n: int) -> Estimate:
    """A judge that is biased upwards, and right more often than not."""
    y = (g.random(10 * n) < 0.6).astype(float)
    f = np.clip(0.3 + 0.5 * y + g.normal(0, 0.2, 10 * n), 0, 1)
    return prediction_powered_mean(y[:n], f[:n], f[n:])[0]


def _estimates() -> Iterator[Design]:
    for n in (30, 100, 300):
        data = "9 scored for each labelled sample"
        yield Design("prediction-powered mean", data, n, 0.6, partial(_powered, n=n))


def _corrected(g: Generator, *, n: int, labelled: int) -> Estimate:
    truth = g.random(n + labelled) < 0.4
    said = np.where(truth, g.random(len(truth)) < 0.9, g.random(len(truth)) > 0.7)
    errors = judge_errors(truth[:labelled].tolist(), said[:labelled].tolist())
    try:
        return corrected_mean(int(said[labelled:].sum()), n, errors)
    except ConfigError:  # what the judge tells cannot be told from nothing
        return Estimate(None)


def _corrections() -> Iterator[Design]:
    for n, labelled in ((300, 50), (300, 100), (1000, 200)):
        draw = partial(_corrected, n=n, labelled=labelled)
        yield Design("corrected mean", f"{labelled} labels, errors 10 and 30 %", n, 0.4, draw)


def _slices(g: Generator, *, n: int) -> Estimate:
    slices: list[LabelledValues] = []
    for start, shift in ((0, 0.6), (10 * n, 0.4)):
        y = (g.random(10 * n) < shift).astype(float)
        f = np.clip(0.3 + 0.5 * y + g.normal(0, 0.2, 10 * n), 0, 1)
        clusters = range(start, start + n), range(start + n, start + 10 * n)
        slices.append(LabelledValues(y[:n], f[:n], f[n:], clusters))
    one, taken = slices[0].powered(), [part.subtracted for part in slices[1].powered()]
    return estimate(one[0], taken[0], *one[1:], *taken[1:], bound=2)


def _pairs(g: Generator, *, n: int) -> Estimate:
    y = g.random((2, 10 * n)) + np.array([[0.0], [0.1]])
    f = y + np.array([[0.0], [0.2]]) + g.normal(0, 0.1, y.shape)
    return prediction_powered_mean((y[1] - y[0])[:n], *np.split(f[1] - f[0], [n]))[0]


def _share(g: Generator, *, n: int) -> Estimate:
    """A third of a vote's variance is the judge's own."""
    voted = g.normal(0, 1, (n, 1)) + g.normal(0, sqrt(0.5), (n, 3))
    return judge_share(voted.tolist(), seed=seed_of(g))


def _compared(g: Generator, *, n: int) -> Estimate:
    people = g.normal(size=n)
    one, other = (r * people + sqrt(1 - r * r) * g.normal(size=n) for r in (0.7, 0.4))
    return compare_correlations(one, other, people, count=RESAMPLES, seed=seed_of(g))


def _pooled(g: Generator, *, n: int) -> Estimate:
    sets: list[tuple[Array, Array]] = []
    for place in range(3):
        x = g.normal(place, 1, n)
        sets.append((x, 0.5 * (x - place) + sqrt(0.75) * g.normal(size=n) + place))
    return pooled_correlation(sets, count=RESAMPLES, seed=seed_of(g))


def _compares() -> Iterator[Design]:
    def rank(r: float) -> float:
        return 6 / pi * asin(r / 2)

    for n in (30, 100):
        yield Design("powered difference of slices", "0.6 and 0.4", n, 0.2, partial(_slices, n=n))
        yield Design("powered difference of runs", "0.1 apart, judge says 0.3", n, 0.1, partial(_pairs, n=n))
        yield Design("judge's share", "3 votes, a third", n, 1 / 3, partial(_share, n=n))
        truth = rank(0.7) - rank(0.4)
        yield Design("two metrics, paired bootstrap", "r 0.7 and 0.4", n, truth, partial(_compared, n=n))
        yield Design("pooled correlation", "3 sets, r 0.5", n, rank(0.5), partial(_pooled, n=n))


def designs() -> Iterator[Design]:
    """Each figure that rests on labels or on votes."""
    for each in (_estimates, _corrections, _compares):
        yield from each()
