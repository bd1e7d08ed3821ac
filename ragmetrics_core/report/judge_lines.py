"""Lines on the judge of a run, the same on every page."""

import re
from collections.abc import Iterator

from ragmetrics_core.models import judge_note
from ragmetrics_core.probe import measured_on_people, people_lines
from ragmetrics_core.runs import Run

__all__ = ["judge_lines", "judge_notes", "measured_lines"]


def judge_lines(run: Run) -> Iterator[str]:
    """The judge's limits, and its measurements against people's labels; nothing without a judge."""
    yield from judge_notes(run.judge)
    yield from measured_lines(run)


def measured_lines(run: Run, metric: str | None = None) -> Iterator[str]:
    """The judge's measurements against people's labels; nothing without a judge.

    Args:
        run: the run.
        metric: signature of a metric. Default: all metrics of the run.
    """
    if run.judge is not None:
        yield from people_lines(measured_on_people(run, metric))


def judge_notes(identity: str | None) -> Iterator[str]:
    """The limits, if known, of the judge with this identity, or of the judges in this panel or cascade."""
    notes = map(judge_note, re.split(r"\(| \| ", identity or ""))
    yield from dict.fromkeys(filter(None, notes))
