"""One estimator: a figure is a weighted sum of means, whose samples may belong together in clusters.

Answers of one source, turns of one session, questions of one document are no independent trials: an interval
that takes them for such is too narrow. A sample without a cluster is a cluster of its own, and with such
samples alone everything here is the usual: Student's mean, Welch's test, Wilson's share, DeLong's area.
"""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._distributions import normal_quantile, t_quantile
from ragmetrics_core.study._intervals import Estimate, wilson_of

__all__ = [
    "FEWEST_CLUSTERS",
    "Clusters",
    "MeanPart",
    "MeanSpread",
    "are_own",
    "are_too_few",
    "check_clusters",
    "cluster_codes",
    "clusters_of",
    "effective_number",
    "estimate",
    "mean_of",
    "share_of",
    "spread_of",
]

# Below this many clusters neither Student's t nor the bootstrap holds what it says.
FEWEST_CLUSTERS = 10

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Clusters = Sequence[Hashable]


class MeanPart(NamedTuple):
    """Samples whose mean is a part of a figure.

    Attributes:
        values: one number for each sample.
        clusters: each sample's cluster; a cluster may have samples in several parts.
        weight: how much the mean counts: 1 and -1 make a difference.
    """

    values: ArrayLike
    clusters: Clusters
    weight: float = 1.0

    @property
    def mean(self) -> float:
        """Of the values."""
        return float(np.mean(np.asarray(self.values, dtype=float)))

    @property
    def turned(self) -> "MeanPart":
        """The part as it is taken away."""
        return self._replace(weight=-self.weight)


class MeanSpread(NamedTuple):
    """The standard error of a figure and its degrees of freedom."""

    error: float
    df: float


