"""Metrics over several runs in order: means with intervals, and which changes are real."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, NamedTuple, Unpack

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._comparison import VERDICT, Verdict, compare_runs, verdict_of
from ragmetrics_core.study._estimates import Estimate, score_mean
from ragmetrics_core.study._frame import StudySettings, frame_of
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import Column, MetricName, StudyTable, in_notebooks, table_of
from ragmetrics_core.study._tests import holm

__all__ = ["Trend", "TrendPoint", "study_trend", "trend_tables"]


class TrendPoint(NamedTuple):
    """One metric in one run.

    Attributes:
        metric: its signature.
        run: the run's name.
        mean: of all scores with a value.
        n: how many these are.
        change: the difference to the run before, on the same samples, lost scores at their worst; None in
            the first run.
        lost: how many scores of the run before this one does not have; None in the first run.
        p: of that difference, adjusted by Holm for all changes of all metrics.
        verdict: "better" or "worse" where the change is real; "" in the first run.
    """

    metric: MetricName
    run: str
    mean: Estimate
    n: int
    change: Estimate | None = None
    lost: int | None = None
    p: Annotated[float | None, Column("p holm", "p")] = None
    verdict: Annotated[Verdict | str, VERDICT] = ""


@dataclass(frozen=True)
class Trend:
    """Each metric over runs in order.

    Attributes:
        points: metric by metric, run by run.
        alpha: below which adjusted p a change is real.
        notes: what a reader should know.
    """

    points: tuple[TrendPoint, ...]
    alpha: float
    notes: tuple[str, ...]


def study_trend(runs: Sequence[Scores], *, alpha: float = 0.05, **studied: Unpack[StudySettings]) -> Trend:
    """Follow metrics over runs.

    Args:
        runs: at least two, in order.
        alpha: below which adjusted p a change is real.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: fewer than two runs, or two that follow each other cannot be compared.
    """
    if len(runs) < 2:
        raise ConfigError("a trend needs at least two runs")
    frame = frame_of(runs, **studied)
    studied["metrics"] = frame.metrics
    steps = [compare_runs(before, after, alpha=alpha, **studied) for before, after in pairwise(runs)]
    changes = {(each.metric, place): each for place, step in enumerate(steps, 1) for each in step.metrics}
    adjusted = dict(zip(changes, holm([each.p for each in changes.values()]), strict=True))
    points: list[TrendPoint] = []
    for metric in frame.metrics:
        for place, run in enumerate(runs):
            values = run.values[metric]
            mean = score_mean(*frame.columns(values), ends=run.ends(metric), level=1 - alpha)
            point = TrendPoint(metric, run.name, mean, len(values))
            if change := changes.get((metric, place)):
                p, moved = adjusted[metric, place], change.pessimistic
                verdict = verdict_of((-moved if change.lower_is_better else moved).side, p, alpha)
                point = point._replace(change=moved, lost=change.lost, p=p, verdict=verdict)
            points.append(point)
    notes = dict.fromkeys(note for step in steps for note in step.notes)
    return Trend(tuple(points), alpha, tuple(notes))


@in_notebooks
def trend_tables(trend: Trend) -> list[StudyTable]:
    """One table: a row for each metric and run."""
    notes = (
        "change: to the run before on the same samples, with lost scores at their worst",
        f"better and worse: p, adjusted for all changes of all metrics, is below {trend.alpha:g}, and the "
        "interval lies on one side of zero",
        *trend.notes,
    )
    columns = "metric run mean n change lost p verdict"
    return [table_of("trend", "Over the runs", TrendPoint, trend.points, columns, notes)]
