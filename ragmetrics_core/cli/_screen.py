"""Output of the commands: pages to standard output, remarks and errors to standard error."""

import io
import json
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ragmetrics_core.report.json_pages import JsonPage
from ragmetrics_core.report.terminal import escaped, visible

__all__ = ["Output", "page", "remarks", "show", "write", "write_json"]


class _Screen(Console):
    """A console that escapes control characters in texts, so that no text can steer the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a page, with control and invisible characters made visible."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(visible(piece.text), piece.style)


class Output:
    """Standard output as a file, for output that other programs read.

    Args:
        as_json: the output is JSON: control characters in its strings become escapes. Other text is written
            as it is; on a terminal, its control characters are made visible.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json

    def write(self, text: str) -> int:
        """Write a text."""
        if self._as_json:
            return sys.stdout.write(escaped(text))
        return sys.stdout.write(visible(text) if _is_terminal() else text)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def write(text: str, *, as_json: bool = False) -> None:
    """Write a text for other programs to standard output; see `Output`."""
    Output(as_json=as_json).write(text)


def write_json(content: JsonPage) -> None:
    """Write a command's result as JSON to standard output."""
    text = json.dumps(content.model_dump(), ensure_ascii=False, allow_nan=False, indent=2)
    write(text + "\n", as_json=True)


def page(*, no_color: bool = False, width: int | None = None) -> Console:
    """The console for results; it does not interpret markup."""
    return _Screen(markup=False, highlight=False, emoji=False, no_color=no_color or None, width=width)


def remarks() -> Console:
    """The console for errors, remarks and progress."""
    return _Screen(markup=False, highlight=False, emoji=False, stderr=True)


def show(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print the parts of a page one after the other."""
    for part in parts:
        console.print(part)


def write_anything() -> None:
    """Let streams show a question mark for characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
