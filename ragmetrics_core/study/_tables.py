"""Tables of a study: numbers with all their digits, and how they are shown in short."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ragmetrics_core.study._intervals import Estimate, Summary

__all__ = ["Cell", "Kind", "Mark", "Marked", "StudyTable", "TableColumn", "counted", "flat", "shown"]

Kind = Literal["text", "count", "number", "estimate", "summary", "p"]
Mark = Literal["", "good", "weak", "baseline"]

Plain = str | int | float | bool | None


class Marked(NamedTuple):
    """A cell that is shown in colour."""

    cell: "Unmarked"
    mark: Mark


Unmarked = Plain | Estimate | Summary
Cell = Unmarked | Marked


class TableColumn(NamedTuple):
    """A column: its name and what stands in it, which says how it is shown and written to a file.

    An `estimate` is a figure with its interval, a `summary` mean, sd and n.
    """

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, kw_only=True)
class StudyTable:
    """A table of a study.

    Attributes:
        name: names the table among those of its study, as a file would be named.
        title: what it shows.
        columns: its columns.
        rows: one cell for each column.
        notes: what a reader should know, such as why samples are left out.
    """

    name: str
    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = field(default=())


def shown(cell: Cell, kind: Kind) -> str:
    """A cell in short: three decimals, an interval in brackets; "" for what is not there.

    >>> shown(Estimate(0.75, 0.5, 1.0), "estimate"), shown(0.0001, "p")
    ('0.750 (0.500, 1.000)', '<0.001')
    """
    match cell:
        case Marked():
            return shown(cell.cell, kind)
        case None:
            return ""
        case Estimate():
            return "" if cell.value is None else str(cell)
        case Summary():
            # one value has no spread
            sd = "" if cell.n == 1 else f" ({cell.sd:.2f})"
            return f"{cell.mean:.2f}{sd}" + (f" {cell.n}" if cell.n else "")
        case bool():
            return "yes" if cell else "no"
        case float():
            return _p_shown(cell) if kind == "p" else f"{cell:.3f}"
        case _:
            return str(cell)


class Flat(NamedTuple):
    """A table as a file has it: one plain value a cell."""

    header: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]


def flat(table: StudyTable) -> Flat:
    """The table with each interval and summary in columns of its own, and all digits."""
    header = tuple(name for column in table.columns for name in _names(column))
    rows = (
        tuple(
            value
            for cell, column in zip(row, table.columns, strict=True)
            for value in _values(cell, column.kind)
        )
        for row in table.rows
    )
    return Flat(header, tuple(rows))


_PARTS: dict[Kind, tuple[str, ...]] = {
    "estimate": ("", "_low", "_high"),
    "summary": ("_mean", "_sd", "_n"),
}


def _names(column: TableColumn) -> Iterator[str]:
    name = "_".join(column.name.split())
    return (f"{name}{part}" for part in _PARTS.get(column.kind, ("",)))


def _values(cell: Cell, kind: Kind) -> Sequence[Plain]:
    match cell:
        case Marked():
            return _values(cell.cell, kind)
        case Summary():
            return cell.mean, None if cell.n == 1 else cell.sd, cell.n
        case Estimate():
            return cell
        case None:
            return (None,) * len(_PARTS.get(kind, ("",)))
        case _:
            return (cell,)


def _p_shown(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def counted(causes: Iterable[tuple[str, int]]) -> str:
    """How many samples are left out for each cause: "3 undefined, 1 no label"."""
    return ", ".join(f"{count} {cause}" for cause, count in causes)
