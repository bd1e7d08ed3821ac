"""Metrics against people over one or several labelled sets, and comparisons of metrics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._coefficients import Correlation, correlate, pooled_correlations
from ragmetrics_core.study._estimates import Clusters, Estimate
from ragmetrics_core.study._frame import StudySettings, frame_of
from ragmetrics_core.study._scores import Scores, metrics_of_all
from ragmetrics_core.study._tables import Column, StudyTable, in_notebooks, table_of

__all__ = [
    "POOLED",
    "CompleteSet",
    "MetricDifference",
    "PeopleCorrelation",
    "PeopleStudy",
    "complete_set",
    "people_tables",
    "study_people",
]

Array = NDArray[np.float64]

POOLED = "all sets, each within itself"


class PeopleCorrelation(NamedTuple):
    """One metric against people in one set."""

    metric: str
    name: Annotated[str, Column("set")]
    correlation: Correlation


class CompleteSet(NamedTuple):
    """The samples of a set that have every metric, and a label if people are compared.

    Attributes:
        names: the metrics, as `Scores.oriented` names them.
        columns: their values.
        people: human labels, if people are compared.
        clusters: of the samples.
        notes: on samples left out, clusters and corrections.
    """

    names: list[str]
    columns: list[Array]
    people: Array | None
    clusters: Clusters
    notes: list[str]


class MetricDifference(NamedTuple):
    """Difference of two metrics' Spearman correlations with people, on the same samples."""

    one: Annotated[str, Column("metric")]
    other: str
    difference: Annotated[Estimate, Column("spearman, difference")]
    n: int

    @property
    def verdict(self) -> str:
        """The verdict: "better" or "worse" if the interval excludes zero."""
        if self.difference.low is None:
            return "no interval"
        return {1: "better", -1: "worse", 0: "cannot tell"}[self.difference.side]


@dataclass(frozen=True)
class PeopleStudy:
    """Metrics against people.

    Attributes:
        correlations: each metric in each set.
        pooled: over all sets, each metric's Spearman within sets, averaged with their sizes as weights; by
            metric. Of the samples that have every metric.
        differences: of each two metrics, over all sets likewise.
        n: number of samples behind `pooled` and `differences`.
        sets: number of sets.
        notes: remarks for readers.
    """

    correlations: tuple[PeopleCorrelation, ...]
    pooled: Mapping[str, Estimate]
    differences: tuple[MetricDifference, ...]
    n: int
    sets: int
    notes: tuple[str, ...] = ()


def study_people(
    runs: Sequence[Scores], people: Sequence[Mapping[str, float]], **studied: Unpack[StudySettings]
) -> PeopleStudy:
    """Correlate metrics with people, set by set and over all sets, and compare the metrics.

    Args:
        runs: one for each labelled set, measured in the same way.
        people: for each run the human labels by sample id; higher is better.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: a run has fewer than three samples with a label and every metric.
    """
    chosen = studied["metrics"] = metrics_of_all(runs, studied.get("metrics"))
    seed = studied.get("seed", 0)
    correlations: list[PeopleCorrelation] = []
    sets: list[tuple[list[Array], Array]] = []
    clusters: list[Clusters] = []
    notes: list[str] = []
    for run, labels in zip(runs, people, strict=True):
        frame = frame_of([run], **studied)
        for name, values in (run.oriented(metric, chosen) for metric in chosen):
            both = [sample_id for sample_id in labels if sample_id in values]
            said, own_clusters = frame.columns(labels, both)
            column = [values[sample_id] for sample_id in both]
            correlation = correlate(column, said, clusters=own_clusters, seed=seed)
            correlations.append(PeopleCorrelation(name, run.name, correlation))
        complete = complete_set(run, labels, **studied)
        assert complete.people is not None
        sets.append((complete.columns, complete.people))
        clusters.append(complete.clusters)
        notes += complete.notes
    pooled, n = pooled_correlations(sets, clusters, seed=seed), sum(len(labels) for _, labels in sets)
    names = [runs[0].oriented(metric, chosen).name for metric in chosen]
    weights = list(zip(names, np.eye(len(names)), strict=True))
    differences = tuple(
        MetricDifference(one, other, pooled(weight - less), n)
        for (one, weight), (other, less) in combinations(weights, 2)
    )
    of_all = {name: pooled(column) for name, column in weights}
    return PeopleStudy(tuple(correlations), of_all, differences, n, len(sets), tuple(dict.fromkeys(notes)))


def complete_set(
    run: Scores, labels: Mapping[str, float] | None = None, **studied: Unpack[StudySettings]
) -> CompleteSet:
    """The samples of a run that have every metric, and a label if there are labels.

    Raises:
        ConfigError: there are fewer than three.
    """
    frame = frame_of([run], **studied)
    oriented = [run.oriented(metric, frame.metrics) for metric in frame.metrics]
    among = run.labels if labels is None else labels
    ids = [sample_id for sample_id in among if all(sample_id in values for _, values in oriented)]
    what, needed = ("samples", "") if labels is None else ("labelled samples", "a label and ")
    if len(ids) < 3:
        raise ConfigError(f"{len(ids)} samples of {run.name} have {needed}every metric: three are needed")
    notes = [*(f"{run.name}: {note}" for note in frame.clustering.notes), *frame.measured]
    if lost := len(among) - len(ids):
        notes.append(f"{run.name}: {lost} {what} lack a metric, which comparisons leave out")
    columns = [np.array([values[name] for name in ids], dtype=float) for _, values in oriented]
    people = None if labels is None else np.array([labels[name] for name in ids], dtype=float)
    clusters = frame.clustering.clusters(ids)
    return CompleteSet([name for name, _ in oriented], columns, people, clusters, notes)


@in_notebooks
def people_tables(study: PeopleStudy) -> Iterator[StudyTable]:
    """Each metric against people, set by set and pooled, then each two metrics."""
    rows = [*study.correlations]
    if study.sets > 1:
        rows += (
            PeopleCorrelation(metric, POOLED, Correlation(figure, Estimate(None), Estimate(None), study.n))
            for metric, figure in study.pooled.items()
        )
    columns = "metric name correlation.spearman correlation.kendall correlation.n correlation.note"
    yield table_of("correlations", "Metrics against people", PeopleCorrelation, rows, columns, study.notes)
    if study.differences:
        within = ", within sets" if study.sets > 1 else ""
        note = (
            f"paired bootstrap: samples are drawn with all their numbers{within}; each interval is a 95 % "
            "one of its own"
        )
        title = "Which metric agrees better with people"
        columns = "one other difference n verdict"
        yield table_of("differences", title, MetricDifference, study.differences, columns, [note])
