"""Intervals of samples that are independent: shares, means, correlations, areas, agreement."""

from collections.abc import Iterator
from functools import partial
from math import asin, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.random import Generator

from benchmarks.coverage.design import RESAMPLES, Design, exact_coverage, piled, seed_of
from ragmetrics_core.study._coefficients import kendall_figure, pearson_figure, spearman_figure
from ragmetrics_core.study._detection import area_under_curve
from ragmetrics_core.study._estimates import Estimate, MeanPart, mean_of, wilson_interval
from ragmetrics_core.study._reliability import krippendorff_alpha, weighted_kappa
from ragmetrics_core.study._resampling import bootstrap, bootstrap_mean
from ragmetrics_core.study._tests import effect_size

__all__ = ["designs"]


def designs() -> Iterator[Design]:
    """Each interval of independent samples."""
    for each in (_shares, _means, _effects, _correlations, _detection, _reliability):
        yield from each()


def _share(g: Generator, *, n: int, p: float) -> Estimate:
    return wilson_interval(int(g.binomial(n, p)), n)


def _shares() -> Iterator[Design]:
    for n in (30, 100, 300):
        for p in (0.02, 0.1, 0.3, 0.5, 0.9):
            exact = partial(exact_coverage, wilson_interval, n, p)
            yield Design("share, Wilson", f"p {p:g}", n, p, partial(_share, n=n, p=p), exact)


def _student(g: Generator, *, n: int) -> Estimate:
    return mean_of(piled(g, n))


def _student_of_ones(g: Generator, *, n: int, p: float) -> Estimate:
    return mean_of((g.random(n) < p).astype(float))


def _bootstrapped(g: Generator, *, n: int) -> Estimate:
    return bootstrap_mean(piled(g, n), count=RESAMPLES, seed=seed_of(g))


def _difference(g: Generator, *, n: int, moving: float) -> Estimate:
    moves = np.where(g.random(n) < moving, g.uniform(-0.5, 1.0, n), 0.0)
    return bootstrap_mean(moves, count=RESAMPLES, seed=seed_of(g))


def _means() -> Iterator[Design]:
    for n in (10, 30, 100, 300):
        # 0.2 * 0 + 0.35 * 0.5 + 0.45 * 1
        yield Design("mean, Student", "scores piled at 0 and 1", n, 0.625, partial(_student, n=n))
        yield Design("mean, bootstrap", "scores piled at 0 and 1", n, 0.625, partial(_bootstrapped, n=n))
    for n in (30, 100, 300):
        for p in (0.9, 0.98):
            draw = partial(_student_of_ones, n=n, p=p)
            yield Design("mean, Student", f"{p:.0%} ones, the rest 0", n, p, draw)
        for moving in (0.1, 0.5):
            # those that move do so by -0.5 to 1, by 0.25 in the mean
            data = f"{moving:.0%} of the samples move"
            draw = partial(_difference, n=n, moving=moving)
            yield Design("paired difference, bootstrap", data, n, 0.25 * moving, draw)


def _effect(g: Generator, *, n: int) -> Estimate:
    one = MeanPart(g.normal(0.91, 0.19, 2 * n), range(2 * n))
    return effect_size(one, MeanPart(g.normal(0.71, 0.35, n), range(2 * n, 3 * n)))


def _effects() -> Iterator[Design]:
    # means and sds as in table 2 of the paper
    truth = 0.2 / sqrt((0.19**2 + 0.35**2) / 2)
    for n in (15, 100):
        yield Design("effect size", "normal, sds 0.19 and 0.35, 2n and n", n, truth, partial(_effect, n=n))


_FIGURES = {"spearman": spearman_figure, "kendall": kendall_figure, "pearson": pearson_figure}


def _correlation(g: Generator, *, n: int, r: float, which: str) -> Estimate:
    x = g.normal(size=n)
    y = r * x + sqrt(1 - r * r) * g.normal(size=n)
    return bootstrap(_FIGURES[which](x, y), range(n), count=RESAMPLES, seed=seed_of(g))


def _correlations() -> Iterator[Design]:
    for n in (30, 100):
        for r in (0.0, 0.5, 0.8):
            for which, truth in (
                ("spearman", 6 / pi * asin(r / 2)),
                ("kendall", 2 / pi * asin(r)),
                ("pearson", r),
            ):
                draw = partial(_correlation, n=n, r=r, which=which)
                yield Design(f"{which}, bootstrap", f"normal, r {r:g}", n, truth, draw)


def _area(g: Generator, *, n: int, shift: float) -> Estimate:
    good = np.arange(n) < 0.7 * n
    return area_under_curve(g.normal(size=n) + shift * good, good)


def _detection() -> Iterator[Design]:
    for n in (30, 100, 300):
        for area in (0.6, 0.8, 0.95):
            draw = partial(_area, n=n, shift=NormalDist().inv_cdf(area) * sqrt(2))
            yield Design("area under the curve, DeLong", f"area {area:g}, 70 % correct", n, area, draw)


_LIKERT = np.arange(1.0, 6.0)
_POPULATION = np.array([0.15, 0.15, 0.2, 0.2, 0.3])


def _rated(g: Generator, n: int, q: float) -> tuple[list[float], list[float]]:
    """Two raters who each see a true Likert value with probability q, and else draw one at random."""
    true = g.choice(_LIKERT, n, p=_POPULATION)
    one, other = (np.where(g.random(n) < q, true, g.choice(_LIKERT, n, p=_POPULATION)) for _ in range(2))
    return one.tolist(), other.tolist()


def _kappa(g: Generator, *, n: int, q: float) -> Estimate:
    one, other = _rated(g, n, q)
    return weighted_kappa(one, other, count=RESAMPLES, seed=seed_of(g)).value


def _alpha(g: Generator, *, n: int, q: float) -> Estimate:
    units = list(zip(*_rated(g, n, q), strict=True))
    return krippendorff_alpha(units, level="interval", count=RESAMPLES, seed=seed_of(g)).value


def _reliability() -> Iterator[Design]:
    for q in (0.5, 0.8):
        for n in (30, 100):
            # both see the truth with q^2; otherwise they are independent draws of one distribution
            data, truth = f"two raters, each right with {q:g}", q * q
            yield Design("weighted kappa, bootstrap", data, n, truth, partial(_kappa, n=n, q=q))
            yield Design("alpha, bootstrap", data, n, truth, partial(_alpha, n=n, q=q))
