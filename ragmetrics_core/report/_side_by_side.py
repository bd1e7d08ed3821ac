"""One run, or two side by side: their metrics as columns and their samples as rows, the worst first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._text import one_line
from ragmetrics_core.runs import Key, MetricEntry, Outcome, Run

__all__ = ["Cell", "ReportColumn", "ReportRow", "SideBySide", "moved"]

Cell = tuple[Outcome | None, ...]
"""The outcomes of a metric on a sample, one per run."""


class ReportColumn(NamedTuple):
    """A metric of the report: its entry in each run, or None if a run does not measure it."""

    title: str
    entries: tuple[MetricEntry | None, ...]

    @property
    def entry(self) -> MetricEntry:
        """The entry of the first run that has one."""
        return next(entry for entry in self.entries if entry is not None)


class ReportRow(NamedTuple):
    """A sample of one run or of two.

    Attributes:
        sample_id: id of the sample.
        place: mean of its values, each scaled to its metric's range (0 to 1), with missing verdicts counted
            as negative; None if there are none. For two runs: from the second run if it has a value.
        moved: for two runs, the smallest gain or largest loss of a value (reversed if lower is better); None
            if there is no pair.
        cells: outcomes of each metric.
        findings: codes of the diagnosis in each run.
    """

    sample_id: str
    place: float | None
    moved: float | None
    cells: tuple[Cell, ...]
    findings: tuple[tuple[str, ...], ...]


def moved(cell: Cell) -> float | None:
    """The second run's value minus the first one's; None unless both have one."""
    first, *others = [None if outcome is None else outcome.value for outcome in cell]
    return next((last - first for last in others if last is not None and first is not None), None)


@dataclass(frozen=True)
class SideBySide:
    """One or two runs with the outcomes of their samples.

    Raises:
        ConfigError: there are no runs, or more than two.
    """

    runs: Sequence[Run]

    def __post_init__(self) -> None:
        if not 1 <= len(self.runs) <= 2:
            raise ConfigError("a report shows one run, or two side by side")

    @cached_property
    def columns(self) -> list[ReportColumn]:
        """The metrics; those of two runs are paired by name.

        If a run has several metrics of a name, they are paired by signature.
        """
        counts = [Counter(entry.name for entry in run.metrics) for run in self.runs]
        several = {name for of_run in counts for name, count in of_run.items() if count > 1}
        keyed = [
            {entry.signature if entry.name in several else entry.name: entry for entry in run.metrics}
            for run in self.runs
        ]
        return [
            ReportColumn(one_line(key, 80), tuple(of_run.get(key) for of_run in keyed))
            for key in dict.fromkeys(chain.from_iterable(keyed))
        ]

    @cached_property
    def outcomes(self) -> list[Mapping[Key, Outcome]]:
        """The outcomes of all records, by run."""
        return [dict(run.outcomes()) for run in self.runs]

    @cached_property
    def rows(self) -> list[ReportRow]:
        """A row for each sample, the worst or the largest loss first; samples without values last."""
        ids = dict.fromkeys(chain.from_iterable(run.sample_ids for run in self.runs))
        diagnoses = [run.diagnoses() for run in self.runs]
        rows = [
            self._row(sample_id, tuple(codes.get(sample_id, ()) for codes in diagnoses)) for sample_id in ids
        ]

        def order(row: ReportRow) -> tuple[bool, float, float, str]:
            main = row.moved if len(self.runs) == 2 else row.place
            return main is None, main or 0.0, row.place or 0.0, row.sample_id

        return sorted(rows, key=order)

    def _row(self, sample_id: str, findings: tuple[tuple[str, ...], ...]) -> ReportRow:
        cells: list[Cell] = []
        places: list[float] = []
        moves: list[float] = []
        for column in self.columns:
            pairs = zip(column.entries, self.outcomes, strict=True)
            cell = tuple(
                None if own is None else known.get(Key(sample_id, own.signature)) for own, known in pairs
            )
            cells.append(cell)
            entry, last = column.entry, cell[-1]
            if last is not None and (place := entry.goodness(last.value, last.bounds)) is not None:
                places.append(place)
            if (move := moved(cell)) is not None:
                moves.append(move if entry.higher_is_better else -move)
        place = sum(places) / len(places) if places else None
        return ReportRow(sample_id, place, min(moves, default=None), tuple(cells), findings)
