"""Pairs of scores of the same samples: their difference, its tests, and what could have been found."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._bootstrap import bootstrap_mean
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_spread
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_mean
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._permutation import sign_flip
from ragmetrics_core.study._significance import holm

__all__ = ["PairedTests", "adjusted", "detectable_difference", "paired_difference", "paired_tests"]

Array = NDArray[np.float64]
Clusters = Sequence[Hashable] | None

_POWER = 0.8


class PairedTests(NamedTuple):
    """The tests of one metric in two runs.

    Attributes:
        scores: p of the sign-flip test of the differences.
        passes: p of McNemar's test of the samples that changed sides of a threshold.
        is_one: whether the two are one test, as they are of yes/no scores.
    """

    scores: float | None
    passes: float | None
    is_one: bool


def paired_difference(
    differences: Array, *, clusters: Clusters = None, level: float = 0.95, seed: int = 0
) -> Estimate:
    """The mean difference: its bootstrap interval, or Student's by cluster."""
    if clusters is not None:
        return cluster_mean(differences, clusters, level=level)
    return bootstrap_mean(differences, level=level, seed=seed)


def paired_tests(
    differences: Array, changes: Array, *, clusters: Clusters = None, seed: int = 0
) -> PairedTests:
    """Test the differences, and the changes of sides: 1 gained, -1 lost, 0 where none changed.

    Without clusters the second is McNemar's exact test; with them its signs are flipped by cluster.
    """
    sizes = np.abs(np.round(differences, 12))
    is_one = bool(((sizes > 0) == (changes != 0)).all()) and len(np.unique(sizes[sizes > 0])) <= 1
    of_scores = sign_flip(differences, clusters=clusters, seed=seed)
    of_passes = of_scores if is_one else sign_flip(changes, clusters=clusters, seed=seed)
    return PairedTests(of_scores, of_passes, is_one)


def adjusted(tests: Sequence[PairedTests]) -> list[PairedTests]:
    """The tests of all metrics with Holm's adjustment, as one family; what is one test counts once."""
    flat = [p for each in tests for p in (each.scores, None if each.is_one else each.passes)]
    ps = holm(flat)
    return [
        PairedTests(of_scores, of_scores if each.is_one else of_passes, each.is_one)
        for each, of_scores, of_passes in zip(tests, ps[::2], ps[1::2], strict=True)
    ]


def family_size(tests: Sequence[PairedTests]) -> int:
    """How many different tests there are."""
    return sum((each.scores is not None) + (each.passes is not None and not each.is_one) for each in tests)


def detectable_difference(
    differences: Array, *, tests: int = 1, clusters: Clusters = None, alpha: float = 0.05
) -> float | None:
    r"""The difference that is told four times in five, with this n, spread and number of tests.

    .. math:: (t_{1-\alpha/2m} + t_{0.8}) \, \mathrm{se} + c / n

    with n - 1 degrees of freedom (with clusters those of `cluster_spread`). m is the number of tests in the
    family: in the worst case Holm holds the smallest p to :math:`\alpha / m`. A difference must also have
    an interval on one side of zero; that asks for no more than :math:`m = 1`, so that the test decides. c is
    the size of the differences where all that are not zero have one, as of yes/no scores: the exact test
    moves in steps.
    Undefined (`None`) without spread, for fewer than two pairs, and below 10 clusters.
    """
    n = len(differences)
    if n < 2:
        return None
    error, df, groups = cluster_spread(MeanPart(differences, range(n) if clusters is None else clusters))
    # no spread was seen, which tells nothing of the spread that there is
    if not error or (clusters is not None and groups < FEWEST_CLUSTERS):
        return None
    sizes = np.unique(np.abs(np.round(differences, 12)))
    moved = sizes[sizes > 0]
    step = float(moved[0]) / n if len(moved) == 1 and clusters is None else 0.0
    return (t_quantile(1 - alpha / (2 * max(tests, 1)), df) + t_quantile(_POWER, df)) * error + step
