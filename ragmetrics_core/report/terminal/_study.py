"""The tables of a study for a terminal."""

from collections.abc import Container, Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.report.terminal._fitting import Fitted, FittedColumn
from ragmetrics_core.report.terminal._text import GOOD, LABEL, WEAK, bullets, heading, one_line
from ragmetrics_core.study import Cell, Mark, Marked, StudyTable, TableColumn, shown

__all__ = ["study_page"]

_STYLES: dict[Mark, str] = {"": "", "good": GOOD, "weak": WEAK, "baseline": "bold"}

# In a wide table these columns are told once, below it, when they say the same in every row.
_WIDE = 7
_CONSTANT = ("run", "within")
# These where nothing was counted, and this one where it says what another does.
_COUNTS = ("lost", "gained")
_SAME = ("at worst", "difference")


def study_page(tables: Iterable[StudyTable]) -> Iterator[RenderableType]:
    """The tables, each with its title and notes."""
    for number, table in enumerate(tables):
        if number:
            yield Text()
        yield heading(one_line(table.title).plain)
        notes = [*_shared(table)]
        yield _rendered(table, hidden={name for name, _ in notes}) if table.rows else Text("  none", LABEL)
        if notes or table.notes:
            yield bullets(
                one_line(note, LABEL) for note in (*(": ".join(pair) for pair in notes), *table.notes)
            )


def _shared(table: StudyTable) -> Iterator[tuple[str, str]]:
    """Columns that a wide table can omit because all rows have the same value, with that value."""
    texts = {column.name: _texts(table, place) for place, column in enumerate(table.columns)}
    if len(texts) < _WIDE or not table.rows:
        return
    own, other = _SAME
    for name, cells in texts.items():
        is_one = len(set(cells)) == 1 and cells[0]
        if name in _CONSTANT and is_one and len(cells) > 1:
            yield name, cells[0]
        elif name in _COUNTS and set(cells) <= {"", "0"} and any(cells):
            yield name, "none"
        elif name == own and cells == texts.get(other) and any(cells):
            yield name, f"the {other}"


def _texts(table: StudyTable, place: int) -> list[str]:
    return [shown(row[place], table.columns[place].kind) for row in table.rows]


def _rendered(table: StudyTable, hidden: Container[str]) -> RenderableType:
    return Fitted(
        [
            _fitted(column, [row[place] for row in table.rows])
            for place, column in enumerate(table.columns)
            if column.name not in hidden and any(_texts(table, place))
        ]
    )


def _fitted(column: TableColumn, cells: Sequence[Cell]) -> FittedColumn:
    is_number = column.kind in ("number", "count", "p")
    return FittedColumn(
        column.name,
        [_cell(cell, column) for cell in cells],
        kind="number" if is_number else "name" if column.name == "metric" else "text",
        justify="left" if column.kind == "text" else "right",
    )


def _cell(cell: Cell, column: TableColumn) -> Text:
    text = one_line(shown(cell, column.kind), _STYLES[cell.mark] if isinstance(cell, Marked) else "")
    if column.kind != "estimate":
        return text
    # where there is no room for both, the interval stands below the figure, and whole
    figure, space, interval = text.plain.partition(" ")
    return Text(figure + space + interval.replace(" ", "\N{NO-BREAK SPACE}"), text.style)
