"""Samples that belong together: answers of one source, turns of one session, questions of one document.

They are no independent trials: an interval that takes them for such is too narrow. Here a cluster is the unit
that is drawn, or that has an error of its own.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._bootstrap import RESAMPLES, percentile_interval, resampled_counts, resamples
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_codes, cluster_spread, worth_of_clusters
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._intervals import Estimate, wilson_of

__all__ = [
    "FEWEST_CLUSTERS",
    "bootstrap_clusters",
    "check_clusters",
    "cluster_counts",
    "cluster_difference",
    "cluster_mean",
    "cluster_resamples",
    "cluster_share",
    "cluster_weights",
    "cluster_worth",
    "in_batches",
    "resamples_of",
]

# Below this many clusters neither Student's t nor the bootstrap holds what it says.
FEWEST_CLUSTERS = 10

# places of one batch of resamples
_BATCH = 250_000

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def check_clusters(clusters: Sequence[Hashable], *, by: str = "cluster") -> None:
    """Refuse too few clusters.

    Raises:
        ConfigError: there are fewer than 10.
    """
    count = len(set(clusters))
    if count < FEWEST_CLUSTERS:
        raise ConfigError(
            f"there are {count} clusters by {by}: an interval that knows them needs {FEWEST_CLUSTERS} or more"
        )


def resamples_of(
    n: int, clusters: Sequence[Hashable] | None, *, count: int = RESAMPLES, seed: int = 0
) -> Iterator[Iterable[Indices]]:
    """Resamples of n samples, or of whole clusters of them, in batches: of each the places of its samples."""
    if clusters is None:
        yield from resamples(n, count=count, seed=seed)
        return
    yield from in_batches(cluster_resamples(clusters, count=count, seed=seed), n)


def in_batches(resamples: Iterator[Indices], n: int) -> Iterator[list[Indices]]:
    """Resamples of about n numbers each, as many together as a processor has at hand."""
    while batch := [*islice(resamples, max(1, _BATCH // max(n, 1)))]:
        yield batch


def cluster_resamples(
    clusters: Sequence[Hashable], *, count: int = RESAMPLES, seed: int = 0
) -> Iterator[Indices]:
    """Resamples of whole clusters: of each the indices of its samples, as often as their cluster was drawn.

    As many clusters are drawn as there are; how many samples a resample has varies with their sizes.
    """
    places = np.arange(len(clusters))
    for weights in cluster_weights(clusters, count=count, seed=seed):
        yield np.repeat(places, weights)


def cluster_weights(
    clusters: Sequence[Hashable], *, count: int = RESAMPLES, seed: int = 0
) -> Iterator[Indices]:
    """How often each sample is in the resamples of `cluster_resamples`, one after another."""
    codes = cluster_codes(clusters)
    size = int(codes.max()) + 1 if len(codes) else 0
    generator = np.random.default_rng(seed)
    for _ in range(count):
        yield np.bincount(generator.integers(0, size, size=size), minlength=size)[codes]


def cluster_counts(clusters: Sequence[Hashable], *, count: int = RESAMPLES, seed: int = 0) -> Array:
    """How often each sample is drawn when whole clusters are, one row for each resample."""
    codes = cluster_codes(clusters)
    return resampled_counts(int(codes.max()) + 1, count=count, seed=seed)[:, codes]


def bootstrap_clusters(
    statistic: Callable[[Indices], float | None],
    clusters: Sequence[Hashable],
    *,
    value: float | None,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """A figure with its percentile interval over resamples of whole clusters.

    Args:
        statistic: from the indices of a resample's samples to its figure; None where it has none.
        clusters: each sample's cluster.
        value: the figure for the samples as they are.
        level: confidence.
        count: how many resamples.
        seed: of the random draws.

    No interval (None) without a value, below 10 clusters (`check_clusters` says so in a sentence), and when
    more than half of the resamples have no figure.
    """
    size = len(set(clusters))
    if value is None or size < FEWEST_CLUSTERS:
        return Estimate(value)
    figures = (statistic(rows) for rows in cluster_resamples(clusters, count=count, seed=seed))
    drawn = np.array([np.nan if each is None else each for each in figures], dtype=float)
    return percentile_interval(value, drawn, n=cluster_worth(clusters), level=level)


def cluster_worth(clusters: Sequence[Hashable]) -> float:
    """How many clusters of one size these are worth to a bootstrap, which knows no more than their sizes.

    >>> cluster_worth(["a", "b", "c", "d"]), round(cluster_worth(["a", "a", "b", "b", "c"]), 2)
    (4.0, 2.45)
    """
    return max(2.0, worth_of_clusters(np.bincount(cluster_codes(clusters)) ** 2))


def cluster_mean(values: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95) -> Estimate:
    """The mean of samples with an interval that knows their clusters: Student's t, as `cluster_spread` says.

    No interval (None) below 10 clusters.

    >>> values = [0.0, 1.0] * 10
    >>> str(cluster_mean(values, [place // 2 for place in range(20)]))  # every cluster has one of each
    '0.500 (0.500, 0.500)'
    """
    array = np.asarray(values, dtype=float)
    if not len(array):
        return Estimate(None)
    mean = float(array.mean())
    spread = cluster_spread(MeanPart(array, clusters))
    if spread.clusters < FEWEST_CLUSTERS:
        return Estimate(mean)
    half = t_quantile(0.5 + level / 2, spread.df) * spread.error
    return Estimate(mean, mean - half, mean + half)


def cluster_share(flags: ArrayLike, clusters: Sequence[Hashable], *, level: float = 0.95) -> Estimate:
    r"""The share of samples that are so, with Wilson's interval for the number that the clusters are worth.

    .. math:: n^* = p (1 - p) / \mathrm{se}^2

    at most the n that there are, with Student's quantile in place of the normal's (see `cluster_spread`).
    Where all samples agree nothing is known of their clusters' spread, and each cluster counts as one
    sample. No interval (None) below 10 clusters.
    """
    array = np.asarray(flags, dtype=float)
    if not len(array):
        return Estimate(None)
    share, size = float(array.mean()), len(set(clusters))
    if size < FEWEST_CLUSTERS:
        return Estimate(share)
    spread = cluster_spread(MeanPart(array, clusters))
    worth = float(size) if share in (0.0, 1.0) else float(len(array))
    if spread.error:
        worth = min(worth, share * (1 - share) / spread.error**2)
    return wilson_of(share, worth, t_quantile(0.5 + level / 2, spread.df))


class ClusterDifference(NamedTuple):
    """The difference of two groups, its standard error by cluster and the degrees of freedom."""

    value: float
    error: float
    df: float


def cluster_difference(
    one: ArrayLike, other: ArrayLike, of_one: Sequence[Hashable], of_other: Sequence[Hashable]
) -> ClusterDifference | None:
    """The difference of two means whose samples share clusters within, or also across, the groups.

    What each cluster adds to the difference is one error; see `cluster_spread`. Where no cluster is in both
    groups the two errors are apart, and the degrees are Welch's. Undefined (`None`) below 10 clusters in a
    group.
    """
    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    sizes = len(set(of_one)), len(set(of_other))
    if min(sizes) < FEWEST_CLUSTERS:
        return None
    value = float(x.mean() - y.mean())
    one_part, other_part = MeanPart(x, of_one), MeanPart(y, of_other, -1.0)
    if set(of_one) & set(of_other):
        spread = cluster_spread(one_part, other_part)
        return ClusterDifference(value, spread.error, spread.df)
    parts = [cluster_spread(one_part), cluster_spread(other_part)]
    variance = sum(each.error**2 for each in parts)
    below = sum(each.error**4 / each.df for each in parts)
    return ClusterDifference(value, sqrt(variance), variance**2 / below if below else float(sum(sizes) - 2))
