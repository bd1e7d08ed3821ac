"""Metrics against people over one or several labelled sets, and which metric goes better with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._correlations import Correlation, correlate, pooled_correlations
from ragmetrics_core.study._parts import Clusters, Estimate
from ragmetrics_core.study._scores import Scores, measured_notes, metrics_of_all
from ragmetrics_core.study._tables import Column, StudyTable, table_of

__all__ = ["MetricDifference", "PeopleCorrelation", "PeopleStudy", "people_tables", "study_people"]

Array = NDArray[np.float64]

POOLED = "all sets, each within itself"


class PeopleCorrelation(NamedTuple):
    """One metric against people in one set."""

    metric: str
    name: Annotated[str, Column("set")]
    correlation: Correlation


class MetricDifference(NamedTuple):
    """How much better one metric correlates with people than another, on the same samples (Spearman)."""

    one: Annotated[str, Column("metric")]
    other: str
    difference: Annotated[Estimate, Column("spearman, difference")]
    n: int

    @property
    def verdict(self) -> str:
        """Whether it is better beyond doubt."""
        if self.difference.low is None:
            return "no interval"
        return {1: "better", -1: "worse", 0: "cannot tell"}[self.difference.side]


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
    correlations: list[PeopleCorrelation] = []
    sets: list[tuple[list[Array], Array]] = []
    clusters: list[Clusters] = []
    notes: list[str] = []
    for run, labels in zip(runs, people, strict=True):
        oriented = [run.oriented(metric, chosen) for metric in chosen]
        clustering = clustering_of([run], cluster)
        notes += [*(f"{run.name}: {note}" for note in clustering.notes), *measured_notes([run], chosen)]
        for name, values in oriented:
            ids = [each for each in labels if each in values]
            columns = [values[each] for each in ids], [labels[each] for each in ids]
            correlation = correlate(*columns, clusters=clustering.clusters(ids), seed=seed)
            correlations.append(PeopleCorrelation(name, run.name, correlation))
        ids = [each for each in labels if all(each in values for _, values in oriented)]
        if len(ids) < 3:
            raise ConfigError(
                f"{len(ids)} samples of {run.name} have a label and every metric: three are needed"
            )
        if lost := len(labels) - len(ids):
            notes.append(f"{run.name}: {lost} labelled samples lack a metric, which comparisons leave out")
        of_metrics = [np.array([values[each] for each in ids]) for _, values in oriented]
        sets.append((of_metrics, np.array([labels[each] for each in ids])))
        clusters.append(clustering.clusters(ids))
    pooled, n = pooled_correlations(sets, clusters, seed=seed), sum(len(labels) for _, labels in sets)
    names = [runs[0].oriented(metric, chosen).name for metric in chosen]
    weights = list(zip(names, np.eye(len(names)), strict=True))
    return PeopleStudy(
        correlations=tuple(correlations),
        pooled={name: pooled(column) for name, column in weights},
        differences=tuple(
            MetricDifference(one, other, pooled(weight - less), n)
            for (one, weight), (other, less) in combinations(weights, 2)
        ),
        n=n,
        sets=len(sets),
        notes=tuple(dict.fromkeys(notes)),
    )


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
        title = "Which metric goes better with people"
        columns = "one other difference n verdict"
        yield table_of("differences", title, MetricDifference, study.differences, columns, [note])
