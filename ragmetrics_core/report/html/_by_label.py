"""Means by label: each metric's mean with its interval, for the samples of each value of a label."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from ragmetrics_core.report._side_by_side import ReportColumn, ReportRow, SideBySide
from ragmetrics_core.study import Clustering, Estimate, score_mean

__all__ = ["MeanOfRows", "mean_of_rows", "means_by_label"]

MOST_NAMES = 12
MOST_VALUES = 20


class MeanOfRows(NamedTuple):
    """Values of a metric in one run by sample, and their mean with its interval."""

    values: Mapping[str, float]
    mean: Estimate


def mean_of_rows(
    rows: Sequence[ReportRow], column: ReportColumn, position: int, run: int, clustering: Clustering
) -> MeanOfRows:
    """The mean of a metric over rows, by its place among the metrics and its run."""
    values: dict[str, float] = {}
    for row in rows:
        outcome = row.cells[position][run]
        if outcome is not None and outcome.value is not None:
            values[row.sample_id] = outcome.value
    entry = column.entries[run] or column.entry
    ends = entry.low, inf if entry.exceeds else entry.high
    return MeanOfRows(values, score_mean([*values.values()], clustering.clusters(values), ends=ends))


def means_by_label(
    beside: SideBySide, labels: Sequence[Mapping[str, str]], clusterings: Sequence[Clustering]
) -> dict[str, Any]:
    """Means by label as plain data, the worst value of a label first.

    Args:
        beside: the runs.
        labels: labels of each row.
        clusterings: clusters of each run's samples.
    """
    tables: list[dict[str, Any]] = []
    left_out: list[tuple[str, str]] = []
    for name in dict.fromkeys(name for of_row in labels for name in of_row):
        groups: dict[str | None, list[ReportRow]] = {}
        for row, of_row in zip(beside.rows, labels, strict=True):
            groups.setdefault(of_row.get(name), []).append(row)
        named = sorted((value for value in groups if value is not None), key=lambda each: -len(groups[each]))
        if len(groups) == 1:
            left_out.append((name, f"{named[0]} in every sample"))
        elif all(len(groups[value]) == 1 for value in named):
            left_out.append((name, "a different value in every sample"))
        elif len(tables) == MOST_NAMES:
            left_out.append((name, f"{len(named)} values; the page has the first {MOST_NAMES} labels"))
        else:
            tables.append({"name": name, "groups": _groups(beside, groups, named, clusterings)})
    return {"tables": tables, "left_out": left_out}


def _groups(
    beside: SideBySide,
    groups: Mapping[str | None, Sequence[ReportRow]],
    named: Sequence[str],
    clusterings: Sequence[Clustering],
) -> list[dict[str, Any]]:
    """The rows of a table: the most frequent values, then all others together, then samples without one."""
    worst_first = sorted(named[:MOST_VALUES], key=lambda value: _place(groups[value]))
    made = [_group(beside, groups[value], clusterings, value=value) for value in worst_first]
    if others := named[MOST_VALUES:]:
        rows = [row for value in others for row in groups[value]]
        made.append(_group(beside, rows, clusterings, others=len(others)))
    if None in groups:
        made.append(_group(beside, groups[None], clusterings))
    return made


def _group(
    beside: SideBySide,
    rows: Sequence[ReportRow],
    clusterings: Sequence[Clustering],
    *,
    value: str | None = None,
    others: int = 0,
) -> dict[str, Any]:
    sides: list[list[list[float | None] | None]] = []
    for run, clustering in enumerate(clusterings):
        cells: list[list[float | None] | None] = []
        for position, column in enumerate(beside.columns):
            if column.entries[run] is None:
                cells.append(None)
                continue
            values, mean = mean_of_rows(rows, column, position, run, clustering)
            cells.append([*(None if end is None else round(end, 6) for end in mean), len(values)])
        sides.append(cells)
    return {"value": value, "others": others, "samples": len(rows), "sides": sides}


def _place(rows: Sequence[ReportRow]) -> float:
    """Mean place of samples between the worst and the best score; those without one come last."""
    places = [row.place for row in rows if row.place is not None]
    return sum(places) / len(places) if places else inf
