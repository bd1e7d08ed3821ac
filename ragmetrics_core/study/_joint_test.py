"""The joint permutation test of several systems: all pairs at once, with one adjustment."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._estimates import Estimate, MeanPart
from ragmetrics_core.study._tests import FLIPS

__all__ = ["Tested", "joint_test"]

Array = NDArray[np.float64]

# Numbers of one batch of permutations.
_BATCH = 500_000

Tested = tuple[Sequence[Sequence[Estimate]], Sequence[Sequence[float | None]]]
"""Of each figure and each pair of systems, in the order of `combinations`: the difference with its interval,
first less second, and the adjusted p."""


def joint_test(
    figures: Sequence[Sequence[Sequence[MeanPart]]],
    *,
    alpha: float = 0.05,
    count: int = FLIPS,
    seed: int = 0,
) -> Tested:
    r"""Test each pair of systems by permuting the systems within each question.

    .. math:: t_{ab} = \frac{|\hat\theta_a - \hat\theta_b|}{\mathrm{se}_{ab}}, \quad
        \mathrm{se}_{ab}^2 = \sum_g (u_{ga} - u_{gb})^2, \quad
        p_{ab} = P\Big(\max_{c,d} t^*_{cd} \ge t_{ab}\Big)

    :math:`\hat\theta_a` is the weighted sum of the means of the system's parts, and :math:`u_{ga}` what
    cluster g adds to its error: the weighted deviations from the part's mean, divided by the part's number.
    If the systems do not differ, the answers to a question could as well have come from one another; so each
    permutation draws an order of the systems for each cluster of questions, and all questions of the cluster
    follow it. The largest t of all pairs and figures makes one adjustment for all of them. No distribution is
    assumed, and p is exact if no system differs, up to the random draws, of which the data are one. Each pair
    has its own error, so p also holds approximately for two equal systems beside others that differ. The
    interval is :math:`\hat\theta_a - \hat\theta_b \pm q \, \mathrm{se}_{ab}` with the
    :math:`1 - \alpha` quantile q of the largest t; all intervals hold together.

    Args:
        figures: of each figure and system its parts, as many for each system; the clusters are the questions,
            or clusters of them, which systems share.
        alpha: significance level of the intervals.
        count: random permutations.
        seed: of the permutations.

    References:
        Westfall and Young (1993), "Resampling-Based Multiple Testing"; Chung and Romano (2013), Annals of
        Statistics 41(2), 484-507 (studentized permutation tests).
    """
    clusters = dict.fromkeys(
        each for systems in figures for parts in systems for part in parts for each in part.clusters
    )
    places = {cluster: place for place, cluster in enumerate(clusters)}
    tables = [_table(systems, places) for systems in figures]
    systems = len(figures[0])
    pairs = np.array(list(combinations(range(systems), 2))).T
    found = [_differences(table, np.tile(np.arange(systems), (1, len(places), 1)), pairs) for table in tables]
    observed = np.concatenate([_ratios(*each)[0] for each in found])
    largest = [np.array([observed.max()])]
    for orders in _orders(systems, len(places), count, seed):
        drawn = [_ratios(*_differences(table, orders, pairs)) for table in tables]
        largest.append(np.concatenate(drawn, axis=1).max(axis=1))
    maxima = np.concatenate(largest)
    p = [float((maxima >= ratio * (1 - 1e-9)).mean()) for ratio in observed]
    limit = float(np.quantile(maxima, 1 - alpha, method="higher"))
    differences: list[list[Estimate]] = []
    for values, errors in found:
        halves = zip(values[0].tolist(), (limit * errors[0]).tolist(), strict=True)
        # no spread, or too few clusters for any limit, tells nothing of the error
        differences.append(
            [
                Estimate(value, value - half, value + half) if 0 < half < np.inf else Estimate(value)
                for value, half in halves
            ]
        )
    return differences, [p[start : start + pairs.shape[1]] for start in range(0, len(p), pairs.shape[1])]


def _table(systems: Sequence[Sequence[MeanPart]], places: Mapping[Hashable, int]) -> Array:
    """Number and weighted sum of the values: by part, cluster and system."""
    parts, n = len(systems[0]), len(places)
    table = np.zeros((parts, 2, n, len(systems)))
    for column, of_system in enumerate(systems):
        for place, part in enumerate(of_system):
            codes = [places[each] for each in part.clusters]
            table[place, 0, :, column] = np.bincount(codes, minlength=n)
            weights = part.weight * np.asarray(part.values, dtype=float)
            table[place, 1, :, column] = np.bincount(codes, weights, minlength=n)
    return table


def _orders(systems: int, clusters: int, count: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Random orders of the systems in each cluster, in batches."""
    generator = np.random.default_rng(seed)
    rows = max(1, _BATCH // (systems * clusters))
    for start in range(0, count, rows):
        yield generator.random((min(rows, count - start), clusters, systems)).argsort(axis=2)


def _differences(table: Array, orders: NDArray[np.intp], pairs: NDArray[np.intp]) -> tuple[Array, Array]:
    """The differences of the pairs, and their errors, for each order."""
    figure, errors = np.zeros((len(orders), orders.shape[2])), np.zeros(orders.shape)
    for part in table:
        numbers, sums = (np.take_along_axis(each[None], orders, axis=2) for each in part)
        n = numbers.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = sums.sum(axis=1, keepdims=True) / n
            figure += mean[:, 0]
            errors += (sums - mean * numbers) / n
    one, other = pairs
    products = np.matmul(errors.transpose(0, 2, 1), errors)
    variance = products[:, one, one] + products[:, other, other] - 2 * products[:, one, other]
    variance[variance < 1e-18] = 0.0
    return figure[:, one] - figure[:, other], np.sqrt(variance)


def _ratios(differences: Array, errors: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Array = np.abs(differences) / errors
    ratios[np.abs(differences) < 1e-12] = 0.0
    # an order that leaves a system without a value counts against a difference
    return np.nan_to_num(ratios, nan=np.inf)
