"""Intervals of samples that belong together, beside those that take them for independent."""

from collections.abc import Iterator
from functools import partial
from math import asin, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.random import Generator

from benchmarks.coverage.design import RESAMPLES, Array, Design, seed_of
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._coefficients import spearman_figure
from ragmetrics_core.study._detection import area_under_curve
from ragmetrics_core.study._estimates import Estimate, MeanPart, mean_of, share_of
from ragmetrics_core.study._judge_errors import corrected_share
from ragmetrics_core.study._powered import prediction_powered_mean
from ragmetrics_core.study._resampling import bootstrap, bootstrap_mean
from ragmetrics_core.study._tests import effect_size

__all__ = ["clustered", "designs"]


def clustered(g: Generator, count: int) -> tuple[Array, list[int]]:
    """Clusters of 1 to 9 samples; half of the variance is that of the clusters; mean 0."""
    clusters = np.repeat(np.arange(count), g.integers(1, 10, count))
    return g.normal(size=count)[clusters] + g.normal(size=len(clusters)), clusters.tolist()


def _cluster_mean(g: Generator, *, count: int, naive: bool) -> Estimate:
    values, clusters = clustered(g, count)
    return mean_of(values, () if naive else clusters)


def _cluster_share(g: Generator, *, count: int, naive: bool) -> Estimate:
    values, clusters = clustered(g, count)
    return share_of(values > 0, () if naive else clusters)


def _cluster_bootstrap(g: Generator, *, count: int) -> Estimate:
    values, clusters = clustered(g, count)
    return bootstrap_mean(values, clusters, count=RESAMPLES, seed=seed_of(g))


def _cluster_area(g: Generator, *, count: int, naive: bool) -> Estimate:
    values, clusters = clustered(g, count)
    good = g.random(len(values)) < 0.6
    # a shift of one in a total variance of two: area Phi(1 / sqrt(2 * 2))
    return area_under_curve(values + good, good, clusters=() if naive else clusters)


def _plain() -> Iterator[Design]:
    area = NormalDist().cdf(0.5)
    for count in (20, 40, 100):
        for naive, name in ((True, "naive"), (False, "by cluster")):
            data = f"{count} clusters of 1 to 9"
            yield Design(f"mean, {name}", data, count, 0.0, partial(_cluster_mean, count=count, naive=naive))
            share = partial(_cluster_share, count=count, naive=naive)
            yield Design(f"share, {name}", data, count, 0.5, share)
            draw = partial(_cluster_area, count=count, naive=naive)
            yield Design(f"area, {name}", data, count, area, draw)
        draw = partial(_cluster_bootstrap, count=count)
        yield Design("mean, bootstrap by cluster", data, count, 0.0, draw)


def _correlated(g: Generator, *, count: int, naive: bool = False) -> Estimate:
    x, clusters = clustered(g, count)
    # half of y is x, in what clusters share and in what they do not: r = sqrt(1/2)
    of = np.array(clusters)
    y = x + g.normal(size=count)[of] + g.normal(size=len(of))
    drawn = range(len(x)) if naive else clusters
    return bootstrap(spearman_figure(x, y), drawn, count=RESAMPLES, seed=seed_of(g))


def _effect(g: Generator, *, count: int) -> Estimate:
    values, clusters = clustered(g, count)
    side = g.random(len(values)) < 0.5
    of = np.array(clusters)
    one, other = values[side] + sqrt(0.5), values[~side]
    parts = MeanPart(one, of[side].tolist()), MeanPart(other, of[~side].tolist())
    return effect_size(*parts, seed=seed_of(g))


def _powered(g: Generator, *, count: int) -> Estimate:
    """A third of the samples of each cluster has a label; a judge that is biased upwards."""
    y, clusters = clustered(g, count)
    f = 0.5 + 0.8 * y + g.normal(0, 0.5, len(y))
    order = np.argsort(g.random(len(y)), kind="stable")
    n = len(y) // 3
    of: list[int] = [clusters[place] for place in order.tolist()]
    y, f = y[order], f[order]
    return prediction_powered_mean(y[:n], f[:n], f[n:], clusters=of)[0]


def _corrected(g: Generator, *, count: int) -> Estimate:
    """40 % are good; the judge says so of 90 % of these and of 30 % of the others; a third has labels."""
    values, clusters = clustered(g, count)
    good = values < NormalDist(0, sqrt(2)).inv_cdf(0.4)
    said = np.where(good, g.random(len(good)) < 0.9, g.random(len(good)) < 0.3)
    order = np.argsort(g.random(len(good)), kind="stable")
    n = len(good) // 3
    of: list[int] = [clusters[place] for place in order.tolist()]
    good, said = good[order], said[order]
    try:
        return corrected_share(good[:n].tolist(), said[:n].tolist(), said[n:].tolist(), of)
    except ConfigError:  # what the judge tells cannot be told from nothing
        return Estimate(None)


def designs() -> Iterator[Design]:
    """Each interval by cluster."""
    yield from _plain()
    for count in (20, 40, 100):
        data = f"{count} clusters of 1 to 9"
        spearman = 6 / pi * asin(sqrt(0.5) / 2)
        draws = (
            ("spearman, naive", "r 0.71", spearman, partial(_correlated, count=count, naive=True)),
            ("spearman by cluster", "r 0.71", spearman, partial(_correlated, count=count)),
            # a shift of half a standard deviation: sqrt(1/2) of sqrt(2)
            ("effect size by cluster", "d 0.5", 0.5, partial(_effect, count=count)),
            ("prediction-powered by cluster", "a third labelled", 0.0, partial(_powered, count=count)),
            ("corrected mean by cluster", "a third labelled", 0.4, partial(_corrected, count=count)),
        )
        for name, more, truth, draw in draws:
            yield Design(name, f"{data}, {more}", count, truth, draw)
