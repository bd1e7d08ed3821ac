"""Progress of an evaluation: a live bar on a terminal, a line every few seconds elsewhere."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ragmetrics_core.runs import Progress
from ragmetrics_core.wording import number_of

__all__ = ["PlainLines", "progress_of", "told"]

Report = Callable[[Progress], None]
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
            bar.update(task, completed=completed, description=told(progress, total))

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
            self._console.print(told(progress, self._total), soft_wrap=True)


def told(progress: Progress, total: int | None) -> str:
    """The progress in words: "12 of 52 samples, 3 failed, 120 calls, 45k tokens"."""
    done = progress.samples + progress.rejected
    parts = [f"{done} of {number_of(total, 'sample')}" if total is not None else number_of(done, "sample")]
    parts += [f"{progress.rejected} rejected"] if progress.rejected else []
    parts += [f"{progress.failed} failed"] if progress.failed else []
    parts.append(number_of(progress.tally.calls, "call"))
    tokens = progress.tally.prompt_tokens + progress.tally.completion_tokens
    parts += [f"{_short(tokens)} {'token' if tokens == 1 else 'tokens'}"] if tokens else []
    return ", ".join(parts)


def _short(count: int) -> str:
    for limit, unit in ((1_000_000, "M"), (10_000, "k")):
        if count >= limit:
            return f"{count / (1000 if unit == 'k' else limit):.{0 if unit == 'k' else 1}f}{unit}"
    return f"{count:,}"
