"""One estimator: a figure is a weighted sum of means, whose samples may belong together in clusters.

Answers from one source, turns of one session and questions on one document are not independent: an interval
that assumes independence is too narrow. A sample without a cluster is its own cluster. If all samples are,
results are the usual ones: Student's mean, Welch's test, Wilson's share, DeLong's area.
"""

from collections.abc import Hashable, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._distributions import normal_quantile, t_quantile

__all__ = [
    "FEWEST_CLUSTERS",
    "Clusters",
    "Estimate",
    "MeanPart",
    "MeanSpread",
    "Summary",
    "are_singletons",
    "are_too_few",
    "check_clusters",
    "cluster_codes",
    "clusters_of",
    "effective_number",
    "estimate",
    "is_share",
    "mean_of",
    "score_mean",
    "share_of",
    "spread_of",
    "summary_of",
    "wilson_interval",
    "wilson_of",
]


class Estimate(NamedTuple):
    """A figure with its interval; None if undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The figure in short: "0.750 (0.600, 0.860)"."""
        return format(self, ".3f")

    def __format__(self, digits: str) -> str:
        """The figure with a number format: `f"{figure:.2f}"`, or with its sign `f"{figure:+z.2f}"`."""
        if self.value is None:
            return "none"
        value, *ends = (format(each, digits or ".3f") for each in self if each is not None)
        return f"{value} ({', '.join(ends)})" if len(ends) == 2 else value

    @property
    def width(self) -> float | None:
        """Full width of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def side(self) -> int:
        """Side of zero on which the whole interval lies: 1 or -1; 0 if it contains zero or is missing."""
        return 0 if self.low is None or self.high is None else (self.low > 0) - (self.high < 0)

    def __neg__(self) -> "Estimate":
        """The figure on the other side of zero."""
        value, low, high = (None if each is None else -each for each in self)
        return Estimate(value, high, low)


class Summary(NamedTuple):
    """Mean, standard deviation (n - 1) and number of values of a group."""

    mean: float
    sd: float
    n: int


def summary_of(values: Sequence[float]) -> Summary | None:
    """Mean, sd and n of values; None if there are none. The sd of a single value is 0.

    >>> summary_of([0.0, 1.0, 1.0, 1.0])
    Summary(mean=0.75, sd=0.5, n=4)
    """
    if not len(values):
        return None
    array = np.asarray(values, dtype=float)
    return Summary(float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else 0.0, len(array))


def wilson_interval(successes: int, n: int, *, level: float = 0.95) -> Estimate:
    r"""A share with Wilson's score interval, which stays within [0, 1] and is honest near its ends.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Undefined (None) when n is 0.

    References:
        Wilson (1927), JASA 22(158), 209-212; Brown, Cai, DasGupta (2001), Statistical Science 16(2).

    >>> str(wilson_interval(8, 10))
    '0.800 (0.490, 0.943)'
    """
    return wilson_of(successes / n, n, normal_quantile(0.5 + level / 2)) if n else Estimate(None)


def wilson_of(share: float, n: float, z: float) -> Estimate:
    """Wilson's interval of a share of n trials, which may be an effective number, for a quantile z."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # at the ends the formula gives 0 and 1 up to rounding
    return Estimate(share, 0.0 if share == 0 else middle - half, 1.0 if share == 1 else middle + half)


# Below this many clusters neither Student's t nor the bootstrap holds what it says.
FEWEST_CLUSTERS = 10

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Clusters = Sequence[Hashable]


class MeanPart(NamedTuple):
    """Samples whose mean is part of a figure.

    Attributes:
        values: a number for each sample.
        clusters: cluster of each sample; a cluster may have samples in several parts.
        weight: weight of the mean: 1 and -1 make a difference.
    """

    values: ArrayLike
    clusters: Clusters
    weight: float = 1.0

    @property
    def mean(self) -> float:
        """Of the values."""
        return float(np.mean(np.asarray(self.values, dtype=float)))

    @property
    def subtracted(self) -> "MeanPart":
        """The part with the opposite weight, for a difference."""
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


def are_singletons(clusters: Clusters) -> bool:
    """Whether every cluster has one sample."""
    return len(set(clusters)) == len(clusters)


def are_too_few(clusters: Clusters) -> bool:
    """Whether there are too few for an interval: two samples on their own, 10 clusters of several samples."""
    return len(set(clusters)) < (2 if are_singletons(clusters) else FEWEST_CLUSTERS)


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
    r"""Effective number of these weights: :math:`(\sum v)^2 / \sum v^2`.

    >>> effective_number([1, 1, 1, 1]), effective_number([3, 1, 1, 1])
    (4.0, 3.0)
    """
    array = np.asarray(weights, dtype=float)
    return float(array.sum() ** 2 / (array**2).sum()) if array.any() else float(len(array))


