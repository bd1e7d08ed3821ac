"""The tables of a study for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.report._terminal.fitting import Fitted, FittedColumn
from ragmetrics_core.report._terminal.text import GOOD, LABEL, WEAK, bullets, heading, one_line
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
    """The tables one below the other, each with its title and notes."""
    for number, each in enumerate(tables):
        if number:
            yield Text()
        yield heading(one_line(each.title).plain)
        if not each.rows:
            yield Text("  none", LABEL)
        said: list[Text] = []
        if each.rows:
            yield _rendered(each, said)
        if each.notes or said:
            yield bullets([*said, *(one_line(note, LABEL) for note in each.notes)])


def _rendered(each: StudyTable, said: list[Text]) -> RenderableType:
    """The table; what all rows share goes to `said`."""
    wanted: list[int] = []
    places = {column.name: place for place, column in enumerate(each.columns)}
    columns = [
        [shown(row[place], column.kind) for row in each.rows] for place, column in enumerate(each.columns)
    ]
    is_wide = len(each.columns) >= _WIDE
    for place, column in enumerate(each.columns):
        texts = set(columns[place])
        if texts == {""}:
            continue
        if is_wide and column.name in _CONSTANT and len(texts) == 1 < len(each.rows):
            said.append(one_line(f"{column.name}: {texts.pop()}", LABEL))
            continue
        if is_wide and column.name in _COUNTS and texts <= {"", "0"}:
            said.append(one_line(f"{column.name}: none", LABEL))
            continue
        own, other = _SAME
        if is_wide and column.name == own and other in places and columns[place] == columns[places[other]]:
            said.append(one_line(f"{own}: the {other}", LABEL))
            continue
        wanted.append(place)
    return Fitted([_fitted(each.columns[place], [row[place] for row in each.rows]) for place in wanted])


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
