"""Agreement between annotators: Krippendorff's alpha and weighted kappa, with bootstrap intervals."""

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.study._distributions import scipy_module
from ragmetrics_core.study._estimates import Clusters, Estimate, are_singletons, are_too_few, clusters_of
from ragmetrics_core.study._human_labels import Value
from ragmetrics_core.study._resampling import (
    Resampling,
    cluster_worth,
    divided,
    drawn_units,
    percentile_interval,
    resampled,
)

__all__ = ["Coefficient", "Level", "Weights", "krippendorff_alpha", "plain", "weighted_kappa"]

# Fewer units have too few different resamples for quantiles to mean anything.
FEWEST_UNITS = 10

Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["none", "linear", "quadratic"]

Array = NDArray[np.float64]


class Coefficient(NamedTuple):
    """A coefficient with its interval, its number of units, and a note if it is missing."""

    value: Estimate
    n: int
    note: str = ""


def krippendorff_alpha(
    units: Sequence[Sequence[Value]],
    *,
    level: Level = "ordinal",
    clusters: Clusters = (),
    **how: Unpack[Resampling],
) -> Coefficient:
    r"""Krippendorff's alpha: agreement of any number of annotators, some of whom may have skipped units.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \quad D_o = \frac{1}{n} \sum_{c,k} o_{ck} \delta^2_{ck},
        \quad D_e = \frac{1}{n(n-1)} \sum_{c,k} n_c n_k \delta^2_{ck}

    from the coincidence matrix o of values within units. 1 is perfect agreement, 0 that of chance; 0.8 is
    customary for relying on labels, 0.667 for tentative conclusions. Undefined (None) when fewer than two
    units have two values, or when all values are one. Units are drawn for the interval.

    Args:
        units: for each unit the values that it was given; units with fewer than two do not count.
        level: how values differ: "nominal" only by being others, "ordinal" by rank, "interval" by number.
        clusters: each unit's cluster; whole clusters are drawn for the interval, and below 10 there is none.
        how: `count` and `seed` of the resamples; see `Resampling`.

    References:
        Krippendorff (2004), "Content Analysis", chapter 11.

    >>> krippendorff_alpha([[1.0, 1.0], [2.0, 2.0], [1.0, 2.0]], level="nominal").value.value
    0.4444444444444444
    """
    belonging = zip(units, clusters_of(len(units), clusters), strict=True)
    paired = [(unit, cluster) for unit, cluster in belonging if len(unit) > 1]
    values = _ordered({value for unit, _ in paired for value in unit})
    if len(paired) < 2:
        return Coefficient(Estimate(None), len(paired), "fewer than two units have two labels")
    if len(values) == 1:
        note = f"every label is {plain(values[0])}: alpha has no meaning"
        return Coefficient(Estimate(None), len(paired), note)
    constant = 1 - np.eye(len(values))
    if level == "interval":
        constant = _apart([float(value) for value in values]) ** 2

    def distance(matrices: Array) -> Array:
        """The distance of two values; in ranks it is half of each, and all values between them."""
        totals = matrices.sum(axis=2)
        middle = totals.cumsum(axis=1) - totals / 2
        return _apart(middle) ** 2 if level == "ordinal" else constant

    pairs = [
        (row, pair, 1 / (len(unit) - 1))
        for row, (unit, _) in enumerate(paired)
        for pair in permutations(unit, 2)
    ]
    own = [cluster for _, cluster in paired]
    return _coefficient(values, pairs, lambda tables: _corrected(tables, distance(tables), 1), own, how)


