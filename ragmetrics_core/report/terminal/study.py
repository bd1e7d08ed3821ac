"""The tables of a study for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from ragmetrics_core.report.terminal.text import GOOD, LABEL, OPEN, WEAK, bullets, heading, one_line, table
from ragmetrics_core.study import Cell, Column, Mark, Marked, Table, shown

__all__ = ["study_page"]

_STYLES: dict[Mark, str] = {"": "", "good": GOOD, "weak": WEAK, "open": OPEN, "baseline": "bold"}

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


class _Shape(NamedTuple):
    """How narrow a table's columns may become.

    Attributes:
        name: the names of metrics, which are kept whole if at all possible.
        text: other texts, which give way to numbers, but not down to a letter a line.
        is_high: whether a head that is wider than what stands below it takes a line for each word.
    """

    name: int
    text: int
    is_high: bool


# The first that fits is taken; the last one is taken in any case.
_SHAPES = (_Shape(24, 12, False), _Shape(20, 8, True), _Shape(10, 8, True))
_GAP = 2


@dataclass(frozen=True)
class _Fitting:
    """A table in the widest shape that the terminal has room for."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table."""
        room = options.max_width - _GAP * (len(self.columns) - 1)
        for shape in _SHAPES:
            heads = [self._head(place, shape) for place in range(len(self.columns))]
            widest = [max(self._longest(place), *map(len, head)) for place, head in enumerate(heads)]
            least = [
                min(wide, self._narrowest(column, wide, shape))
                for column, wide in zip(self.columns, widest, strict=True)
            ]
            if sum(least) <= room:
                break
        rendered = table()
        for column, head, width in zip(self.columns, heads, _widths(least, widest, room), strict=True):
            justify: Literal["left", "right"] = "left" if column.kind == "text" else "right"
            rendered.add_column(Text("\n".join(head)), justify=justify, overflow="fold", width=width)
        for row in self.rows:
            rendered.add_row(*(_cell(cell, column) for cell, column in zip(row, self.columns, strict=True)))
        yield rendered

    def _longest(self, place: int) -> int:
        return max(cell_len(shown(row[place], self.columns[place].kind)) for row in self.rows)

    def _head(self, place: int, shape: _Shape) -> list[str]:
        head = one_line(self.columns[place].name).plain
        return head.split() if shape.is_high and len(head) > self._longest(place) else [head]

    @staticmethod
    def _narrowest(column: Column, widest: int, shape: _Shape) -> int:
        if column.kind in ("number", "count", "p"):
            return widest
        return shape.name if column.name == "metric" else shape.text


def _widths(least: Sequence[int], widest: Sequence[int], room: int) -> list[int]:
    """What each column gets: at least the least, and small wishes are granted before large ones.

    >>> _widths([5, 8, 8], [5, 10, 40], 40)
    [5, 10, 25]
    """
    widths, spare = list(least), max(0, room - sum(least))
    wishes = sorted(range(len(least)), key=lambda place: widest[place] - least[place])
    for number, place in enumerate(wishes):
        granted = min(widest[place] - least[place], spare // (len(wishes) - number))
        widths[place] += granted
        spare -= granted
    return widths


def _rendered(each: Table, said: list[Text]) -> RenderableType:
    """The table; what all rows share goes to `said`."""
    wanted: list[int] = []
    for place, column in enumerate(each.columns):
        texts = {shown(row[place], column.kind) for row in each.rows}
        if texts == {""}:
            continue
        if column.name in _CONSTANT and len(texts) == 1 < len(each.rows) and len(each.columns) >= _WIDE:
            said.append(one_line(f"{column.name}: {texts.pop()}", LABEL))
            continue
        wanted.append(place)
    return _Fitting(
        [each.columns[place] for place in wanted], [[row[place] for place in wanted] for row in each.rows]
    )


def _cell(cell: Cell, column: Column) -> Text:
    text = one_line(shown(cell, column.kind), _STYLES[cell.mark] if isinstance(cell, Marked) else "")
    if column.kind != "estimate":
        return text
    # where there is no room for both, the interval stands below the figure, and whole
    figure, space, interval = text.plain.partition(" ")
    return Text(figure + space + interval.replace(" ", "\N{NO-BREAK SPACE}"), text.style)
