"""Agreement of two raters whose units belong together, beside intervals that take them for independent."""

from collections.abc import Iterator
from functools import partial
from math import sqrt

import numpy as np
from numpy.random import Generator

from benchmarks.coverage.design import RESAMPLES, Design, seed_of
from ragmetrics_core.study._estimates import Estimate
from ragmetrics_core.study._reliability import krippendorff_alpha, weighted_kappa

__all__ = ["designs"]

_LIKERT = np.arange(1.0, 6.0)
_POPULATION = np.array([0.15, 0.15, 0.2, 0.2, 0.3])
# where a normal distribution of variance 2 has these shares below: of 0.15, 0.3, 0.5 and 0.7
_CUTS = sqrt(2) * np.array([-1.0364334, -0.5244005, 0.0, 0.5244005])

# A rater sees the true value of units of a clear cluster with 0.9, of a doubtful one with 0.3. What both see
# they agree on, else they draw independently of one distribution: kappa and alpha are the mean of q^2.
_SEEN = (0.9, 0.3)
_TRUTH = (0.9**2 + 0.3**2) / 2


def _rated(g: Generator, count: int) -> tuple[list[float], list[float], list[int]]:
    """Clusters of 1 to 9 units, which share half of the true value's variance and how clear they are."""
    clusters = np.repeat(np.arange(count), g.integers(1, 10, count))
    true = _LIKERT[
        np.searchsorted(_CUTS, g.normal(size=count)[clusters] + g.normal(size=len(clusters)), side="right")
    ]
    seen = g.choice(_SEEN, count)[clusters]
    one, other = (
        np.where(g.random(len(true)) < seen, true, g.choice(_LIKERT, len(true), p=_POPULATION))
        for _ in range(2)
    )
    return one.tolist(), other.tolist(), clusters.tolist()


def _kappa(g: Generator, *, count: int, naive: bool) -> Estimate:
    one, other, clusters = _rated(g, count)
    of = () if naive else clusters
    return weighted_kappa(one, other, clusters=of, count=RESAMPLES, seed=seed_of(g)).value


def _alpha(g: Generator, *, count: int, naive: bool) -> Estimate:
    one, other, clusters = _rated(g, count)
    units, of = list(zip(one, other, strict=True)), () if naive else clusters
    return krippendorff_alpha(units, level="interval", clusters=of, count=RESAMPLES, seed=seed_of(g)).value


def designs() -> Iterator[Design]:
    """Kappa and alpha, naive and by cluster."""
    for count in (20, 40, 100):
        for naive, name in ((True, "naive"), (False, "by cluster")):
            data = f"{count} clusters of 1 to 9 units"
            for figure, draw in (("weighted kappa", _kappa), ("alpha", _alpha)):
                how = partial(draw, count=count, naive=naive)
                yield Design(f"{figure}, {name}", data, count, _TRUTH, how)