def weighted_kappa(
    one: Sequence[Value],
    other: Sequence[Value],
    *,
    weights: Weights = "quadratic",
    clusters: Clusters = (),
    **how: Unpack[Resampling],
) -> Coefficient:
    r"""Cohen's kappa of two annotators who labelled the same units; disagreements weigh by their distance.

    .. math:: \kappa = 1 - \frac{\sum_{ij} w_{ij} o_{ij}}{\sum_{ij} w_{ij} e_{ij}}

    with :math:`w_{ij} = |v_i - v_j|` (linear), its square (quadratic) or 1 (none). Numbers are taken as they
    are, so that a point of the scale that nobody used still counts as a step; truth values and texts by their
    order. Undefined (None) for fewer than two units or when both gave one and the same value throughout.
    With `clusters` whole clusters of units are drawn for the interval, and below 10 there is none.

    References:
        Cohen (1968), Psychological Bulletin 70(4), 213-220.
    """
    n, values = len(one), _ordered({*one, *other})
    if n < 2:
        return Coefficient(Estimate(None), n, "fewer than two units were labelled by both")
    if len(values) == 1:
        return Coefficient(Estimate(None), n, f"every label is {plain(values[0])}: kappa has no meaning")
    is_numeric = all(isinstance(value, float) for value in values)
    distance = (
        _apart(values if is_numeric else range(len(values)))
        ** {"none": 0, "linear": 1, "quadratic": 2}[weights]
    )
    np.fill_diagonal(distance, 0)
    pairs = [(row, pair, 1.0) for row, pair in enumerate(zip(one, other, strict=True))]
    return _coefficient(
        values, pairs, lambda tables: _corrected(tables, distance, 0), clusters_of(n, clusters), how
    )


def _coefficient(
    values: Sequence[Value],
    pairs: Sequence[tuple[int, tuple[Value, Value], float]],
    figure: Callable[[Array], Array],
    clusters: Clusters,
    how: Resampling,
) -> Coefficient:
    """A coefficient of tables of paired values; no interval where few units make one that means nothing.

    Args:
        values: all that were given.
        pairs: of which unit, which two values, and how much they count.
        figure: from tables, one for each resample of units, to the coefficient of each.
        clusters: each unit's cluster.
        how: the resamples.
    """
    n, size = len(clusters), len(values)
    place = {value: index for index, value in enumerate(values)}
    cells = [place[one] * size + place[other] for _, (one, other), _ in pairs]
    rows, counts = [row for row, _, _ in pairs], [count for _, _, count in pairs]
    tables: Any = scipy_module("sparse").csr_array((counts, (rows, cells)), shape=(n, size**2))

    def figures(weights: Array) -> Array:
        return figure((weights @ tables).reshape(-1, size, size))

    (value,) = figures(np.ones((1, n))).tolist()
    if not np.isfinite(value):
        return Coefficient(Estimate(None), n, "both gave one value throughout: kappa has no meaning")
    if are_too_few(clusters) and not are_singletons(clusters):
        few = f"{len(set(clusters))} clusters are too few for an interval"
        return Coefficient(Estimate(value), n, few)
    if n < FEWEST_UNITS:
        return Coefficient(Estimate(value), n, f"{n} units are too few for an interval")
    drawn = resampled(figures, clusters, draws=drawn_units, width=size**2, **how)
    interval = percentile_interval(value, drawn, n=cluster_worth(clusters))
    if interval.low is not None and interval.low == interval.high:
        why = "all agree" if value == 1.0 else "one value hardly varies"
        return Coefficient(Estimate(value), n, f"{why}: resamples give no interval")
    return Coefficient(interval, n)


def _corrected(tables: Array, distance: Array, less: int) -> Array:
    """One less the distance seen by that of chance, of each table; not a number without the latter."""
    above, across = tables.sum(axis=2), tables.sum(axis=1)
    n = above.sum(axis=1)
    chance = (above[:, :, None] * across[:, None, :] * distance).sum(axis=(1, 2)) / (n * (n - less))
    return np.asarray(1 - divided((tables * distance).sum(axis=(1, 2)) / n, chance))


def _apart(numbers: ArrayLike) -> Array:
    """Distances between all pairs of numbers in a row."""
    array = np.asarray(numbers, dtype=float)
    return np.asarray(np.abs(array[..., :, None] - array[..., None, :]))


def plain(value: Value) -> str:
    """A label's value as people write it: 3 and not 3.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ordered(values: set[Value]) -> list[Value]:
    """Numbers by size, everything else by its text."""
    if all(isinstance(value, bool | float | int) for value in values):
        return sorted(values, key=float)
    return sorted(values, key=str)
