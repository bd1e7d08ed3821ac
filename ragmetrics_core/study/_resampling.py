"""Resamples of whole clusters, by a seed, and intervals from them.

A figure is a function of weights: how often each sample counts, a row for each resample. All samples of a
cluster are drawn together.
"""

from collections.abc import Callable, Iterator
from math import sqrt
from typing import TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._distributions import normal_share, t_quantile
from ragmetrics_core.study._estimates import (
    Clusters,
    Estimate,
    are_too_few,
    cluster_codes,
    clusters_of,
    effective_number,
)

__all__ = [
    "RESAMPLES",
    "Figure",
    "Resampling",
    "bootstrap",
    "bootstrap_mean",
    "cluster_worth",
    "divided",
    "drawn_places",
    "drawn_units",
    "percentile_interval",
    "resampled",
]

RESAMPLES = 2000

# numbers of one batch of resamples: more than fit beside the processor take longer, each
_BATCH = 250_000

# Above so many units the draws of a resample are counted one by one.
_COUNTED = 2_000

Array = NDArray[np.float64]
Figure: TypeAlias = Callable[[Array], Array]
"""From rows of weights to a number (or several) a row; not a number where a row has none."""

Draws: TypeAlias = Callable[..., Iterator[Array]]


class Resampling(TypedDict, total=False):
    """Settings of resamples.

    Attributes:
        count: number of resamples. Default: 2000.
        seed: random seed. Default: 0.
    """

    count: int
    seed: int


def drawn_units(n: int, *, width: int, count: int = RESAMPLES, seed: int = 0) -> Iterator[Array]:
    """Counts of n units in n draws, one row for each resample, in batches.

    Args:
        n: draws in a resample.
        width: how many numbers the caller makes of a resample, which limits how many rows there are at once.
        count: how many resamples.
        seed: of the random draws; the same ones whatever the batches are.
    """
    if n > _COUNTED:  # counting n draws takes a tenth of the time that n numbers of draws take
        yield from drawn_places(n, width=max(width, n), count=count, seed=seed)
        return
    generator = np.random.default_rng(seed)
    for rows in _batches(width, count):
        yield generator.multinomial(n, np.full(n, 1 / n), size=rows).astype(float)


def drawn_places(n: int, *, width: int, count: int = RESAMPLES, seed: int = 0) -> Iterator[Array]:
    """The same by n draws of a unit, one after another."""
    generator = np.random.default_rng(seed)
    for rows in _batches(width, count):
        places = generator.integers(0, n, size=(rows, n))
        yield np.array([np.bincount(row, minlength=n) for row in places], dtype=float)


def _batches(width: int, count: int) -> Iterator[int]:
    rows = max(1, _BATCH // max(width, 1))
    yield from (min(rows, count - start) for start in range(0, count, rows))


def resampled(
    figure: Figure,
    clusters: Clusters,
    *,
    draws: Draws = drawn_places,
    width: int = 0,
    **how: Unpack[Resampling],
) -> Array:
    """Values of a figure in resamples of whole clusters.

    Args:
        figure: from rows of weights of samples.
        clusters: each sample's cluster.
        draws: how the clusters are drawn.
        width: how many numbers the figure makes of a resample, where these are more than the samples.
        how: `count` and `seed` of the resamples.
    """
    codes = cluster_codes(clusters)
    batches = draws(int(codes.max()) + 1, width=max(width, len(codes)), **how)
    return np.concatenate([figure(weights[:, codes]) for weights in batches])


def bootstrap(
    figure: Figure,
    clusters: Clusters,
    *,
    draws: Draws = drawn_places,
    level: float = 0.95,
    **how: Unpack[Resampling],
) -> Estimate:
    """A figure with its percentile interval over resamples of whole clusters; see `resampled`.

    Undefined (None) where the figure is; no interval (None) when more than half of the resamples have no
    figure, below two samples, and below 10 clusters of several.
    """
    if not len(clusters):
        return Estimate(None)
    (value,) = figure(np.ones((1, len(clusters)))).tolist()
    if not np.isfinite(value) or are_too_few(clusters):
        return Estimate(value if np.isfinite(value) else None)
    drawn = resampled(figure, clusters, draws=draws, **how)
    return percentile_interval(value, drawn, n=cluster_worth(clusters), level=level)


def percentile_interval(value: float, drawn: Array, *, n: float, level: float = 0.95) -> Estimate:
    r"""A figure with the quantiles of what its resamples gave; see `bootstrap`.

    Resamples of n units vary too little by the factor :math:`\sqrt{(n-1)/n}`, and quantiles do not know that
    the spread is estimated. So the quantiles are taken further out, at
    :math:`\Phi(\pm t_{n-1} \sqrt{n/(n-1)})`, which for a mean gives Student's width.

    References:
        Hesterberg (2015), "What Teachers Should Know About the Bootstrap", The American Statistician 69(4),
        371-386, section 5.3 (the expanded percentile interval).
    """
    known = drawn[np.isfinite(drawn)]
    if 2 * len(known) < len(drawn):
        return Estimate(value)
    share = normal_share(t_quantile(0.5 + level / 2, n - 1) * sqrt(n / (n - 1)))
    low, high = np.quantile(known, [1 - share, share])
    return Estimate(value, float(low), float(high))


def cluster_worth(clusters: Clusters) -> float:
    """Effective number of clusters for a bootstrap, from their sizes.

    >>> cluster_worth(["a", "b", "c", "d"]), round(cluster_worth(["a", "a", "b", "b", "c"]), 2)
    (4.0, 2.45)
    """
    return max(2.0, effective_number(np.bincount(cluster_codes(clusters)) ** 2))


def bootstrap_mean(
    values: ArrayLike, clusters: Clusters = (), *, level: float = 0.95, **how: Unpack[Resampling]
) -> Estimate:
    """The mean of values with its bootstrap interval."""
    array = np.asarray(values, dtype=float)
    own = clusters_of(len(array), clusters)
    return bootstrap(lambda weights: weights @ array / weights.sum(axis=1), own, level=level, **how)


def divided(above: Array, below: Array) -> Array:
    """The quotients; not a number where there is nothing to divide by."""
    quotients: Array = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=below > 0)
    return quotients
