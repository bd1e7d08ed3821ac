"""Tables of a study: rows that describe their columns, numbers with all digits, and their display."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from ragmetrics_core.package.lazy import NOTEBOOK_PAGES
from ragmetrics_core.study._estimates import Estimate, Summary

__all__ = [
    "Cell",
    "Column",
    "Kind",
    "Mark",
    "Marked",
    "MetricName",
    "PValue",
    "StudyTable",
    "TableColumn",
    "counted",
    "flat",
    "in_notebooks",
    "plain_table",
    "short",
    "shown",
    "table_of",
]

Kind = Literal["text", "count", "number", "estimate", "summary", "p"]
Mark = Literal["", "good", "weak", "baseline"]

F = TypeVar("F", bound=Callable[..., Iterable["StudyTable"]])

Plain = str | int | float | bool | None


class Marked(NamedTuple):
    """A cell that is shown in colour."""

    cell: "Unmarked"
    mark: Mark


Unmarked = Plain | Estimate | Summary
Cell = Unmarked | Marked


class TableColumn(NamedTuple):
    """A column: its name and the kind of its cells, which controls display and files.

    An `estimate` is a figure with its interval, a `summary` mean, sd and n.
    """

    name: str
    kind: Kind = "text"


class Column(NamedTuple):
    """Display of a row's field: `p: Annotated[float, Column("p holm", "p")]`.

    A field without a `Column` has its own name as title, and the kind of its type, or else text.

    Attributes:
        title: name of the column.
        kind: kind of the cells. Default: from the type.
        mark: function from a cell to its colour.
        is_metric: whether cells are signatures of metrics, which are shown as names if these are unambiguous.
    """

    title: str = ""
    kind: Kind | None = None
    mark: Callable[[Any], Mark | None] | None = None
    is_metric: bool = False


MetricName = Annotated[str, Column("metric", is_metric=True)]
PValue = Annotated[float | None, Column(kind="p")]


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


_KINDS: dict[object, Kind] = {int: "count", float: "number", Estimate: "estimate", Summary: "summary"}


def table_of(
    name: str,
    title: str,
    row: type,
    rows: Iterable[Any],
    columns: str,
    notes: Iterable[str] = (),
    *,
    titles: Mapping[str, str] = {},
) -> StudyTable:
    """A table of rows that know their columns.

    Args:
        name: of the table.
        title: what it shows.
        row: the class of the rows.
        rows: one object for each line.
        columns: fields and properties of the rows, as words; `correlation.n` is a field of a field, and
            `before.value` is called before. What is None has no fields, and an empty cell.
        notes: what a reader should know.
        titles: of columns that the class alone cannot name.
    """
    lines, made = list(rows), list[TableColumn]()
    cells: list[list[Cell]] = []
    for path in columns.split():
        column, kind = _declared(row, path)
        last = path.removesuffix(".value").rpartition(".")[2].replace("_", " ")
        made.append(TableColumn(titles.get(path) or column.title or last, column.kind or kind))
        cells.append(_cells([_value(line, path) for line in lines], column))
    return StudyTable(
        name=name, title=title, columns=tuple(made), rows=tuple(zip(*cells, strict=True)), notes=tuple(notes)
    )


def in_notebooks(tables: F) -> F:
    """Let results show these tables in a notebook; decorates the function from a result to its tables."""

    def shown_in_notebook(result: Any) -> str:
        return NOTEBOOK_PAGES["study"](tables(result))

    result, *_ = get_type_hints(tables).values()
    result._repr_html_ = shown_in_notebook
    return tables


def plain_table(
    name: str,
    title: str,
    columns: Iterable[str | TableColumn],
    rows: Iterable[tuple[Cell, ...]],
    notes: Iterable[str] = (),
) -> StudyTable:
    """A table whose columns are named here; one that is only a name holds texts."""
    made = tuple(TableColumn(column) if isinstance(column, str) else column for column in columns)
    return StudyTable(name=name, title=title, columns=made, rows=tuple(rows), notes=tuple(notes))


def _declared(row: type, path: str) -> tuple[Column, Kind]:
    """The column of a field or property, and the kind of its type."""
    hint: Any = row
    column = Column()
    for name in path.split("."):
        member: Any = getattr_static(hint, name, None)
        getter = getattr(member, "fget", None) or getattr(member, "func", None)
        hints = get_type_hints(getter or hint, include_extras=True)
        hint, column = _unwrapped(hints["return" if getter else name])
    return column, _KINDS.get(hint, "text")


def _unwrapped(hint: Any) -> tuple[Any, Column]:
    """A type without what may stand around it, and the column that it is annotated with."""
    column = Column()
    while get_origin(hint) is Annotated or type(None) in get_args(hint):
        inner, *extras = get_args(hint)
        column = next((each for each in extras if isinstance(each, Column)), column)
        hint = inner
    return hint, column


def _value(row: Any, path: str) -> Any:
    for name in path.split("."):
        row = None if row is None else getattr(row, name)
    return row


def _cells(values: Sequence[Any], column: Column) -> list[Cell]:
    if column.is_metric:
        among = list(dict.fromkeys(values))
        return [short(value, among) for value in values]
    if column.mark is not None:
        return [Marked(value, column.mark(value) or "") for value in values]
    return list(values)


def short(metric: str, among: Sequence[str]) -> str:
    """A metric's name where it is the only one of that name among some, else its signature."""
    name = metric.partition("/")[0]
    return name if sum(each.partition("/")[0] == name for each in among) == 1 else metric


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
            return "<0.001" if kind == "p" and cell < 0.001 else f"{cell:.3f}"
        case _:
            return str(cell)


class Flat(NamedTuple):
    """A table as a file has it: one plain value a cell."""

    header: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]


def flat(table: StudyTable) -> Flat:
    """The table with each interval and summary in columns of its own, and all digits."""
    header = (
        "_".join(column.name.split()) + part
        for column in table.columns
        for part in _PARTS.get(column.kind, ("",))
    )
    rows = (
        tuple(
            value
            for cell, column in zip(row, table.columns, strict=True)
            for value in _values(cell, column.kind)
        )
        for row in table.rows
    )
    return Flat(tuple(header), tuple(rows))


_PARTS: dict[Kind, tuple[str, ...]] = {"estimate": ("", "_low", "_high"), "summary": ("_mean", "_sd", "_n")}


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


def counted(causes: Iterable[tuple[str, int]]) -> str:
    """Numbers of samples left out by cause: "3 undefined, 1 no label"."""
    return ", ".join(f"{count} {cause}" for cause, count in causes)
