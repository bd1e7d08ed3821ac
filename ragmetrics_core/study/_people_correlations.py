"""Metrics against people over one or several labelled sets, and which metric goes better with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._bootstrap import RESAMPLES, percentile_interval
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_worth, resamples_of
from ragmetrics_core.study._correlations import Clusters, Correlation, correlate
from ragmetrics_core.study._distinct_pairs import DistinctPairs
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._scores import Scores, measured_notes, metrics_of_all
from ragmetrics_core.study._tables import Cell, StudyTable, TableColumn

__all__ = [
    "MetricDifference",
    "PeopleCorrelation",
    "PeopleStudy",
    "compare_correlations",
    "people_tables",
    "pooled_correlation",
    "study_people",
]

Array = NDArray[np.float64]

POOLED = "all sets, each within itself"


class PeopleCorrelation(NamedTuple):
    """One metric against people in one set."""

    metric: str
    name: str
    correlation: Correlation


class MetricDifference(NamedTuple):
    """How much better one metric correlates with people than another, on the same samples (Spearman)."""

    one: str
    other: str
    difference: Estimate


@dataclass(frozen=True, kw_only=True)
class PeopleStudy:
    """Metrics against people.

    Attributes:
        correlations: each metric in each set.
        pooled: over all sets, each metric's Spearman within sets, averaged with their sizes as weights; by
            metric. Of the samples that have every metric.
        differences: of each two metrics, over all sets likewise.
        n: how many samples `pooled` and `differences` rest on.
        sets: how many sets there are.
        notes: what a reader should know.
    """

    correlations: tuple[PeopleCorrelation, ...]
    pooled: Mapping[str, Estimate]
    differences: tuple[MetricDifference, ...]
    n: int
    sets: int
    notes: tuple[str, ...] = ()


class _Drawn(NamedTuple):
    """Each column's correlation, the same in each resample (rows), and how many units were drawn."""

    values: Array
    drawn: Array
    units: float


def study_people(
    runs: Sequence[Scores],
    people: Sequence[Mapping[str, float]],
    *,
    metrics: Sequence[str] | None = None,
    cluster: str | None = None,
    seed: int = 0,
) -> PeopleStudy:
    """Correlate metrics with people, set by set and over all sets, and compare the metrics.

    Args:
        runs: one for each labelled set, measured in the same way.
        people: for each run what people said, by sample id; more is better.
        metrics: names or signatures; without it all that the runs share.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        seed: of the bootstrap.

    Raises:
        ConfigError: a run has fewer than three samples with a label and every metric.
    """
    chosen = metrics_of_all(runs, metrics)
    found: list[PeopleCorrelation] = []
    sets: list[tuple[list[Array], Array]] = []
    of_sets: list[Clusters] = []
    notes: dict[str, None] = {}
    for run, said in zip(runs, people, strict=True):
        oriented = [run.oriented(metric, chosen) for metric in chosen]
        clustering = clustering_of([run], cluster)
        notes |= dict.fromkeys(f"{run.name}: {note}" for note in clustering.notes)
        notes |= dict.fromkeys(measured_notes([run], chosen))
        for name, values in oriented:
            ids = [each for each in said if each in values]
            column, labels = [values[each] for each in ids], [said[each] for each in ids]
            correlation = correlate(column, labels, clusters=clustering.clusters(ids), seed=seed)
            found.append(PeopleCorrelation(name, run.name, correlation))
        ids = [each for each in said if all(each in values for _, values in oriented)]
        if len(ids) < 3:
            raise ConfigError(
                f"{len(ids)} samples of {run.name} have a label and every metric: three are needed"
            )
        if lost := len(said) - len(ids):
            notes[f"{run.name}: {lost} labelled samples lack a metric, which comparisons leave out"] = None
        columns = [np.array([values[each] for each in ids]) for _, values in oriented]
        sets.append((columns, np.array([said[each] for each in ids])))
        of_sets.append(clustering.clusters(ids))
    drawn = _draws(sets, of_sets, count=RESAMPLES, seed=seed)
    names = [name for name, _ in (runs[0].oriented(metric, chosen) for metric in chosen)]
    pooled = {name: _estimate(drawn, place) for place, name in enumerate(names)}
    differences = [
        MetricDifference(names[a], names[b], _estimate(drawn, a, b))
        for a, b in combinations(range(len(names)), 2)
    ]
    return PeopleStudy(
        correlations=tuple(found),
        pooled=pooled,
        differences=tuple(differences),
        n=sum(len(labels) for _, labels in sets),
        sets=len(sets),
        notes=tuple(notes),
    )


