"""People's labels beside the scores: what a report shows of them as plain data."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._side_by_side import ReportRow, SideBySide
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    Clustering,
    HumanLabel,
    LabelledUnit,
    calibration,
    consensus_of,
    corrected_verdicts,
    correlate,
    labelled_verdicts,
    read_labels,
    read_units,
    rule_of,
    shown,
)
from ragmetrics_core.texts.wording import number_of

__all__ = ["people"]

MOST_PAIRS = 6

Numbers = Mapping[int, float]


def people(beside: SideBySide, path: Path, clustering: Clustering) -> dict[str, Any]:
    """Labels of a file as plain data: each label beside each metric, two annotators, verdicts' probabilities.

    Raises:
        ConfigError: there are two runs, the file cannot be read, or no labelled sample is in the run.
    """
    if len(beside.runs) != 1:
        raise ConfigError("labels are of the answers of one run: give --labels with one run")
    labels = read_labels(path)
    rows = {row.sample_id: number for number, row in enumerate(beside.rows)}
    ids = {label.unit.sample_id for label in labels}
    if not ids & rows.keys():
        raise ConfigError(f"no labelled sample is in the run; the first labelled one is {min(ids)!r}")
    notes: list[str] = []
    if absent := len(ids - rows.keys()):
        notes.append(f"left out, because they are not in the run: {number_of(absent, 'labelled sample')}")
    names = list(dict.fromkeys(label.label for label in labels if _is_of_sample(label.unit)))
    read = [_label(beside.rows, rows, labels, name, clustering, notes) for name in names]
    return {
        "labels": [each for each in read if each],
        "verdicts": _verdicts(beside.runs[0], labels, rows),
        "notes": notes,
    }


def _is_of_sample(unit: LabelledUnit) -> bool:
    return unit.metric is None and unit.statement is None


def _label(
    table: Sequence[ReportRow],
    rows: Mapping[str, int],
    labels: Sequence[HumanLabel],
    name: str,
    clustering: Clustering,
    notes: list[str],
) -> dict[str, Any] | None:
    """One label: the consensus by row, its correlation with each metric, and pairs of annotators."""
    of_samples = [label for label in labels if _is_of_sample(label.unit) and label.unit.sample_id in rows]
    try:
        read = read_units(of_samples, name)
    except ConfigError as error:
        notes.append(str(error))
        return None
    notes += read.notes
    values = [value for votes in read.units.values() for value in votes.values()]
    agreed = {
        rows[unit.sample_id]: float(each.value)
        for unit, each in consensus_of(read.units, rule=rule_of(values)).items()
        if each.value is not None
    }
    if undecided := len(read.units) - len(agreed):
        notes.append(f"{name}: left out, because they have no majority: {number_of(undecided, 'sample')}")
    of_rater: dict[str, dict[int, float]] = {}
    for unit, votes in read.units.items():
        for rater, value in votes.items():
            of_rater.setdefault(rater, {})[rows[unit.sample_id]] = float(value)
    pairs = [
        [one, other, points]
        for one, other in combinations(sorted(of_rater), 2)
        if (points := _points(of_rater[one], of_rater[other]))
    ]
    if len(pairs) > MOST_PAIRS:
        notes.append(f"{name}: the page has the first {MOST_PAIRS} of {len(pairs)} pairs of annotators")
    return {
        "name": name,
        "is_truth": all(isinstance(value, bool) for value in values),
        "ends": [min(map(float, values)), max(map(float, values))],
        "values": list(agreed.items()),
        "correlations": [
            _correlation(table, agreed, position, clustering) for position in range(len(table[0].cells))
        ],
        "pairs": pairs[:MOST_PAIRS],
    }


def _points(one: Numbers, other: Numbers) -> list[list[float]]:
    return [[row, value, other[row]] for row, value in one.items() if row in other]


def _correlation(
    table: Sequence[ReportRow], people: Numbers, position: int, clustering: Clustering
) -> list[Any]:
    """Spearman's coefficient of people and a metric in words, and the number of pairs."""
    values: dict[int, float] = {}
    for row in people:
        outcome = table[row].cells[position][0]
        if outcome is not None and outcome.value is not None:
            values[row] = outcome.value
    clusters = clustering.clusters(table[row].sample_id for row in values) if clustering.by else None
    found = correlate([people[row] for row in values], [*values.values()], clusters=clusters)
    return [shown(found.spearman, "estimate"), len(values)]


def _verdicts(run: Run, labels: Sequence[HumanLabel], rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Calibration of the judge's probabilities by metric: bins with the share of verdicts people support."""
    said: dict[LabelledUnit, dict[str, bool]] = {}
    probabilities: dict[LabelledUnit, float] = {}
    labelled = {label.unit.sample_id for label in labels if label.unit.statement is not None}
    for sample_id in labelled & rows.keys():
        for record in run.scores(sample_id).values():
            for verdict in record.verdicts:
                if verdict.confidence is not None:
                    unit = LabelledUnit(sample_id, record.signature, verdict.number)
                    probabilities[unit] = verdict.confidence
            for each in (*corrected_verdicts([record]), *labelled_verdicts([record], labels)):
                said.setdefault(each.unit, {})[each.by] = each.person
    agreed = {unit: each.value for unit, each in consensus_of(said).items() if each.value is not None}
    by_metric: dict[str, list[LabelledUnit]] = {}
    for unit in agreed.keys() & probabilities.keys():
        by_metric.setdefault(unit.metric or "", []).append(unit)
    return [
        {"title": metric, "n": len(units), **_calibration(units, agreed, probabilities, rows)}
        for metric, units in sorted(by_metric.items())
    ]


def _calibration(
    units: Sequence[LabelledUnit],
    agreed: Mapping[LabelledUnit, object],
    probabilities: Mapping[LabelledUnit, float],
    rows: Mapping[str, int],
) -> dict[str, Any]:
    judged = np.array([probabilities[unit] for unit in units])
    bins, error = calibration(judged, np.array([bool(agreed[unit]) for unit in units]))
    return {
        "error": error,
        "bins": [
            {
                "mean": each.mean,
                "share": each.correct,
                "n": each.n,
                "rows": sorted(
                    {
                        rows[unit.sample_id]
                        for unit in units
                        if each.low <= probabilities[unit] < each.high
                        or probabilities[unit] == each.high == 1
                    }
                ),
            }
            for each in bins
        ],
    }
