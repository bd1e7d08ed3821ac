"""The sign-flip permutation test of paired differences: exact where it can be, else by many random flips."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._cluster_errors import cluster_codes
from ragmetrics_core.study._distributions import binomial_test

__all__ = ["FLIPS", "sign_flip"]

# Random flips where not all of them are counted; p is known to about 0.002 near 0.05.
FLIPS = 10_000

# All 2^18 flips are counted up to this many differences.
_EXACT = 18

_BATCH = 1_000_000

# So many differences of each size, on the average, are many.
_FEW_SIZES = 20

Array = NDArray[np.float64]


def sign_flip(
    differences: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    count: int = FLIPS,
    seed: int = 0,
) -> float | None:
    r"""Two-sided p that paired differences are as likely to fall on either side of zero.

    .. math:: p = P\left(\left|\sum_i \epsilon_i d_i\right| \ge \left|\sum_i d_i\right|\right), \quad
        \epsilon_i = \pm 1

    Differences of zero change nothing, whatever their sign. Where all others are of one size, as of yes/no
    scores, it is the exact test of McNemar; up to 18 of them every flip is counted; beyond, `count` random
    flips, of which the data are one, so that p is never 0. No distribution is assumed, and ties need no
    correction. 1 when all differences are zero. Undefined (`None`) without a difference.

    Args:
        differences: one for each pair.
        clusters: each pair's cluster; the differences of one cluster are flipped together.
        count: random flips.
        seed: of the random flips.

    References:
        Fisher (1935), "The Design of Experiments", section 21; Phipson and Smyth (2010), "Permutation
        P-values Should Never Be Zero", Statistical Applications in Genetics and Molecular Biology 9(1).

    >>> sign_flip([1, 1, 1, 1, 1, 0, 0])  # 2 of 2^5 flips
    0.0625
    """
    array = np.asarray(differences, dtype=float)
    if not len(array):
        return None
    if clusters is not None:
        array = np.bincount(cluster_codes(clusters), weights=array)
    # 2/3 - 1/3 and 1 - 2/3 are one difference, though in floats they are not equal
    moved: Array = np.round(array, 12).astype(float)
    moved = moved[moved != 0]
    if not len(moved):
        return 1.0
    if np.ptp(np.abs(moved)) == 0:
        return binomial_test(int((moved > 0).sum()), len(moved))
    reached = abs(float(moved.sum())) - 1e-9
    if len(moved) <= _EXACT:
        sums = np.zeros(1)
        for each in moved[1:]:  # the first sign is kept: the other half of the flips is this one's mirror
            sums = np.concatenate([sums + each, sums - each])
        return float((np.abs(sums + moved[0]) >= reached).mean())
    hits = 1 + sum(int((np.abs(sums) >= reached).sum()) for sums in _flipped(moved, count, seed))
    return hits / (count + 1)


def _flipped(differences: Array, count: int, seed: int) -> Iterator[Array]:
    """The sums of so many random flips, in batches."""
    generator = np.random.default_rng(seed)
    sizes, times = np.unique(np.abs(differences), return_counts=True)
    # of many differences of one size it only counts how many are positive
    are_few = _FEW_SIZES * len(sizes) <= len(differences)
    rows = max(1, _BATCH // (len(sizes) if are_few else len(differences)))
    while count > 0:
        size = min(rows, count)
        # a sum of signed differences is twice that of the positive ones, less all
        if are_few:
            positive = generator.binomial(times, 0.5, size=(size, len(sizes))).astype(float)
            yield 2 * (positive @ sizes) - float((times * sizes).sum())
        else:
            signs = generator.integers(0, 2, size=(size, len(differences)), dtype=np.int8)
            yield 2 * (signs @ differences) - differences.sum()
        count -= rows
