"""Lines on the judge of a run, the same on every page."""

from collections.abc import Iterator

from ragmetrics_core.models import LexicalJudge
from ragmetrics_core.probe import measured_on_people, people_lines
from ragmetrics_core.runs import Run

__all__ = ["judge_lines", "judge_notes"]


def judge_lines(run: Run, metric: str | None = None) -> Iterator[str]:
    """The judge's limits, and its measurements against people's labels; nothing without a judge.

    Args:
        run: the run.
        metric: signature of a metric. Default: all metrics of the run.
    """
    if run.judge is not None:
        yield from judge_notes(run.judge)
        yield from people_lines(measured_on_people(run, metric))


def judge_notes(identity: str) -> Iterator[str]:
    """The limits of the judge with this identity, or of the judges of this panel, if they are known."""
    members = identity.removeprefix("panel(").split(" | ")
    if any(member.startswith("embedded:") for member in members):
        yield LexicalJudge.note
