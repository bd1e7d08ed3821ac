"""Progress of an evaluation: a live bar on a terminal, a line every few seconds elsewhere."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ragmetrics_core.runs.progress_bar import Progress, Report, in_words

__all__ = ["PlainLines", "progress_of"]

EVERY = 5.0


@contextmanager
def progress_of(console: Console, total: int | None) -> Generator[Report]:
    """Function that shows progress: a bar on a terminal, else plain lines."""
    if not console.is_terminal:
        yield PlainLines(console, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), TimeRemainingColumn(compact=True))
    with Bar(*columns, console=console, expand=True, transient=True) as bar:
        task = bar.add_task("starting", total=total)

        def report(progress: Progress) -> None:
            completed = progress.samples + progress.rejected
            bar.update(task, completed=completed, description=in_words(progress, total))

        yield report


class PlainLines:
    """Print the progress at most every few seconds, so that a log stays short.

    Args:
        console: where to print.
        total: number of samples; None if unknown.
        clock: function that returns seconds; tests pass their own.
    """

    def __init__(
        self, console: Console, total: int | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._total = total
        self._clock = clock
        self._last = clock()

    def __call__(self, progress: Progress) -> None:
        """Print a line if enough time has passed since the last one."""
        now = self._clock()
        if now - self._last >= EVERY:
            self._last = now
            self._console.print(in_words(progress, self._total), soft_wrap=True)
