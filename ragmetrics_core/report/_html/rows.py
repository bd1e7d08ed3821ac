"""The table of samples: everything that the page sorts and filters by, without a proof."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core.report._html.columns import ReportColumn
from ragmetrics_core.report._text import fit_to_show
from ragmetrics_core.runs import Key, Outcome, Run

__all__ = ["Cell", "Outcomes", "ReportRow", "moved", "outcomes_of", "table", "table_rows"]

MOST_LABELS = 40
# Reading one sample by its place takes about as long as reading so many in a row.
_WORTH = 3

Outcomes = Sequence[Mapping[Key, Outcome]]
Cell = tuple[Outcome | None, ...]
"""What a metric came to in a sample, one outcome a run."""


class ReportRow(NamedTuple):
    """A sample of one run or of two.

    Attributes:
        sample_id: which sample.
        place: the mean of its values, each between its metric's ends (0 to 1), missing verdicts taken as
            negative; None when there is no value. Of two runs: of the second, where it has one.
        moved: of two runs, how much the value grew that grew least, or the one that fell most (where lower is
            better, the other way round); None without a pair.
        cells: one for each metric.
        findings: what the diagnosis of each run says, as codes.
    """

    sample_id: str
    place: float | None
    moved: float | None
    cells: tuple[Cell, ...]
    findings: tuple[tuple[str, ...], ...]


def outcomes_of(runs: Sequence[Run]) -> Outcomes:
    """What every record of each run came to."""
    return [dict(run.outcomes()) for run in runs]


def moved(cell: Cell) -> float | None:
    """The second run's value less the first one's; None unless both have one."""
    first, *others = [None if outcome is None else outcome.value for outcome in cell]
    return next((last - first for last in others if last is not None and first is not None), None)


def table_rows(runs: Sequence[Run], columns: Sequence[ReportColumn], outcomes: Outcomes) -> list[ReportRow]:
    """One row for each sample: the worst first, of two runs what fell off most; those without any last."""
    ids = dict.fromkeys(sample_id for run in runs for sample_id in run.sample_ids)
    diagnoses = [run.diagnoses() for run in runs]
    rows = [_row(columns, outcomes, diagnoses, sample_id) for sample_id in ids]

    def order(row: ReportRow) -> tuple[bool, float, float, str]:
        main = row.moved if len(runs) == 2 else row.place
        return main is None, main or 0.0, row.place or 0.0, row.sample_id

    return sorted(rows, key=order)


def table(runs: Sequence[Run], columns: Sequence[ReportColumn], rows: Sequence[ReportRow]) -> dict[str, Any]:
    """The rows as plain data, column by column."""
    texts = _texts_of(runs, {row.sample_id for row in rows})
    return {
        "ids": [fit_to_show(row.sample_id) for row in rows],
        **{
            name: [texts[row.sample_id][place] for row in rows]
            for place, name in enumerate(("questions", "answers", "labels"))
        },
        "findings": [row.findings for row in rows],
        "metrics": [
            [_outcomes([row.cells[column][run] for row in rows]) for run in range(len(runs))]
            for column in range(len(columns))
        ],
    }


def _outcomes(outcomes: Sequence[Outcome | None]) -> dict[str, Any]:
    values = [None if each is None else each.value for each in outcomes]
    return {
        "values": [None if value is None else round(value, 6) for value in values],
        "statuses": [each.status if each else "" for each in outcomes],
        "bounds": {row: each.bounds for row, each in enumerate(outcomes) if each and each.bounds},
    }


def _row(
    columns: Sequence[ReportColumn],
    outcomes: Outcomes,
    diagnoses: Sequence[Mapping[str, tuple[str, ...]]],
    sample_id: str,
) -> ReportRow:
    cells = tuple(
        tuple(
            known.get(Key(sample_id, entry.signature)) if entry else None
            for entry, known in zip(column.entries, outcomes, strict=True)
        )
        for column in columns
    )
    beside = [(column.entry, cell) for column, cell in zip(columns, cells, strict=True)]
    places = [entry.goodness(last.value, last.bounds) for entry, cell in beside if (last := cell[-1])]
    known_places = [place for place in places if place is not None]
    moves = [
        move if entry.higher_is_better else -move
        for entry, cell in beside
        if (move := moved(cell)) is not None
    ]
    return ReportRow(
        sample_id=sample_id,
        place=sum(known_places) / len(known_places) if known_places else None,
        moved=min(moves, default=None),
        cells=cells,
        findings=tuple(known.get(sample_id, ()) for known in diagnoses),
    )


def _texts_of(runs: Sequence[Run], wanted: Collection[str]) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Question, answer and labels of the samples, each as the last run has it that knows it."""
    found: dict[str, tuple[str, str, dict[str, str]]] = {}
    for run in runs:
        if len(wanted) * _WORTH < len(run):
            samples = (run.sample(each) for each in wanted if each in run.sample_ids)
        else:
            samples = (sample for sample in run.samples() if sample.id in wanted)
        for sample in samples:
            labels = {name: str(value) for name, value in list(sample.labels.items())[:MOST_LABELS]}
            found[sample.id] = fit_to_show((sample.question or "", sample.answer or "", labels))
    return found
