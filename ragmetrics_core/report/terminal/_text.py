"""Text from data on a terminal, which cannot be markup, move the cursor or change colours."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragmetrics_core.records import Record
from ragmetrics_core.report._marks import Look
from ragmetrics_core.report._proof_page import ProofPage
from ragmetrics_core.report._text import flat
from ragmetrics_core.runs import MetricEntry, Outcome
from ragmetrics_core.texts.wording import visible

__all__ = [
    "GOOD",
    "LABEL",
    "OPEN",
    "STYLES",
    "SYMBOLS",
    "WEAK",
    "bullets",
    "facts",
    "heading",
    "number",
    "one_line",
    "outcome",
    "part",
    "plain",
    "table",
]

# The sixteen colours that every terminal theme chooses for itself, so that dark and light ones are readable.
GOOD, WEAK, OPEN, LABEL = "green", "red", "yellow", "dim"
# By the look of a verdict: its sign, which needs no colour, and its colour.
SYMBOLS: Mapping[Look, str] = {"yes": "✓", "no": "✗", "contradicted": "≠", "unsure": "≈", "open": "?"}
STYLES: Mapping[Look, str] = {
    "yes": GOOD,
    "no": WEAK,
    "contradicted": f"reverse {WEAK}",
    "unsure": "magenta",
    "open": OPEN,
}


def plain(text: object, style: str = "") -> Text:
    """A value from the data as rich text; brackets and emoji codes are literal."""
    return Text(visible(str(text)), style)


def one_line(text: object, style: str = "") -> Text:
    """The same with line breaks and runs of spaces as one space."""
    return Text(flat(text), style)


def heading(title: str) -> Text:
    """Title of a part of a page."""
    return Text(title, "bold")


def part(title: str, lines: Iterable[Text]) -> Group:
    """A part of a page: a title and bullets."""
    return Group(Text(), heading(title), bullets(lines))


def facts(pairs: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names on the left, values on the right."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=LABEL, no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(name), value)
    return table


def table(*columns: str) -> Table:
    """A table with a line under its header and no other lines."""
    style: dict[str, Any] = {"header_style": LABEL, "border_style": LABEL, "collapse_padding": True}
    head = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False, **style)
    for column in columns:
        head.add_column(column, overflow="fold")
    return head


def bullets(lines: Iterable[Text]) -> RenderableType:
    """Lines with a bullet before each."""
    table = Table.grid(padding=(0, 1))
    table.add_column(style=LABEL)
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(Text("·"), line)
    return Padding(Group(table), (0, 0, 0, 2))


def number(value: float, entry: MetricEntry, weight: str = "") -> Text:
    """A score with three decimals, coloured by its place in its metric's range."""
    low, high = entry.worst, entry.best
    base = max(low, 0.0) if high > 0 else low
    place = (value - base) / (high - base)
    return Text(f"{value:.3f}", weight + (GOOD if place >= 0.75 else OPEN if place >= 0.5 else WEAK))


def outcome(score: Record | Outcome | ProofPage, entry: MetricEntry) -> Text:
    """A score in one cell: the value, the bounds, or else the status."""
    if score.value is not None:
        return number(score.value, entry)
    if score.bounds is not None:
        return Text("–".join(f"{end:.2f}" for end in score.bounds), OPEN)
    style = "dim italic" if score.status in ("undefined", "skipped") else f"italic {WEAK}"
    return Text(score.status.replace("_", " "), style)
