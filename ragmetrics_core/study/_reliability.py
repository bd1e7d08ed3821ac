"""Agreement between annotators: Krippendorff's alpha and weighted kappa, with bootstrap intervals."""

from collections.abc import Sequence
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._labels import Value
from ragmetrics_core.study._parts import Clusters, are_own, are_too_few, cluster_codes, clusters_of
from ragmetrics_core.study._resampling import (
    RESAMPLES,
    cluster_worth,
    divided,
    drawn_tables,
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
    """A coefficient with its interval, how many units it rests on, and why there is none."""

    value: Estimate
    n: int
    note: str = ""


def krippendorff_alpha(
    units: Sequence[Sequence[Value]],
    *,
    level: Level = "ordinal",
    clusters: Clusters = (),
    confidence: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
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
        confidence: of the interval.
        count: resamples.
        seed: of the random draws.

    References:
        Krippendorff (2004), "Content Analysis", chapter 11.

    >>> krippendorff_alpha([[1.0, 1.0], [2.0, 2.0], [1.0, 2.0]], level="nominal").value.value
    0.4444444444444444
    """
    belonging = zip(units, clusters_of(len(units), clusters), strict=True)
    known = [(unit, cluster) for unit, cluster in belonging if len(unit) > 1]
    paired, clusters = [unit for unit, _ in known], [cluster for _, cluster in known]
    if len(paired) < 2:
        return Coefficient(Estimate(None), len(paired), "fewer than two units have two labels")
    values = _ordered({value for unit in paired for value in unit})
    if len(values) == 1:
        return Coefficient(
            Estimate(None), len(paired), f"every label is {plain(values[0])}: alpha has no meaning"
        )
    place = {value: index for index, value in enumerate(values)}
    # units that were given the same values are one kind, however many there are
    kinds: dict[tuple[int, ...], int] = {}
    of_unit = np.array(
        [kinds.setdefault(tuple(sorted(place[value] for value in unit)), len(kinds)) for unit in paired]
    )
    # each two labels of a kind are one entry: a matrix for each kind would be nearly all zeros
    entries = np.array(
        [
            (row, one * len(values) + other, 1 / (len(kind) - 1))
            for row, kind in enumerate(kinds)
            for one, other in permutations(kind, 2)
        ]
    )
    rows, cells = entries[:, :2].T.astype(int)
    numbers = np.array([float(value) for value in values]) if level == "interval" else np.zeros(len(values))

    def alphas(weights: Array) -> Array:
        drawn = np.array([np.bincount(of_unit, weights=line, minlength=len(kinds)) for line in weights])
        size = len(values) ** 2
        places = np.arange(len(weights))[:, None] * size + cells
        given = (drawn[:, rows] * entries[:, 2]).ravel()
        matrices = np.bincount(places.ravel(), weights=given, minlength=len(weights) * size).astype(float)
        return _alphas(matrices.reshape(-1, len(values), len(values)), level, numbers)

    (alpha,) = alphas(np.ones((1, len(paired)))).tolist()
    if few := _few(clusters):
        return Coefficient(Estimate(alpha), len(paired), few)
    width = max(len(values) ** 2, len(entries))
    drawn = resampled(alphas, clusters, draws=drawn_units, width=width, count=count, seed=seed)
    return _coefficient(alpha, drawn, len(paired), clusters, confidence)


def _alphas(matrices: Array, level: Level, numbers: Array) -> Array:
    """Alpha of each coincidence matrix; not a number where all values are one."""
    totals = matrices.sum(axis=2)
    n = totals.sum(axis=1)
    match level:
        case "nominal":
            distance = np.broadcast_to(1 - np.eye(totals.shape[1]), matrices.shape)
        case "ordinal":
            # the distance of two values in ranks: half of each, and all values between them
            middle = totals.cumsum(axis=1) - totals / 2
            distance = (middle[:, :, None] - middle[:, None, :]) ** 2
        case "interval":
            distance = np.broadcast_to((numbers[:, None] - numbers[None]) ** 2, matrices.shape)
    observed = (matrices * distance).sum(axis=(1, 2)) / n
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2)) / (n * (n - 1))
    return np.asarray(1 - divided(observed, expected))


def weighted_kappa(
    one: Sequence[Value],
    other: Sequence[Value],
    *,
    weights: Weights = "quadratic",
    clusters: Clusters = (),
    confidence: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
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
    n = len(one)
    if n < 2:
        return Coefficient(Estimate(None), n, "fewer than two units were labelled by both")
    values = _ordered({*one, *other})
    if len(values) == 1:
        return Coefficient(Estimate(None), n, f"every label is {plain(values[0])}: kappa has no meaning")
    place = {value: index for index, value in enumerate(values)}
    is_numeric = all(isinstance(value, float) for value in values)
    numbers = np.array(values, dtype=float) if is_numeric else np.arange(len(values), dtype=float)
    distance = np.abs(numbers[:, None] - numbers[None])
    if weights == "quadratic":
        distance = distance**2
    elif weights == "none":
        distance = (distance > 0).astype(float)
    cells = np.array([place[a] * len(values) + place[b] for a, b in zip(one, other, strict=True)])
    shape = (-1, len(values), len(values))
    table = np.bincount(cells, minlength=len(values) ** 2).astype(float)
    (value,) = _kappas(table.reshape(shape), distance).tolist()
    if not np.isfinite(value):
        return Coefficient(Estimate(None), n, "both gave one value throughout: kappa has no meaning")
    clusters = clusters_of(n, clusters)
    if few := _few(clusters):
        return Coefficient(Estimate(value), n, few)
    size = len(set(clusters))
    if are_own(clusters):
        batches = drawn_tables(table / n, n, width=len(table), count=count, seed=seed)
    else:
        of_cluster = np.zeros((size, len(table)))
        np.add.at(of_cluster, (cluster_codes(clusters), cells), 1.0)
        drawn_clusters = drawn_units(size, width=len(table), count=count, seed=seed)
        batches = (weights @ of_cluster for weights in drawn_clusters)
    drawn = np.concatenate([_kappas(tables.reshape(shape), distance) for tables in batches])
    return _coefficient(value, drawn, n, clusters, confidence)


def _few(clusters: Clusters) -> str:
    few = are_too_few(clusters) and not are_own(clusters)
    return f"{len(set(clusters))} clusters are too few for an interval" if few else ""


def _coefficient(value: float, drawn: Array, n: int, clusters: Clusters, level: float) -> Coefficient:
    """A coefficient, without an interval where few units make one that means nothing."""
    if n < FEWEST_UNITS:
        return Coefficient(Estimate(value), n, f"{n} units are too few for an interval")
    figure = percentile_interval(value, drawn, n=cluster_worth(clusters), level=level)
    if figure.low is not None and figure.low == figure.high:
        why = "all agree" if value == 1.0 else "one value hardly varies"
        return Coefficient(Estimate(value), n, f"{why}: resamples give no interval")
    return Coefficient(figure, n)


def _kappas(tables: Array, distance: Array) -> Array:
    n = tables.sum(axis=(1, 2))
    observed = (tables * distance).sum(axis=(1, 2)) / n
    chance = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    return np.asarray(1 - divided(observed, (chance * distance).sum(axis=(1, 2)) / n**2))


def plain(value: Value) -> str:
    """A label's value as people write it: 3 and not 3.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ordered(values: set[Value]) -> list[Value]:
    """Numbers by size, everything else by its text."""
    if all(isinstance(value, bool | float | int) for value in values):
        return sorted(values, key=float)
    return sorted(values, key=str)
