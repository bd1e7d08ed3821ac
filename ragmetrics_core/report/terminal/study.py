"""The tables of a study for a terminal."""

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.report.terminal.text import GOOD, LABEL, OPEN, WEAK, bullets, heading, one_line, table
from ragmetrics_core.study import Cell, Column, Mark, Marked, Table, shown

__all__ = ["study_page"]

_STYLES: dict[Mark, str] = {"": "", "good": GOOD, "weak": WEAK, "open": OPEN, "baseline": "bold"}

# Long texts give way to numbers, but not down to a letter a line.
_NARROWEST = 8

# In a wide table these columns are told once, below it, when they say the same in every row.
_WIDE = 7
_CONSTANT = ("run", "within")


def study_page(tables: Iterable[Table]) -> Iterator[RenderableType]:
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


def _rendered(each: Table, said: list[Text]) -> RenderableType:
    """The table without columns in which nothing stands; what all rows share goes to `said`."""
    rendered = table()
    wanted: list[int] = []
    for place, column in enumerate(each.columns):
        texts = {shown(row[place], column.kind) for row in each.rows}
        if texts == {""}:
            continue
        if column.name in _CONSTANT and len(texts) == 1 < len(each.rows) and len(each.columns) >= _WIDE:
            said.append(one_line(f"{column.name}: {texts.pop()}", LABEL))
            continue
        wanted.append(place)
        longest = max(len(column.name), *map(len, texts))
        rendered.add_column(
            one_line(column.name),
            justify="left" if column.kind == "text" else "right",
            no_wrap=column.kind in ("number", "count"),
            overflow="fold",
            min_width=min(longest, _NARROWEST),
        )
    for row in each.rows:
        rendered.add_row(*(_cell(row[place], each.columns[place]) for place in wanted))
    return rendered


def _cell(cell: Cell, column: Column) -> Text:
    text = one_line(shown(cell, column.kind), _STYLES[cell.mark] if isinstance(cell, Marked) else "")
    if column.kind != "estimate":
        return text
    # where there is no room for both, the interval stands below the figure, and whole
    figure, space, interval = text.plain.partition(" ")
    return Text(figure + space + interval.replace(" ", "\N{NO-BREAK SPACE}"), text.style)