def estimate(
    *parts: MeanPart, level: float = 0.95, bound: int = 0, ends: tuple[float, float] = (-inf, inf)
) -> Estimate:
    r"""The weighted sum of the parts' means, with Student's interval.

    Undefined (None) where a part is empty; no interval (None) below two samples or 10 clusters in a part.
    A sum that is the mean of a range stays within it: on the range as 0 to 1, the interval is Wilson's with
    Student's quantile for

    .. math:: n^* = \max(\nu + 1, \, p (1 - p) / \mathrm{se}^2)

    samples, for no values spread more than yes and no; without spread for :math:`\nu + 1`.

    Args:
        parts: parts of the sum.
        level: confidence level.
        ends: of the range; without one the interval is Student's.
        bound: number of leading parts that limit the degrees of freedom to their own and must have enough
            clusters; the others may have few.
    """
    if not all(len(part.clusters) for part in parts):
        return Estimate(None)
    value = min(ends[1], max(ends[0], sum(part.weight * part.mean for part in parts)))
    if any(are_too_few(part.clusters) for part in parts[: bound or None]):
        return Estimate(value)
    spread = spread_of(*parts)
    df = min(spread.df, spread_of(*parts[:bound]).df) if bound else spread.df
    quantile, reach = t_quantile(0.5 + level / 2, df), ends[1] - ends[0]
    if reach == inf:
        half = quantile * spread.error
        return Estimate(value, value - half, value + half)
    share = (value - ends[0]) / reach
    worth = df + 1
    if spread.error:
        worth = max(worth, share * (1 - share) * (reach / spread.error) ** 2)
    return Estimate(
        *(ends[0] + each * reach for each in wilson_of(share, worth, quantile) if each is not None)
    )


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

    at most n, with Student's quantile in place of the normal's (see `spread_of`). If all samples agree, the
    spread of clusters is unknown, and each cluster counts as one sample. For independent samples, the number
    is n. Undefined (None) without samples; no interval (None) below 10 clusters of several.
    """
    array = np.asarray(flags, dtype=float)
    clusters = clusters_of(len(array), clusters)
    if not len(array):
        return Estimate(None)
    share, worth = float(array.mean()), float(len(array))
    if are_singletons(clusters):
        return wilson_of(share, worth, normal_quantile(0.5 + level / 2))
    if are_too_few(clusters):
        return Estimate(share)
    spread = spread_of(MeanPart(array, clusters))
    if share in (0.0, 1.0):
        worth = float(len(set(clusters)))
    if spread.error:
        worth = min(worth, share * (1 - share) / spread.error**2)
    return wilson_of(share, worth, t_quantile(0.5 + level / 2, spread.df))


def score_mean(
    values: ArrayLike, clusters: Clusters = (), *, ends: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> Estimate:
    r"""The mean of scores that lie within a range.

    The interval is Student's (`mean_of`), cut off at the ends of the range. Scores that are all at one of the
    two ends are a share, with Wilson's interval. If all scores are one value c, their spread is unknown, and
    Student's interval would have no width. Then at most the share u of the population has another value,
    which may be anything in the range:

    .. math:: [\,c - u (c - \mathrm{low}), \; c + u (\mathrm{high} - c)\,]

    for the upper end u of Wilson's interval of 0 in n, or in as many as there are clusters.

    Args:
        values: the scores.
        clusters: each sample's cluster; below 10 of several samples there is no interval.
        ends: of the range; the upper one is infinite where scores have no highest value.
        level: confidence.

    >>> str(score_mean([0.0, 0.0, 0.0, 1.0])), str(score_mean([0.5] * 10))
    ('0.250 (0.046, 0.699)', '0.500 (0.361, 0.639)')
    """
    array = np.asarray(values, dtype=float)
    clusters, (low, high) = clusters_of(len(array), clusters), ends
    mean = mean_of(array, clusters, level=level)
    if are_too_few(clusters) or mean.value is None:
        return Estimate(mean.value)
    if is_share(array, ends):
        share = share_of(array == high, clusters, level=level)
        return Estimate(*(None if each is None else low + each * (high - low) for each in share))
    if np.ptp(array) == 0:
        value, others = float(array[0]), wilson_interval(0, len(set(clusters)), level=level).high or 0.0
        if high == inf or not low <= value <= high:
            return Estimate(value)
        return Estimate(value, value - others * (value - low), value + others * (high - value))
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return Estimate(mean.value)
    return Estimate(mean.value, max(mean.low, min(low, array.min())), min(mean.high, max(high, array.max())))


def is_share(values: ArrayLike, ends: tuple[float, float]) -> bool:
    """Whether all scores are at one of the two ends of their range, and some at either."""
    array = np.asarray(values, dtype=float)
    return len(array) > 0 and ends[1] < inf and set(np.unique(array).tolist()) == set(ends)
