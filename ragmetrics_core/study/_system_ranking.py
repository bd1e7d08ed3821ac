"""Whole systems: does a metric rank them as people do?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple, Unpack

import numpy as np

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import label_in
from ragmetrics_core.study._estimates import FEWEST_CLUSTERS, Estimate
from ragmetrics_core.study._frame import StudySettings, frame_of
from ragmetrics_core.study._group_values import label_text
from ragmetrics_core.study._kendall_of_systems import FEWEST_SYSTEMS, means_of_systems, system_correlation
from ragmetrics_core.study._question_pairs import means_of, renamed
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import StudyTable, TableColumn, in_notebooks, plain_table, table_of

__all__ = ["RankedSystem", "SystemCorrelation", "SystemStudy", "study_systems", "system_tables", "systems_of"]


class RankedSystem(NamedTuple):
    """One system: its name, how many labelled questions it has, people's mean and each metric's on them."""

    name: str
    n: int
    people: float | None
    means: Mapping[str, float | None]


class SystemCorrelation(NamedTuple):
    """One metric's Kendall correlation with people over systems' means, and why there is no interval."""

    metric: str
    kendall: Estimate
    systems: int
    note: str = ""


@dataclass(frozen=True)
class SystemStudy:
    """Systems as people and metrics rank them.

    Attributes:
        systems: the systems, the best by people first.
        correlations: each metric.
        questions: number of compared questions.
        cluster: label whose values are the questions' clusters; None if questions are independent.
        notes: remarks for readers.
    """

    systems: tuple[RankedSystem, ...]
    correlations: tuple[SystemCorrelation, ...]
    questions: int
    cluster: str | None = None
    notes: tuple[str, ...] = ()


def systems_of(
    run: Scores, people: Mapping[str, float], by: str, *, question: str | None = None
) -> list[tuple[Scores, dict[str, float]]]:
    """The systems that a label of one run names, with their samples called by question.

    Args:
        run: the run.
        people: human labels by sample id.
        by: label that names the system.
        question: label that names the question. Default: the question's text.

    Raises:
        ConfigError: no sample has the label, or a system answers one question twice.
    """
    members: dict[str, dict[str, list[str]]] = {}
    for sample_id, labels in run.labels.items():
        value = label_in(labels, by)
        if value is None:
            continue
        key = run.questions.get(sample_id) if question is None else label_in(labels, question)
        if key is None:
            what = "question" if question is None else f"label {question!r}"
            raise ConfigError(
                f"sample {sample_id} of {run.name} has no {what}, by which systems are compared"
            )
        name, text = label_text(value), label_text(key)
        if text in members.setdefault(name, {}):
            raise ConfigError(
                f"the system {name} answers {text!r} twice: name the label that tells questions apart with "
                "--question"
            )
        members[name][text] = [sample_id]
    if not members:
        raise ConfigError(f"no sample of {run.name} has the label {by!r}; labels are: {run.label_names}")
    return [(renamed(replace(run, name=name), ids), means_of(people, ids)) for name, ids in members.items()]


def study_systems(
    systems: Sequence[tuple[Scores, Mapping[str, float]]], **studied: Unpack[StudySettings]
) -> SystemStudy:
    """Rank systems by people and by metrics, and correlate the two (Kendall).

    Args:
        systems: each system's scores with the human labels of its answers, by question.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: fewer than three systems, or one without a labelled answer, or too few clusters.
    """
    if len(systems) < 3:
        raise ConfigError(f"a ranking needs three systems or more, and there are {len(systems)}")
    runs = [run for run, _ in systems]
    frame = frame_of(runs, **studied)
    for run, people in systems:
        if not any(each in run.labels for each in people):
            raise ConfigError(f"no answer of {run.name} is labelled")
    questions = list(dict.fromkeys(each for run, people in systems for each in people if each in run.labels))
    labels = np.array([[people.get(each, np.nan) for each in questions] for _, people in systems])
    clusters, even = frame.clustering.clusters(questions), np.ones((1, len(questions)))
    correlations: list[SystemCorrelation] = []
    means: list[dict[str, float | None]] = [{} for _ in systems]
    count = len(set(clusters))
    for metric in frame.metrics:
        oriented = [run.oriented(metric, frame.metrics) for run in runs]
        name = oriented[0].name
        scores = np.array([[values.get(each, np.nan) for each in questions] for _, values in oriented])
        scores[np.isnan(labels)] = np.nan
        known = [mean if isfinite(mean) else None for mean in means_of_systems(scores, even)[0].tolist()]
        for of_system, mean in zip(means, known, strict=True):
            of_system[name] = mean
        figure, note = Estimate(None), ""
        if None in known:
            note = f"{runs[known.index(None)].name} has no labelled value"
        else:
            figure = system_correlation(scores, labels, clusters=clusters, seed=frame.seed)
            if figure.value is None:
                note = "one side ranks no system above another"
            elif len(runs) < FEWEST_SYSTEMS:
                note = f"{len(runs)} systems are too few for an interval: it needs {FEWEST_SYSTEMS}"
            elif count < FEWEST_CLUSTERS:
                note = f"{count} questions, or clusters of them, are too few for an interval"
            elif figure.low is None:
                note = "most draws of the questions leave a system without one"
        correlations.append(SystemCorrelation(name, figure, len(runs), note))
    by_people, counts = means_of_systems(labels, even)[0].tolist(), np.isfinite(labels).sum(axis=1).tolist()
    ranked = map(RankedSystem, (run.name for run in runs), counts, by_people, means)
    notes = [*frame.notes]
    if np.isnan(labels).any():
        notes.append("not every system has a label on every question: a mean is of those that it has")
    best_first = tuple(sorted(ranked, key=lambda system: -(system.people or 0.0)))
    return SystemStudy(best_first, tuple(correlations), len(questions), frame.clustering.by, tuple(notes))


@in_notebooks
def system_tables(study: SystemStudy) -> Iterator[StudyTable]:
    """Each metric's correlation over systems, then the systems."""
    note = (
        f"over {study.questions} questions; the interval is for other systems of the kind on other "
        f"questions{f', by {study.cluster}' if study.cluster else ''}"
    )
    title, columns = "Does a metric rank systems as people do?", "metric kendall systems note"
    rows = study.correlations
    yield table_of("ranking", title, SystemCorrelation, rows, columns, (note, *study.notes))
    names = [each.metric for each in study.correlations]
    means = (
        (each.name, each.n, each.people, *(each.means[name] for name in names)) for each in study.systems
    )
    numbers = (TableColumn(name, "number") for name in ("people", *names))
    heads = TableColumn("system"), TableColumn("n", "count"), *numbers
    yield plain_table("systems", "The systems, the best by people first", heads, means)
