"""Tables that fit the terminal without cutting cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragmetrics_core.report.terminal._text import LABEL, bullets, one_line, table

__all__ = ["Fitted", "FittedColumn"]

_GAP = 2
_READABLE = 24
_SHORT = 12


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

    @property
    def is_prose(self) -> bool:
        """Whether cells hold sentences, which are not read in a narrow column."""
        is_text = self.kind == "text" and self.justify == "left"
        return is_text and any(cell.plain.count(" ") > 2 for cell in self.cells)

    def noted(self, notes: dict[str, int]) -> "FittedColumn":
        """The column with a number in place of each sentence, which the notes explain."""
        return self._replace(
            cells=[
                Text(f"[{notes.setdefault(cell.plain, len(notes) + 1)}]") if len(cell) > _SHORT else cell
                for cell in self.cells
            ]
        )


class _Shape(NamedTuple):
    """Minimum widths of columns, and whether headers wider than their cells break into one word per line."""

    name: int
    text: int
    is_high: bool


class _Measured(NamedTuple):
    """The lines of the headers, the minimum and maximum width of each column, and what the minimum leaves."""

    heads: list[list[str]]
    least: list[int]
    widest: list[int]
    spare: int


# The first that fits is taken; the last one is taken in any case.
_SHAPES = (_Shape(24, 12, False), _Shape(20, 8, True), _Shape(10, 8, True))


@dataclass(frozen=True)
class Fitted:
    """A table in the widest shape that fits the terminal; sentences without room are notes below it."""

    columns: Sequence[FittedColumn]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table."""
        notes: dict[str, int] = {}
        first, *others = self.columns
        short = Fitted([first, *(column.noted(notes) if column.is_prose else column for column in others)])
        shapes = [(each, each._in(shape, options.max_width)) for shape in _SHAPES for each in (self, short)]
        chosen, measured = next((each for each in shapes if each[1].spare >= 0), shapes[-1])
        widths = _widths(measured.least, measured.widest, measured.spare)
        rendered = table()
        for column, head, width in zip(chosen.columns, measured.heads, widths, strict=True):
            rendered.add_column(Text("\n".join(head)), justify=column.justify, overflow="fold", width=width)
        for cells in zip(*(column.cells for column in chosen.columns), strict=True):
            rendered.add_row(*cells)
        yield rendered
        if chosen is short and notes:
            yield bullets(Text(f"[{number}] {note}", LABEL) for note, number in notes.items())

    def _in(self, shape: _Shape, width: int) -> _Measured:
        heads = [_head(column, shape) for column in self.columns]
        widest = [max(each.longest, *map(len, head)) for each, head in zip(self.columns, heads, strict=True)]
        least = [_least(each, wide, shape) for each, wide in zip(self.columns, widest, strict=True)]
        return _Measured(heads, least, widest, width - _GAP * (len(heads) - 1) - sum(least))


def _head(column: FittedColumn, shape: _Shape) -> list[str]:
    head = one_line(column.head).plain
    return head.split() if shape.is_high and len(head) > column.longest else [head]


def _least(column: FittedColumn, widest: int, shape: _Shape) -> int:
    if column.kind == "number":
        return widest
    if column.is_prose:
        return min(widest, _READABLE)
    return min(widest, shape.name if column.kind == "name" else shape.text)


def _widths(least: Sequence[int], widest: Sequence[int], spare: int) -> list[int]:
    """Widths of the columns: at least their minimum; small columns get their full width before large ones.

    >>> _widths([5, 8, 8], [5, 10, 40], 19)
    [5, 10, 25]
    """
    widths, spare = list(least), max(0, spare)
    wishes = sorted(range(len(least)), key=lambda place: widest[place] - least[place])
    for number, place in enumerate(wishes):
        granted = min(widest[place] - least[place], spare // (len(wishes) - number))
        widths[place] += granted
        spare -= granted
    return widths
