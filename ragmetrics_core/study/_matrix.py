"""Metrics correlated with each other, and with people: the tables of Oro et al. (2024), section 4.4."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._agreement import HUMAN
from ragmetrics_core.study._coefficients import pooled_correlations
from ragmetrics_core.study._estimates import FEWEST_CLUSTERS, Estimate
from ragmetrics_core.study._frame import StudySettings
from ragmetrics_core.study._metrics_against_people import POOLED, CompleteSet, complete_set
from ragmetrics_core.study._scores import Scores, metrics_of_all
from ragmetrics_core.study._tables import Column, StudyTable, TableColumn, plain_table, table_of

__all__ = ["CorrelationMatrix", "PairCorrelation", "matrix_tables", "study_matrix"]


class PairCorrelation(NamedTuple):
    """Spearman's correlation of two metrics, or of people and a metric, in one set."""

    name: Annotated[str, Column("set")]
    one: str
    other: str
    spearman: Estimate
    n: int


@dataclass(frozen=True)
class CorrelationMatrix:
    """Spearman's correlations of all metrics with each other, and with people.

    Attributes:
        columns: the metrics; people first, if there are labels.
        pairs: each two columns in each set and, if there are several sets, within all of them.
        notes: remarks for readers.
    """

    columns: tuple[str, ...]
    pairs: tuple[PairCorrelation, ...]
    notes: tuple[str, ...] = ()


def study_matrix(
    runs: Sequence[Scores],
    people: Sequence[Mapping[str, float]] | None = None,
    **studied: Unpack[StudySettings],
) -> CorrelationMatrix:
    """Correlate metrics with each other and with people, set by set and over all sets.

    The numbers of a set come from the same samples: those with every metric and, if people are compared, with
    a label. Over all sets it is the mean of the sets' correlations with their sizes as weights.

    Args:
        runs: one for each set, measured in the same way.
        people: for each run the human labels by sample id; higher is better. Default: metrics alone.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: a run has fewer than three samples with every column, or there is only one column.
    """
    studied["metrics"] = metrics_of_all(runs, studied.get("metrics"))
    labels = [None] * len(runs) if people is None else people
    sets = [complete_set(run, said, **studied) for run, said in zip(runs, labels, strict=True)]
    columns = sets[0].names if people is None else [HUMAN, *sets[0].names]
    if len(columns) < 2:
        raise ConfigError(f"the runs share only {columns[0]}: a matrix needs another metric, or labels")
    groups = {run.name: [each] for run, each in zip(runs, sets, strict=True)}
    if len(sets) > 1:
        groups[POOLED] = sets
    pairs: list[PairCorrelation] = []
    for name, group in groups.items():
        pairs += _pairs(name, columns, group, seed=studied.get("seed", 0))
    notes = dict.fromkeys(note for each in sets for note in each.notes)
    for run, each in zip(runs, sets, strict=True):
        constant = [
            column for column, values in zip(columns, _values(each), strict=True) if not np.ptp(values)
        ]
        if constant:
            notes[f"{run.name}: {', '.join(constant)}: one value only, which correlates with nothing"] = None
        if (size := len(set(each.clusters))) < FEWEST_CLUSTERS:
            units = "samples, or clusters of them," if size < len(each.clusters) else "samples"
            notes[f"{run.name}: {size} {units} are too few for an interval"] = None
    return CorrelationMatrix(tuple(columns), tuple(pairs), tuple(notes))


def _values(one: CompleteSet) -> list[NDArray[np.float64]]:
    return one.columns if one.people is None else [one.people, *one.columns]


def _pairs(
    name: str, columns: Sequence[str], sets: Sequence[CompleteSet], *, seed: int
) -> Iterator[PairCorrelation]:
    tables, clusters = [_values(each) for each in sets], [each.clusters for each in sets]
    n = sum(len(each) for each in clusters)
    for place, one in enumerate(columns[:-1]):
        others = columns[place + 1 :]
        within = [(table[place + 1 :], table[place]) for table in tables]
        correlated = pooled_correlations(within, clusters, seed=seed)
        for other, weight in zip(others, np.eye(len(others)), strict=True):
            yield PairCorrelation(name, one, other, correlated(weight), n)


def matrix_tables(matrix: CorrelationMatrix) -> Iterator[StudyTable]:
    """A square of correlations for each set, one below the other, then the same as a list of pairs."""
    cells = {(pair.name, *ends): pair for pair in matrix.pairs for ends in _both(pair)}
    sizes = {pair.name: pair.n for pair in matrix.pairs}
    rows = [
        (
            name,
            column,
            *(
                cells[key].spearman if (key := (name, column, other)) in cells else None
                for other in matrix.columns
            ),
            n,
        )
        for name, n in sizes.items()
        for column in matrix.columns
    ]
    heads = [*(TableColumn(column, "estimate") for column in matrix.columns), TableColumn("n", "count")]
    title = "Spearman's correlations of metrics" + (" and people" if HUMAN in matrix.columns else "")
    notes = [*matrix.notes, *_width_notes(matrix.pairs)]
    yield plain_table("matrix", title, ["set", "metric", *heads], rows, notes)
    yield table_of(
        "pairs", "The same, pair by pair", PairCorrelation, matrix.pairs, "name one other spearman n"
    )


def _both(pair: PairCorrelation) -> tuple[tuple[str, str], tuple[str, str]]:
    return (pair.one, pair.other), (pair.other, pair.one)


def _width_notes(pairs: Sequence[PairCorrelation]) -> Iterator[str]:
    """Widths of the intervals of single sets, as a note on what they prove."""
    of_sets = [pair.spearman for pair in pairs if pair.name != POOLED]
    ends = [(each.low, each.high) for each in of_sets if each.low is not None and each.high is not None]
    if ends:
        widths = [high - low for low, high in ends]
        zero = sum(low <= 0 <= high for low, high in ends)
        yield (
            f"the 95 % intervals of single sets are {min(widths):.2f} to {max(widths):.2f} wide, and "
            f"{zero} of {len(ends)} include 0; without --matrix, two metrics are compared on the same samples"
        )
