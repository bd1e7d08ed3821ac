"""The table of samples: everything that the page sorts and filters by, without a proof."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core.report._html.columns import ReportColumn
from ragmetrics_core.report._html.text import cut, one_line
from ragmetrics_core.runs import Key, Outcome, Run
from ragmetrics_core.samples import Sample

__all__ = ["Outcomes", "ReportRow", "outcomes_of", "table", "table_rows"]

SHOWN_QUESTION, SHOWN_ANSWER, SHOWN_LABEL, SHOWN_LABELS = 300, 400, 120, 40
# Reading one sample by its place takes about as long as reading so many in a row.
_WORTH = 3

Outcomes = Sequence[Mapping[Key, Outcome]]


class Shown(NamedTuple):
    """What the table shows of a sample."""

    question: str
    answer: str
    labels: dict[str, str]


class ReportRow(NamedTuple):
    """A sample of one run or of two.

    Attributes:
        sample_id: which sample.
        place: the mean of its values, each between its metric's ends (0 to 1), missing verdicts taken as
            negative; None when there is no value. Of two runs: of the second, where it has one.
        moved: of two runs, how much the value grew that grew least, or the one that fell most (where lower is
            better, the other way round); None without a pair.
        cells: for each metric, one outcome a run.
        findings: what the diagnosis of each run says, as codes.
    """

    sample_id: str
    place: float | None
    moved: float | None
    cells: tuple[tuple[Outcome | None, ...], ...]
    findings: tuple[tuple[str, ...], ...]


def outcomes_of(runs: Sequence[Run]) -> Outcomes:
    """What every record of each run came to."""
    return [dict(run.outcomes()) for run in runs]


def table_rows(runs: Sequence[Run], columns: Sequence[ReportColumn], outcomes: Outcomes) -> list[ReportRow]:
    """One row for each sample: the worst first, of two runs what fell off most; those without any last."""
    ids = dict.fromkeys(sample_id for run in runs for sample_id in run.sample_ids)
    diagnoses = [run.diagnoses() for run in runs]
    rows = [_row(columns, outcomes, diagnoses, sample_id) for sample_id in ids]
    if len(runs) == 2:
        rows.sort(key=lambda row: (row.moved is None, row.moved or 0.0, row.place or 0.0, row.sample_id))
    else:
        rows.sort(key=lambda row: (row.place is None, row.place or 0.0, row.sample_id))
    return rows


def table(runs: Sequence[Run], columns: Sequence[ReportColumn], rows: Sequence[ReportRow]) -> dict[str, Any]:
    """The rows as plain data, column by column."""
    samples = _samples_of(runs, {row.sample_id for row in rows})
    return {
        "ids": [one_line(row.sample_id) for row in rows],
        "questions": [samples[row.sample_id].question for row in rows],
        "answers": [samples[row.sample_id].answer for row in rows],
        "labels": [samples[row.sample_id].labels for row in rows],
        "places": [_rounded(row.place) for row in rows],
        "moved": [_rounded(row.moved) for row in rows],
        "findings": [row.findings for row in rows],
        "metrics": [
            [
                {
                    "values": [_rounded(_value(row.cells[column][run])) for row in rows],
                    "statuses": [_status(row.cells[column][run]) for row in rows],
                    "bounds": {
                        number: outcome.bounds
                        for number, row in enumerate(rows)
                        if (outcome := row.cells[column][run]) and outcome.bounds
                    },
                }
                for run in range(len(runs))
            ]
            for column in range(len(columns))
        ],
    }


def _row(
    columns: Sequence[ReportColumn],
    outcomes: Outcomes,
    diagnoses: Sequence[Mapping[str, tuple[str, ...]]],
    sample_id: str,
) -> ReportRow:
    cells = tuple(
        tuple(
            None if entry is None else known.get(Key(sample_id, entry.signature))
            for entry, known in zip(column.entries, outcomes, strict=True)
        )
        for column in columns
    )
    places = [
        place
        for column, cell in zip(columns, cells, strict=True)
        if (last := cell[-1]) and (place := column.entry.goodness(last.value, last.bounds)) is not None
    ]
    moves = [
        last.value - first.value if column.entry.higher_is_better else first.value - last.value
        for column, (first, *others) in zip(columns, cells, strict=True)
        for last in others
        if first and last and first.value is not None and last.value is not None
    ]
    return ReportRow(
        sample_id=sample_id,
        place=_mean(places),
        moved=min(moves, default=None),
        cells=cells,
        findings=tuple(known.get(sample_id, ()) for known in diagnoses),
    )


def _samples_of(runs: Sequence[Run], wanted: Collection[str]) -> dict[str, Shown]:
    """What is shown of the samples, each as the last run has it that knows it."""
    found: dict[str, Shown] = {}
    for run in runs:
        if len(wanted) * _WORTH < len(run):
            samples = (run.sample(each) for each in wanted if each in run.sample_ids)
        else:
            samples = (sample for sample in run.samples() if sample.id in wanted)
        for sample in samples:
            found[sample.id] = Shown(
                question=one_line(sample.question or "", SHOWN_QUESTION),
                answer=cut(sample.answer or "", SHOWN_ANSWER).text,
                labels=_labels(sample),
            )
    return found


def _labels(sample: Sample) -> dict[str, str]:
    pairs = list(sample.labels.items())[:SHOWN_LABELS]
    return {one_line(name, SHOWN_LABEL): one_line(value, SHOWN_LABEL) for name, value in pairs}


def _value(outcome: Outcome | None) -> float | None:
    return None if outcome is None else outcome.value


def _status(outcome: Outcome | None) -> str:
    return "" if outcome is None else outcome.status


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
