"""Metrics over several runs in order: means with intervals, and which changes are real."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._comparison import PairedMetric, Verdict, compare_runs
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._means import score_mean
from ragmetrics_core.study._scores import Scores, metrics_of_all, short
from ragmetrics_core.study._significance import holm
from ragmetrics_core.study._tables import Mark, Marked, StudyTable, TableColumn

__all__ = ["Trend", "TrendPoint", "study_trend", "trend_tables"]

_MARKS: dict[str, Mark] = {"better": "good", "worse": "weak", "cannot tell": ""}


class TrendPoint(NamedTuple):
    """One metric in one run.

    Attributes:
        metric: its signature.
        run: the run's name.
        mean: of all scores with a value.
        n: how many these are.
        change: the difference to the run before, on the same samples, lost scores at their worst; None in
            the first run.
        lost: how many scores of the run before this one does not have.
        p: of that difference, adjusted by Holm for all changes of all metrics.
        verdict: "better" or "worse" where the change is real.
    """

    metric: str
    run: str
    mean: Estimate
    n: int
    change: Estimate | None = None
    lost: int = 0
    p: float | None = None
    verdict: Verdict = "cannot tell"


@dataclass(frozen=True, kw_only=True)
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


def study_trend(
    runs: Sequence[Scores],
    *,
    metrics: Sequence[str] | None = None,
    cluster: str | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Trend:
    """Follow metrics over runs.

    Args:
        runs: at least two, in order.
        metrics: names or signatures; without it all that the runs share.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        alpha: below which adjusted p a change is real.
        seed: of the intervals.

    Raises:
        ConfigError: fewer than two runs, or two that follow each other cannot be compared.
    """
    if len(runs) < 2:
        raise ConfigError("a trend needs at least two runs")
    chosen = metrics_of_all(runs, metrics)
    steps = [
        compare_runs(before, after, metrics=chosen, alpha=alpha, cluster=cluster, seed=seed)
        for before, after in pairwise(runs)
    ]
    changes = {(each.metric, place): each for place, step in enumerate(steps, 1) for each in step.metrics}
    adjusted = dict(zip(changes, holm([each.p for each in changes.values()]), strict=True))
    clustering = clustering_of(runs, cluster)
    points = [
        _point(run, metric, clustering, changes.get((metric, place)), adjusted.get((metric, place)), alpha)
        for metric in chosen
        for place, run in enumerate(runs)
    ]
    notes = dict.fromkeys(note for step in steps for note in step.notes)
    return Trend(points=tuple(points), alpha=alpha, notes=tuple(notes))


def _point(
    run: Scores,
    metric: str,
    clustering: Clustering,
    change: PairedMetric | None,
    p: float | None,
    alpha: float,
) -> TrendPoint:
    values, clusters = list(run.values[metric].values()), clustering.clusters(run.values[metric])
    mean = score_mean(values, clusters, ends=run.ends(metric), level=1 - alpha)
    if change is None:
        return TrendPoint(metric, run.name, mean, len(values))
    verdict: Verdict = "cannot tell"
    _, low, high = change.pessimistic
    if p is not None and p < alpha and low is not None and high is not None and (low > 0 or high < 0):
        verdict = "better" if (low > 0) != change.lower_is_better else "worse"
    return TrendPoint(metric, run.name, mean, len(values), change.pessimistic, change.lost, p, verdict)


def trend_tables(found: Trend) -> list[StudyTable]:
    """One table: a row for each metric and run."""
    names = list(dict.fromkeys(each.metric for each in found.points))
    rows = [
        (
            short(each.metric, names),
            each.run,
            each.mean,
            each.n,
            each.change,
            each.lost if each.change else None,
            each.p,
            Marked(each.verdict if each.change else "", _MARKS[each.verdict]),
        )
        for each in found.points
    ]
    return [
        StudyTable(
            name="trend",
            title="Over the runs",
            columns=(
                TableColumn("metric"),
                TableColumn("run"),
                TableColumn("mean", "estimate"),
                TableColumn("n", "count"),
                TableColumn("change", "estimate"),
                TableColumn("lost", "count"),
                TableColumn("p holm", "p"),
                TableColumn("verdict"),
            ),
            rows=tuple(rows),
            notes=(
                "change: to the run before on the same samples, with lost scores at their worst",
                f"better and worse: p, adjusted for all changes of all metrics, is below {found.alpha:g}, "
                "and the interval lies on one side of zero",
                *found.notes,
            ),
        )
    ]
