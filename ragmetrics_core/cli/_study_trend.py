"""`ragmetrics study trend`: metrics over runs in order."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._study_output import (
    Alpha,
    AsJson,
    Cluster,
    Format,
    OneTable,
    Out,
    Plot,
    Seed,
    Wanted,
    emit,
    format_of,
    names,
    open_runs,
    save_plot,
)
from ragmetrics_core.report._plots import draw_intervals
from ragmetrics_core.study import Estimate, Trend, short, study_trend, trend_tables

__all__ = ["trend"]


def trend(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Runs, the earliest first.")],
    metrics: Wanted = None,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Follow each metric over runs: means with intervals, and which changes are real.

    Each run is compared with the one before, sample by sample; p is adjusted for all changes of all metrics.
    """
    as_format = format_of(as_format, as_json)
    found = study_trend(open_runs(runs), metrics=names(metrics), cluster=cluster, alpha=alpha, seed=seed)
    emit(trend_tables(found), as_format=as_format, out=out, table=table)
    save_plot(lambda path: _draw(found, path), plot)


def _draw(found: Trend, path: Path) -> None:
    signs = {"better": " ▲", "worse": " ▼"}
    signatures = list(dict.fromkeys(each.metric for each in found.points))
    panels: dict[str, list[tuple[str, Estimate]]] = {}
    for each in found.points:
        label = f"{each.run}{signs.get(each.verdict, '')}"
        panels.setdefault(short(each.metric, signatures), []).append((label, each.mean))
    draw_intervals(panels, path, title="Over the runs", axis="mean")
