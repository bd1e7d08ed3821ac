"""Kendall's correlation over whole systems, with questions that are alike for all of them, and clustered."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks.coverage.design import RESAMPLES, Array, Design, seed_of
from ragmetrics_core.study._estimates import Estimate
from ragmetrics_core.study._kendall_of_systems import system_correlation

__all__ = ["designs"]

# 100 questions, by fives in a cluster; a question's own noise has an sd of 3
_CLUSTERS, _ALIKE, _NOISE = 20, 5, 3.0
_QUESTIONS = np.repeat(np.arange(_CLUSTERS), _ALIKE)


def _systems(g: Generator, *, n: int, shared: float, naive: bool) -> Estimate:
    """Systems of normal quality, which a metric sees with a correlation of 0.8.

    With `shared` each system has strengths, and each cluster of questions asks for some of them: in the mean
    over few clusters this moves all systems at once.
    """
    quality = g.normal(size=(n, 1))
    seen = 0.8 * quality + 0.6 * g.normal(size=(n, 1))
    strengths = g.normal(size=(n, 2))
    metric, people = (
        side + (shared * strengths @ g.normal(size=(2, _CLUSTERS)))[:, _QUESTIONS] + _noise(g, n)
        for side in (seen, quality)
    )
    clusters = () if naive else _QUESTIONS.tolist()
    return system_correlation(metric, people, clusters=clusters, count=RESAMPLES, seed=seed_of(g))


def _noise(g: Generator, n: int) -> Array:
    return g.normal(0, _NOISE, (n, len(_QUESTIONS)))


def _truth(shared: float) -> float:
    """The mean of Kendall's correlation over draws of the questions: of normal means 2 asin(r) / pi."""
    asked = np.random.default_rng(1).normal(0, shared / np.sqrt(_CLUSTERS), (200_000, 2, 2))
    one, other = asked[:, 0], asked[:, 1]
    variance = 1 + _NOISE**2 / len(_QUESTIONS)
    together = 0.8 + (one * other).sum(axis=1)
    scale = np.sqrt((variance + (one**2).sum(axis=1)) * (variance + (other**2).sum(axis=1)))
    return float((2 / np.pi * np.arcsin(together / scale)).mean())


def designs() -> Iterator[Design]:
    """From few systems to many, with questions that are independent and clustered."""
    for n in (6, 8, 10, 20, 40):
        draw = partial(_systems, n=n, shared=0.0, naive=True)
        yield Design("systems, kendall", "100 questions", n, _truth(0.0), draw)
    for n in (10, 20, 40):
        for naive, name in ((True, "naive"), (False, "by cluster")):
            draw = partial(_systems, n=n, shared=1.5, naive=naive)
            yield Design(f"systems, kendall, {name}", "20 clusters of questions", n, _truth(1.5), draw)
