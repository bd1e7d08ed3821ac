"""The joint permutation test of several systems: all pairs at once, with one adjustment."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._estimates import Estimate, cluster_codes
from ragmetrics_core.study._tests import FLIPS

__all__ = ["JointTest", "Part", "joint_test"]

Array = NDArray[np.float64]

# Up to so many permutations, each of them is counted.
_EXACT = 50_000

# Numbers of one batch of permutations.
_BATCH = 500_000


class Part(NamedTuple):
    """Samples whose mean is part of each system's figure; the figure is the sum over the parts.

    Attributes:
        values: a row for each question, a column for each system; NaN where a system has none.
        clusters: cluster of each question.
    """

    values: Array
    clusters: Sequence[object]


class JointTest(NamedTuple):
    """All pairs of systems in all figures, tested together.

    Attributes:
        differences: of each figure and each pair (first minus second, in the order of `combinations`), the
            difference with its interval; the intervals of all pairs hold together.
        p: likewise the adjusted p.
    """

    differences: tuple[tuple[Estimate, ...], ...]
    p: tuple[tuple[float, ...], ...]


def joint_test(
    figures: Sequence[Sequence[Part]], *, alpha: float = 0.05, count: int = FLIPS, seed: int = 0
) -> JointTest:
    r"""Test each pair of systems by permuting the systems within each question.

    .. math:: t_{ab} = \frac{|\hat\theta_a - \hat\theta_b|}{\mathrm{se}_{ab}}, \quad
        \mathrm{se}_{ab}^2 = \sum_g (u_{ga} - u_{gb})^2, \quad
        p_{ab} = P\Big(\max_{c,d} t^*_{cd} \ge t_{ab}\Big)

    :math:`\hat\theta_a` is the sum over the parts of the mean of the system's values, :math:`u_{ga}` what
    cluster g adds to its error: the sum over the parts of the deviations from the part's mean, divided by
    their number. If the systems do not differ, the answers to a question could as well have come from one
    another; so each permutation draws an order of the systems for each cluster of questions, and all
    questions of the cluster follow it. The largest t of all pairs and figures makes one adjustment for all
    of them. It takes no distribution for granted, and p is exact if no system differs. The errors are those
    of each pair, so that it also holds approximately for two equal systems beside others that differ. The
    interval is :math:`\hat\theta_a - \hat\theta_b \pm q \, \mathrm{se}_{ab}` with the
    :math:`1 - \alpha` quantile q of the largest t. Up to 50,000 permutations are all counted; of more,
    `count` are drawn, and the data are one of them.

    References:
        Westfall and Young (1993), "Resampling-Based Multiple Testing"; Chung and Romano (2013), Annals of
        Statistics 41(2), 484-507 (studentized permutation tests).
    """
    names = [cluster for parts in figures for part in parts for cluster in part.clusters]
    blocks = int(cluster_codes(names).max()) + 1
    codes, start = cluster_codes(names), 0
    sums: list[list[Array]] = []
    for parts in figures:
        sums.append([])
        for part in parts:
            of_part = codes[start : start + len(part.clusters)]
            start += len(part.clusters)
            sums[-1].append(_summed(part.values, of_part, blocks))
    systems = figures[0][0].values.shape[1]
    pairs = np.array(list(combinations(range(systems), 2)))
    plain = np.tile(np.arange(systems), (1, blocks, 1))
    found = [_differences(of_figure, plain, pairs) for of_figure in sums]
    observed = np.concatenate([_ratios(*each) for each in found], axis=1)[0]
    largest: list[Array] = []
    for orders in _orders(systems, blocks, count, seed):
        drawn = [_ratios(*_differences(of_figure, orders, pairs)) for of_figure in sums]
        largest.append(np.concatenate(drawn, axis=1).max(axis=1))
    maxima = np.concatenate(largest)
    # a permutation that leaves a system without values counts as one that reaches
    reached = ~(maxima[:, None] < observed * (1 - 1e-9))
    p = reached.mean(axis=0).reshape(len(figures), -1)
    limit = float(np.quantile(np.nan_to_num(maxima, nan=np.inf), 1 - alpha, method="higher"))
    differences = tuple(
        tuple(_interval(value, limit * error) for value, error in zip(values[0], errors[0], strict=True))
        for values, errors in found
    )
    return JointTest(differences, tuple(map(tuple, p.tolist())))


def _interval(value: float, half: float) -> Estimate:
    value, half = float(value), float(half)
    return Estimate(value, value - half, value + half) if 0 < half < np.inf else Estimate(value)


def _summed(values: Array, codes: NDArray[np.intp], blocks: int) -> Array:
    """Number and sum of the values of each cluster and system."""
    known = np.isfinite(values)
    summed = np.zeros((2, blocks, values.shape[1]))
    np.add.at(summed[0], codes, known.astype(float))
    np.add.at(summed[1], codes, np.where(known, values, 0.0))
    return summed


def _orders(systems: int, blocks: int, count: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Orders of the systems in each cluster, in batches: every one, or random ones after that of the data."""
    each = list(permutations(range(systems))) if systems <= 8 else []
    # the order in the first cluster only names the systems
    if each and (blocks - 1) * np.log(factorial(systems)) <= np.log(_EXACT):
        yield np.array([(each[0], *more) for more in product(each, repeat=blocks - 1)])
        return
    yield np.tile(np.arange(systems), (1, blocks, 1))
    generator = np.random.default_rng(seed)
    rows = max(1, _BATCH // (systems * blocks))
    for start in range(0, count, rows):
        yield generator.random((min(rows, count - start), blocks, systems)).argsort(axis=2)


def _differences(
    parts: Sequence[Array], orders: NDArray[np.intp], pairs: NDArray[np.intp]
) -> tuple[Array, Array]:
    """The differences of the pairs, and their errors, for each order."""
    systems = orders.shape[2]
    figure, errors = np.zeros((len(orders), systems)), np.zeros(orders.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        for numbers, values in parts:
            counted, summed = (np.take_along_axis(each[None], orders, axis=2) for each in (numbers, values))
            n = counted.sum(axis=1)
            mean = summed.sum(axis=1) / n
            figure += mean
            errors += (summed - mean[:, None, :] * counted) / n[:, None, :]
    products = np.matmul(errors.transpose(0, 2, 1), errors)
    one, other = pairs[:, 0], pairs[:, 1]
    variance = products[:, one, one] + products[:, other, other] - 2 * products[:, one, other]
    variance[variance < 1e-18] = 0.0
    return figure[:, one] - figure[:, other], np.sqrt(variance)


def _ratios(differences: Array, errors: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Array = np.abs(differences) / errors
    ratios[np.abs(differences) < 1e-12] = 0.0
    return ratios