def cluster_codes(clusters: Clusters) -> Indices:
    """Each sample's cluster as a number from 0, in the order of their first sample.

    >>> cluster_codes(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(each, len(places)) for each in clusters], dtype=np.intp)


def clusters_of(n: int, clusters: Clusters | None) -> Clusters:
    """The clusters of n samples, each its own where none are given."""
    return clusters if clusters is not None and len(clusters) else range(n)


def are_own(clusters: Clusters) -> bool:
    """Whether each sample is a cluster of its own."""
    return len(set(clusters)) == len(clusters)


def are_too_few(clusters: Clusters) -> bool:
    """Whether there are too few for an interval: two samples on their own, 10 clusters of several samples."""
    return len(set(clusters)) < (2 if are_own(clusters) else FEWEST_CLUSTERS)


def check_clusters(clusters: Clusters, *, by: str) -> None:
    """Refuse too few clusters.

    Raises:
        ConfigError: there are fewer than 10.
    """
    if (count := len(set(clusters))) < FEWEST_CLUSTERS:
        raise ConfigError(
            f"there are {count} clusters by {by}: an interval that knows them needs {FEWEST_CLUSTERS} or more"
        )


def spread_of(*parts: MeanPart) -> MeanSpread:
    r"""The error of a weighted sum of means, from what each cluster adds to it.

    .. math:: \mathrm{se}^2 = \sum_{g=1}^{G} \Big(\sum_k \frac{w_k / n_k}{\sqrt{1 - n_{kg} / n_k}}
        \sum_{i \in g, k} (x_i - \bar x_k)\Big)^2, \qquad
        \nu = \frac{(\sum_g v_g)^2}{\sum_g v_g^2} - 1, \quad
        v_g = (1 - \rho) \sum_{i \in g} c_i^2 + \rho \Big(\sum_{i \in g} c_i\Big)^2

    for parts k of :math:`n_k` samples, of which :math:`n_{kg}` are in cluster g, :math:`c_i = w_k s_k / n_k`
    with the part's standard deviation :math:`s_k`, and the correlation :math:`\rho` of two samples of one
    cluster. The root is the correction CR2 of Bell and McCaffrey, without which few clusters seem to spread
    too little. :math:`\nu` counts the clusters by what they weigh: one of nine samples tells more of the
    error than one of a single sample, and G - 1 would be too many. It is G - 1 for clusters of one size.
    Where parts share no cluster their errors are apart, and the degrees are those of Welch and Satterthwaite.
    At least 1; 0 below two clusters.

    References:
        Bell and McCaffrey (2002), Survey Methodology 28(2), 169-181; Carter, Schnepel, Steigerwald (2017),
        Review of Economics and Statistics 99(4), 698-709; Miller (2024), "Adding Error Bars to Evals",
        https://arxiv.org/abs/2411.00640, section 2.2; Welch (1947), Biometrika 34, 28-35.
    """
    together: list[tuple[set[Hashable], list[MeanPart]]] = []
    for part in parts:
        clusters, members = set(part.clusters), [part]
        apart: list[tuple[set[Hashable], list[MeanPart]]] = []
        for known, others in together:
            if clusters & known:
                clusters, members = clusters | known, [*others, *members]
            else:
                apart.append((known, others))
        together = [*apart, (clusters, members)]
    spreads = [_joint(members) for _, members in together]
    variance = sum(each.error**2 for each in spreads)
    below = sum(each.error**4 / each.df for each in spreads if each.df)
    return MeanSpread(sqrt(variance), variance**2 / below if below else min(each.df for each in spreads))


def _joint(parts: Sequence[MeanPart]) -> MeanSpread:
    """The error of parts that share clusters."""
    codes = cluster_codes([each for part in parts for each in part.clusters])
    if len(codes) == 0 or codes.max() == 0:
        return MeanSpread(0.0, 0.0)

    def summed(numbers: Array) -> Array:
        return np.bincount(codes, weights=numbers).astype(np.float64)

    columns = zip(*(_columns(part) for part in parts if len(part.clusters)), strict=True)
    added, alike, weights = (np.concatenate(each) for each in columns)
    among = summed(alike) ** 2 - summed(alike**2)
    sizes = summed((alike != 0).astype(float))
    pairs, whole = float((sizes * (sizes - 1)).sum()), float((alike**2).sum())
    rho = float(np.clip(among.sum() / pairs / (whole / sizes.sum()), 0, 1)) if pairs and whole else 0.0
    worth = effective_number((1 - rho) * summed(weights**2) + rho * summed(weights) ** 2)
    return MeanSpread(sqrt(float((summed(added) ** 2).sum())), max(1.0, worth - 1))


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


def effective_number(weights: ArrayLike) -> float:
    r"""How many of one weight these are worth: :math:`(\sum v)^2 / \sum v^2`.

    >>> effective_number([1, 1, 1, 1]), effective_number([3, 1, 1, 1])
    (4.0, 3.0)
    """
    array = np.asarray(weights, dtype=float)
    return float(array.sum() ** 2 / (array**2).sum()) if array.any() else float(len(array))


def estimate(*parts: MeanPart, level: float = 0.95, bound: int = 0) -> Estimate:
    """The weighted sum of the parts' means, with Student's interval.

    Undefined (None) where a part is empty; no interval (None) below two samples or 10 clusters in a part.

    Args:
        parts: what the figure is the sum of.
        level: confidence.
        bound: the first so many parts limit the degrees of freedom, to those that they have alone, and must
            have clusters enough; the others may have few.
    """
    if not all(len(part.clusters) for part in parts):
        return Estimate(None)
    value = sum(part.weight * part.mean for part in parts)
    if any(are_too_few(part.clusters) for part in parts[: bound or None]):
        return Estimate(value)
    spread = spread_of(*parts)
    df = min(spread.df, spread_of(*parts[:bound]).df) if bound else spread.df
    half = t_quantile(0.5 + level / 2, df) * spread.error
    return Estimate(value, value - half, value + half)


def mean_of(values: ArrayLike, clusters: Clusters = (), *, level: float = 0.95) -> Estimate:
    r"""The mean of values with Student's interval.

    .. math:: \bar x \pm t_{n-1} \, s / \sqrt n

    It takes the mean to be normal, which for scores that pile up at 0 and 1 it is from about 30 values on
    (benchmarks/coverage prints how well it covers). No interval (None) for fewer than two values, and below
    10 clusters of several.

    Args:
        values: the numbers.
        clusters: each value's cluster; without it each is on its own.
        level: confidence.

    >>> values = [0.0, 1.0] * 10
    >>> str(mean_of(values, [place // 2 for place in range(20)]))  # every cluster has one of each
    '0.500 (0.500, 0.500)'
    """
    array = np.asarray(values, dtype=float)
    return estimate(MeanPart(array, clusters_of(len(array), clusters)), level=level)


def share_of(flags: ArrayLike, clusters: Clusters = (), *, level: float = 0.95) -> Estimate:
    r"""The share of samples that are so, with Wilson's interval for the number that the clusters are worth.

    .. math:: n^* = p (1 - p) / \mathrm{se}^2

    at most the n that there are, with Student's quantile in place of the normal's (see `spread_of`). Where
    all samples agree nothing is known of their clusters' spread, and each cluster counts as one sample.
    Samples on their own are worth what they are, and nothing is estimated. Undefined (None) without a
    sample; no interval (None) below 10 clusters of several.
    """
    array = np.asarray(flags, dtype=float)
    clusters = clusters_of(len(array), clusters)
    if not len(array):
        return Estimate(None)
    share, worth = float(array.mean()), float(len(array))
    if are_own(clusters):
        return wilson_of(share, worth, normal_quantile(0.5 + level / 2))
    if are_too_few(clusters):
        return Estimate(share)
    spread = spread_of(MeanPart(array, clusters))
    if share in (0.0, 1.0):
        worth = float(len(set(clusters)))
    if spread.error:
        worth = min(worth, share * (1 - share) / spread.error**2)
    return wilson_of(share, worth, t_quantile(0.5 + level / 2, spread.df))
