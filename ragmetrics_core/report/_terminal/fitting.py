"""Tables that fit the terminal without cutting cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragmetrics_core.report._terminal.text import one_line, table

__all__ = ["Fitted", "FittedColumn"]

_GAP = 2


class FittedColumn(NamedTuple):
    """A column with its cells.

    Attributes:
        head: the header.
        cells: a cell for each row.
        kind: a "number" is never broken, a "name" only as a last resort, a "text" first.
        justify: alignment.
    """

    head: str
    cells: Sequence[Text]
    kind: Literal["number", "name", "text"] = "text"
    justify: Literal["left", "right"] = "left"

    @property
    def longest(self) -> int:
        """Width of the longest cell."""
        return max((cell_len(line) for cell in self.cells for line in cell.plain.split("\n")), default=0)


class _Shape(NamedTuple):
    """Minimum widths of columns, and whether headers wider than their cells break into one word per line."""

    name: int
    text: int
    is_high: bool


class _Measured(NamedTuple):
    """The lines of the headers, and the minimum and maximum width of each column."""

    heads: list[list[str]]
    least: list[int]
    widest: list[int]


# The first that fits is taken; the last one is taken in any case.
_SHAPES = (_Shape(24, 12, False), _Shape(20, 8, True), _Shape(10, 8, True))


@dataclass(frozen=True)
class Fitted:
    """A table in the widest shape that fits the terminal."""

    columns: Sequence[FittedColumn]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table."""
        room = options.max_width - _GAP * (len(self.columns) - 1)
        measured = [self._in(shape) for shape in _SHAPES]
        heads, least, widest = next((each for each in measured if sum(each.least) <= room), measured[-1])
        rendered = table()
        for column, head, width in zip(self.columns, heads, _widths(least, widest, room), strict=True):
            rendered.add_column(Text("\n".join(head)), justify=column.justify, overflow="fold", width=width)
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            rendered.add_row(*cells)
        yield rendered

    def _in(self, shape: _Shape) -> _Measured:
        heads = [_head(column, shape) for column in self.columns]
        widest = [max(each.longest, *map(len, head)) for each, head in zip(self.columns, heads, strict=True)]
        least = [_least(each, wide, shape) for each, wide in zip(self.columns, widest, strict=True)]
        return _Measured(heads, least, widest)


def _head(column: FittedColumn, shape: _Shape) -> list[str]:
    head = one_line(column.head).plain
    return head.split() if shape.is_high and len(head) > column.longest else [head]


def _least(column: FittedColumn, widest: int, shape: _Shape) -> int:
    if column.kind == "number":
        return widest
    return min(widest, shape.name if column.kind == "name" else shape.text)


def _widths(least: Sequence[int], widest: Sequence[int], room: int) -> list[int]:
    """Widths of the columns: at least their minimum; small columns get their full width before large ones.

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
