"""Agreement between annotators: Krippendorff's alpha and weighted kappa, with bootstrap intervals."""

from collections.abc import Hashable, Sequence
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._bootstrap import RESAMPLES, drawn_tables, drawn_units, percentile_interval
from ragmetrics_core.study._cluster_errors import cluster_codes
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_worth
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._labels import Value

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
    clusters: Sequence[Hashable] | None = None,
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
    paired = [unit for unit in units if len(unit) > 1]
    of = (
        None
        if clusters is None
        else [each for each, unit in zip(clusters, units, strict=True) if len(unit) > 1]
    )
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
    entries = [
        (row, one * len(values) + other, 1 / (len(kind) - 1))
        for row, kind in enumerate(kinds)
        for one, other in permutations(kind, 2)
    ]
    rows, cells = (np.array([each[part] for each in entries], dtype=np.intp) for part in (0, 1))
    shares = np.array([each[2] for each in entries])
    numbers = np.array([float(value) for value in values]) if level == "interval" else np.zeros(len(values))

    def alphas(weights: Array) -> Array:
        drawn = np.array([np.bincount(of_unit, weights=line, minlength=len(kinds)) for line in weights])
        size = len(values) ** 2
        places = np.arange(len(weights))[:, None] * size + cells
        given = (drawn[:, rows] * shares).ravel()
        matrices = np.bincount(places.ravel(), weights=given, minlength=len(weights) * size).astype(float)
        return _alphas(matrices.reshape(-1, len(values), len(values)), level, numbers)

    (alpha,) = alphas(np.ones((1, len(paired))))
    width, size = max(len(values) ** 2, len(entries), len(paired)), len(paired)
    places, worth = np.arange(size), float(size)
    if of is not None:
        places, size = cluster_codes(of), len(set(of))
        if size < FEWEST_CLUSTERS:
            return Coefficient(Estimate(float(alpha)), len(paired), _few(size))
        worth = cluster_worth(of)
    batches = drawn_units(size, width=width, count=count, seed=seed)
    drawn = np.concatenate([alphas(weights[:, places]) for weights in batches])
    value = percentile_interval(float(alpha), drawn, n=worth, level=confidence)
    return _told(value, len(paired))


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
    found = np.full(len(matrices), np.nan)
    np.divide(observed, expected, out=found, where=expected > 0)
    return 1 - found


def weighted_kappa(
    one: Sequence[Value],
    other: Sequence[Value],
    *,
    weights: Weights = "quadratic",
    clusters: Sequence[Hashable] | None = None,
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
    (value,) = _kappas(table.reshape(shape), distance)
    if not np.isfinite(value):
        return Coefficient(Estimate(None), n, "both gave one value throughout: kappa has no meaning")
    worth = float(n)
    if clusters is None:
        batches = drawn_tables(table / n, n, width=len(table), count=count, seed=seed)
    else:
        size = len(set(clusters))
        if size < FEWEST_CLUSTERS:
            return Coefficient(Estimate(float(value)), n, _few(size))
        worth = cluster_worth(clusters)
        of_cluster = np.zeros((size, len(table)))
        np.add.at(of_cluster, (cluster_codes(clusters), cells), 1.0)
        drawn_clusters = drawn_units(size, width=len(table), count=count, seed=seed)
        batches = (weights_ @ of_cluster for weights_ in drawn_clusters)
    drawn = np.concatenate([_kappas(tables.reshape(shape), distance) for tables in batches])
    return _told(percentile_interval(float(value), drawn, n=worth, level=confidence), n)


def _few(clusters: int) -> str:
    return f"{clusters} clusters are too few for an interval"


def _told(value: Estimate, n: int) -> Coefficient:
    """A coefficient, without an interval where few units make one that means nothing."""
    if n < FEWEST_UNITS:
        return Coefficient(Estimate(value.value), n, f"{n} units are too few for an interval")
    if value.low is not None and value.low == value.high:
        why = "all agree" if value.value == 1.0 else "one value hardly varies"
        return Coefficient(Estimate(value.value), n, f"{why}: resamples give no interval")
    return Coefficient(value, n)


def _kappas(tables: Array, distance: Array) -> Array:
    n = tables.sum(axis=(1, 2))
    observed = (tables * distance).sum(axis=(1, 2)) / n
    expected = (tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] * distance).sum(
        axis=(1, 2)
    ) / n**2
    found = np.full(len(tables), np.nan)
    np.divide(observed, expected, out=found, where=expected > 0)
    return 1 - found


def plain(value: Value) -> str:
    """A label's value as people write it: 3 and not 3.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ordered(values: set[Value]) -> list[Value]:
    """Numbers by size, everything else by its text."""
    if all(isinstance(value, bool | float | int) for value in values):
        return sorted(values, key=float)
    return sorted(values, key=str)
