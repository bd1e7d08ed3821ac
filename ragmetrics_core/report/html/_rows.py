"""The table of samples as plain data: everything to sort and filter by, without proofs."""

from collections.abc import Collection, Sequence
from math import inf
from typing import Any

from ragmetrics_core.report._side_by_side import ReportRow, SideBySide
from ragmetrics_core.report._text import fit_to_show
from ragmetrics_core.runs import Outcome, Run
from ragmetrics_core.samples import grouping_labels

__all__ = ["sessions", "table"]

MOST_LABELS = 40
# Reading one sample by its place takes about as long as reading so many in a row.
_WORTH = 3


def table(beside: SideBySide, rows: Sequence[ReportRow]) -> dict[str, Any]:
    """The rows as plain data, column by column."""
    texts = _texts_of(beside.runs, {row.sample_id for row in rows})
    return {
        "ids": [fit_to_show(row.sample_id) for row in rows],
        **{
            name: [texts[row.sample_id][place] for row in rows]
            for place, name in enumerate(("questions", "answers", "labels"))
        },
        "findings": [row.findings for row in rows],
        "metrics": [
            [_outcomes([row.cells[column][run] for row in rows]) for run in range(len(beside.runs))]
            for column in range(len(beside.columns))
        ],
    }


def sessions(beside: SideBySide) -> list[tuple[str, list[int]]]:
    """The numbers of each session's rows in the order of its turns; the session of the lowest mean first."""
    number_of = {row.sample_id: number for number, row in enumerate(beside.rows)}
    named: dict[str, list[int]] = {}
    placed: set[str] = set()
    for run in reversed(beside.runs):
        for session, ids in run.sessions().items():
            named.setdefault(session, []).extend(number_of[each] for each in ids if each not in placed)
        placed.update(run.sample_ids)

    def mean(numbers: Sequence[int]) -> float:
        places = [place for number in numbers if (place := beside.rows[number].place) is not None]
        return sum(places) / len(places) if places else inf

    listed = [(fit_to_show(session), numbers) for session, numbers in named.items() if numbers]
    return sorted(listed, key=lambda each: mean(each[1]))


def _outcomes(outcomes: Sequence[Outcome | None]) -> dict[str, Any]:
    values = [outcome and outcome.value for outcome in outcomes]
    return {
        "values": [None if value is None else round(value, 6) for value in values],
        "statuses": [outcome.status if outcome else "" for outcome in outcomes],
        "bounds": {row: outcome.bounds for row, outcome in enumerate(outcomes) if outcome and outcome.bounds},
    }


def _texts_of(runs: Sequence[Run], wanted: Collection[str]) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Question, answer and labels of each sample, from the last run that has it."""
    texts: dict[str, tuple[str, str, dict[str, str]]] = {}
    for run in runs:
        if len(wanted) * _WORTH < len(run):
            samples = (run.sample(sample_id) for sample_id in wanted if sample_id in run.sample_ids)
        else:
            samples = (sample for sample in run.samples() if sample.id in wanted)
        for sample in samples:
            labels = {name: str(value) for name, value in list(grouping_labels(sample).items())[:MOST_LABELS]}
            texts[sample.id] = fit_to_show((sample.question or "", sample.answer or "", labels))
    return texts
