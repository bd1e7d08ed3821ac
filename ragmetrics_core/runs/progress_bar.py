"""Progress of an evaluation, and its bar on a terminal or in a notebook."""

import sys
import time
from collections.abc import Callable, Generator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ragmetrics_core.boundary.shapes import is_mapping
from ragmetrics_core.models import Tally
from ragmetrics_core.runs.row_counts import count_rows
from ragmetrics_core.texts.wording import number_of

__all__ = ["Progress", "Report", "in_words", "shown_progress"]

# A run that is over sooner shows no bar, unless it was asked to.
DELAY = 1.0
# Seconds between two versions of the line.
EVERY = 0.1


class Progress(NamedTuple):
    """Progress of a run.

    Attributes:
        samples: number of samples that have all their scores.
        rejected: number of rows left out: invalid, or an id used again with other content.
        failed: number of failed scores.
        tally: calls, tokens and failures so far.
        kept: number of samples that an earlier call had finished.
        stage: stage of a test set, such as "quoted"; "" for a run of its own.
    """

    samples: int
    rejected: int
    failed: int
    tally: Tally
    kept: int = 0
    stage: str = ""


Report = Callable[[Progress], None]
"""Function to call after each sample."""


@contextmanager
def shown_progress(
    progress: Report | bool | None, samples: object, *, at_most: int | None = None
) -> Generator[Report | None]:
    """The function to call after each sample; None if nobody watches.

    Args:
        progress: a function, True for a bar, False for none, None for a bar on a terminal or in a notebook.
        samples: what is evaluated; its length is the length of the bar, if it has one.
        at_most: maximum number of rows to read.
    """
    if progress is None and not _is_watched():
        progress = False
    if progress is False:
        yield None
        return
    if callable(progress):
        yield progress
        return
    bar = _bar(_total(samples, at_most), DELAY if progress is None else 0.0)
    try:
        yield bar
    finally:
        bar.close()


def in_words(progress: Progress, total: int | None) -> str:
    """The progress in words: "12 of 52 samples, 3 failed, 120 calls, 45k tokens"."""
    done = progress.samples + progress.rejected
    if total is not None and done > total:  # a row with a conversation has several samples
        total = None
    samples = f"{done} of {number_of(total, 'sample')}" if total is not None else number_of(done, "sample")
    stage = f"{progress.stage}: " if progress.stage else ""
    return f"{stage}{samples}, {_details(progress)}"


def _details(progress: Progress) -> str:
    parts = [f"{progress.rejected} rejected"] if progress.rejected else []
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


def _is_watched() -> bool:
    """Whether standard error is a terminal or the output of a notebook's cell."""
    is_terminal = getattr(sys.stderr, "isatty", None)
    if is_terminal is not None and is_terminal():
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _total(samples: object, at_most: int | None) -> int | None:
    """Number of rows; None if unknown."""
    if isinstance(samples, str | Path):
        return count_rows(Path(samples), at_most=at_most)
    if not isinstance(samples, Sized) or is_mapping(samples):
        return None
    return len(samples) if at_most is None else min(len(samples), at_most)


def _bar(total: int | None, delay: float) -> "_Tqdm | _Line":
    try:
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return _Line(total, delay, sys.stderr)
    return _Tqdm(tqdm(total=total, delay=delay, unit=" samples"))


class _Tqdm:
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, progress: Progress) -> None:
        self._bar.set_postfix_str(_details(progress), refresh=False)
        self._bar.update(progress.samples + progress.rejected - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Line:
    """A line that is written over itself, where tqdm is not installed."""

    def __init__(self, total: int | None, delay: float, stream: TextIO) -> None:
        self._total = total
        self._stream = stream
        self._next = time.monotonic() + delay
        self._width = 0
        self._latest: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        self._latest = progress
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._write(progress)

    def close(self) -> None:
        if self._latest is not None and (self._width or time.monotonic() >= self._next):
            self._write(self._latest)
            self._stream.write("\n")

    def _write(self, progress: Progress) -> None:
        line = in_words(progress, self._total)
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)
