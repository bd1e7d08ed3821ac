"""The standard error of figures whose samples are clustered, and its degrees of freedom."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ClusterSpread", "MeanPart", "cluster_codes", "cluster_spread", "worth_of_clusters"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class MeanPart(NamedTuple):
    """Samples whose mean is a part of a figure.

    Attributes:
        values: one number for each sample; its mean is taken off.
        clusters: each sample's cluster; a cluster may have samples in several parts.
        weight: how much the mean counts: 1 and -1 make a difference.
    """

    values: ArrayLike
    clusters: Sequence[Hashable]
    weight: float = 1.0


class ClusterSpread(NamedTuple):
    """The standard error of a figure, its degrees of freedom, and how many clusters it rests on."""

    error: float
    df: float
    clusters: int


def cluster_codes(clusters: Sequence[Hashable]) -> Indices:
    """Each sample's cluster as a number from 0, in the order of their first sample.

    >>> cluster_codes(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(each, len(places)) for each in clusters], dtype=np.intp)


def cluster_spread(*parts: MeanPart) -> ClusterSpread:
    r"""The error of a weighted sum of means, from what each cluster adds to it.

    .. math:: \mathrm{se}^2 = \sum_{g=1}^{G} \Big(\sum_k \frac{w_k / n_k}{\sqrt{1 - n_{kg} / n_k}}
        \sum_{i \in g, k} (x_i - \bar x_k)\Big)^2, \qquad
        \nu = \frac{(\sum_g v_g)^2}{\sum_g v_g^2} - 1, \quad
        v_g = (1 - \rho) \sum_{i \in g} c_i^2 + \rho \Big(\sum_{i \in g} c_i\Big)^2

    for parts k of :math:`n_k` samples, of which :math:`n_{kg}` are in cluster g, :math:`c_i = w_k s_k / n_k`
    with the part's standard deviation :math:`s_k`, and the correlation :math:`\rho` of two samples of one
    cluster. The root is the correction CR2 of Bell and McCaffrey, without which few clusters seem to spread
    too little. :math:`\nu` counts the clusters by what they weigh: one of nine samples tells more of the
    error than one of a single sample, and G - 1 would be too many. It is G - 1 for clusters of one size. With
    samples that are each their own cluster, all is as usual. At least 1; 0 below two clusters.

    References:
        Bell and McCaffrey (2002), Survey Methodology 28(2), 169-181; Carter, Schnepel, Steigerwald (2017),
        Review of Economics and Statistics 99(4), 698-709; Miller (2024), "Adding Error Bars to Evals",
        https://arxiv.org/abs/2411.00640, section 2.2.
    """
    columns = [_columns(part) for part in parts if len(part.clusters)]
    codes = cluster_codes([each for part in parts for each in part.clusters])
    count = len(set(codes.tolist()))
    if count < 2:
        return ClusterSpread(0.0, 0.0, count)

    def summed(numbers: Array) -> Array:
        return np.bincount(codes, weights=numbers).astype(np.float64)

    added, alike, weights = (np.concatenate(each) for each in zip(*columns, strict=True))
    among = summed(alike) ** 2 - summed(alike**2)
    sizes = summed((alike != 0).astype(float))
    pairs, whole = float((sizes * (sizes - 1)).sum()), float((alike**2).sum())
    rho = float(np.clip(among.sum() / pairs / (whole / sizes.sum()), 0, 1)) if pairs and whole else 0.0
    worth = worth_of_clusters((1 - rho) * summed(weights**2) + rho * summed(weights) ** 2)
    return ClusterSpread(sqrt(float((summed(added) ** 2).sum())), max(1.0, worth - 1), count)


def _columns(part: MeanPart) -> tuple[Array, Array, Array]:
    """Of each sample what it adds, corrected by CR2; its standardised distance from the mean; its weight."""
    values, code = np.asarray(part.values, dtype=float), cluster_codes(part.clusters)
    n, residuals = len(values), values - values.mean()
    deviation = float(residuals.std())
    # a cluster that is the whole part has no spread around the part's mean
    left = np.sqrt(np.maximum(1 - np.bincount(code) / n, 1 / n))
    added = part.weight / n * residuals / left[code]
    alike = residuals / deviation if deviation else np.zeros(n)
    return added, alike, np.full(n, part.weight * deviation / n)


def worth_of_clusters(weights: ArrayLike) -> float:
    r"""How many clusters of one weight these are worth: :math:`(\sum v)^2 / \sum v^2`.

    >>> worth_of_clusters([1, 1, 1, 1]), worth_of_clusters([3, 1, 1, 1])
    (4.0, 3.0)
    """
    array = np.asarray(weights, dtype=float)
    return float(array.sum() ** 2 / (array**2).sum()) if array.any() else float(len(array))