def compare_correlations(
    one: ArrayLike,
    other: ArrayLike,
    people: ArrayLike,
    *,
    clusters: Clusters = None,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """How much better one metric correlates with people than another, on the same samples (Spearman).

    The interval is of a paired bootstrap: samples, or whole clusters, are drawn with all three numbers.
    Undefined (None) where a column is constant.
    """
    x, y, z = (np.asarray(each, dtype=float) for each in (one, other, people))
    return _estimate(_draws([([x, y], z)], [clusters], count=count, seed=seed), 0, 1, level=level)


def pooled_correlation(
    sets: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Spearman's correlation within sets, averaged with their sizes as weights.

    Samples are drawn within sets. Pooling the numbers themselves would take differences between sets for
    agreement. Sets without a correlation do not count; undefined (None) when none has one.
    """
    pairs = [([np.asarray(x, dtype=float)], np.asarray(y, dtype=float)) for x, y in sets]
    if not pairs:
        return Estimate(None)
    return _estimate(_draws(pairs, [None] * len(pairs), count=count, seed=seed), 0, level=level)


def people_tables(found: PeopleStudy) -> Iterator[StudyTable]:
    """Each metric against people, set by set and pooled, then each two metrics."""
    rows: list[tuple[Cell, ...]] = [
        (
            each.metric,
            each.name,
            each.correlation.spearman,
            each.correlation.kendall,
            each.correlation.n,
            each.correlation.note,
        )
        for each in found.correlations
    ]
    if found.sets > 1:
        rows += [(metric, POOLED, figure, None, found.n, "") for metric, figure in found.pooled.items()]
    yield StudyTable(
        name="correlations",
        title="Metrics against people",
        columns=(
            TableColumn("metric"),
            TableColumn("set"),
            TableColumn("spearman", "estimate"),
            TableColumn("kendall", "estimate"),
            TableColumn("n", "count"),
            TableColumn("note"),
        ),
        rows=tuple(rows),
        notes=found.notes,
    )
    if found.differences:
        yield StudyTable(
            name="differences",
            title="Which metric goes better with people",
            columns=(
                TableColumn("metric"),
                TableColumn("other"),
                TableColumn("spearman, difference", "estimate"),
                TableColumn("n", "count"),
                TableColumn("verdict"),
            ),
            rows=tuple(
                (each.one, each.other, each.difference, found.n, _verdict(each.difference))
                for each in found.differences
            ),
            notes=(
                "paired bootstrap: samples are drawn with all their numbers"
                + (", within sets" if found.sets > 1 else "")
                + "; each interval is a 95 % one of its own",
            ),
        )


def _verdict(figure: Estimate) -> str:
    if figure.low is None or figure.high is None:
        return "no interval"
    return "better" if figure.low > 0 else "worse" if figure.high < 0 else "cannot tell"


def _draws(
    sets: Sequence[tuple[Sequence[Array], Array]], clusters: Sequence[Clusters], *, count: int, seed: int
) -> _Drawn:
    """Correlate each column with people, within sets, for the samples as they are and resampled."""
    sizes = [len(people) for _, people in sets]
    pairs = [[DistinctPairs(column, people) for column in columns] for columns, people in sets]
    whole = [_correlated(each, [np.arange(n)[None]]) for each, n in zip(pairs, sizes, strict=True)]
    (values,) = _averaged(whole, sizes)
    units_of = [n if of is None else len(set(of)) for n, of in zip(sizes, clusters, strict=True)]
    if min(units_of) < FEWEST_CLUSTERS:
        return _Drawn(values, np.full((1, len(values)), np.nan), 0.0)
    tables: list[Array] = []
    units = 0.0
    for place, (each, n, of) in enumerate(zip(pairs, sizes, clusters, strict=True)):
        tables.append(_correlated(each, resamples_of(n, of, count=count, seed=seed + place)))
        units += n if of is None else cluster_worth(of)
    return _Drawn(values, _averaged(tables, sizes), units)


def _correlated(columns: Sequence[DistinctPairs], batches: Iterable[Iterable[NDArray[np.intp]]]) -> Array:
    """Each column's correlation with people in each resample, one line for each."""
    found = [np.column_stack([each.drawn(rows).spearman() for each in columns]) for rows in batches]
    return np.concatenate(found)


def _averaged(tables: Sequence[Array], sizes: Sequence[int]) -> Array:
    """The tables' mean, weighted by size; what has no number in one does not count there."""
    known = [np.isfinite(table) for table in tables]
    total, weights = np.zeros(tables[0].shape), np.zeros(tables[0].shape)
    for table, is_known, size in zip(tables, known, sizes, strict=True):
        total += size * np.where(is_known, table, 0.0)
        weights += size * is_known
    found: Array = np.full(total.shape, np.nan)
    np.divide(total, weights, out=found, where=weights > 0)
    return found


def _estimate(drawn: _Drawn, place: int, less: int | None = None, *, level: float = 0.95) -> Estimate:
    value, figures = drawn.values[place], drawn.drawn[:, place]
    if less is not None:
        value, figures = value - drawn.values[less], figures - drawn.drawn[:, less]
    if not np.isfinite(value):
        return Estimate(None)
    return percentile_interval(float(value), figures, n=max(drawn.units, 2.0), level=level)
