"""Where the commands write: pages to standard output, remarks and errors to standard error."""

import io
import sys
from collections.abc import Iterable

from rich.console import Console, RenderableType

__all__ = ["page", "remarks", "show"]


def page(*, no_color: bool = False, width: int | None = None) -> Console:
    """The console for results; nothing that is printed on it is read as markup."""
    return Console(markup=False, highlight=False, emoji=False, no_color=no_color or None, width=width)


def remarks() -> Console:
    """The console for errors, remarks and progress."""
    return Console(markup=False, highlight=False, emoji=False, stderr=True)


def show(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print the parts of a page one after the other."""
    for part in parts:
        console.print(part)


def write_anything() -> None:
    """Let streams of an encoding that lacks a character show a question mark in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
