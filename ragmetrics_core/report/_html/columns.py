"""The metrics of one run or of two, side by side."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._text import one_line
from ragmetrics_core.runs import MetricEntry, Run

__all__ = ["ReportColumn", "columns"]


class ReportColumn(NamedTuple):
    """A metric of the report: its entry in each run, None where a run does not measure it."""

    title: str
    entries: tuple[MetricEntry | None, ...]

    @property
    def entry(self) -> MetricEntry:
        """The entry of the first run that has one."""
        return next(each for each in self.entries if each is not None)


def columns(runs: Sequence[Run]) -> list[ReportColumn]:
    """The metrics of the runs; of two runs those with the same signature stand together, else the same name.

    Raises:
        ConfigError: there are no metrics, or not one or two runs.
    """
    if not 1 <= len(runs) <= 2:
        raise ConfigError("a report shows one run, or two side by side")
    first, *others = (list(run.metrics) for run in runs)
    rest = others[0] if others else []
    rows: list[tuple[MetricEntry | None, ...]] = []
    for entry in first:
        partner = next((each for each in rest if each.signature == entry.signature), None) or _namesake(
            entry, first, rest
        )
        if partner is not None:
            rest = [each for each in rest if each is not partner]
        rows.append((entry, partner) if others else (entry,))
    rows += [(None, entry) for entry in rest]
    if not rows:
        raise ConfigError("the run has no metric to report on")
    names = Counter(next(each.name for each in row if each) for row in rows)
    return [ReportColumn(_title(row, names), row) for row in rows]


def _namesake(
    entry: MetricEntry, first: Sequence[MetricEntry], rest: Sequence[MetricEntry]
) -> MetricEntry | None:
    """The other run's only metric of the same name, where neither run has it twice."""
    same = [each for each in rest if each.name == entry.name]
    taken = any(each.signature == one.signature for each in same for one in first)
    is_only = sum(each.name == entry.name for each in first) == 1
    return same[0] if len(same) == 1 and is_only and not taken else None


def _title(row: Sequence[MetricEntry | None], names: Counter[str]) -> str:
    entry = next(each for each in row if each is not None)
    return one_line(entry.name if names[entry.name] == 1 else entry.signature, 80)
