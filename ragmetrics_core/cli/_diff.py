"""`ragmetrics diff`: what moved between two runs in one score."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._arguments import MetricName, SampleId
from ragmetrics_core.cli._screen import page, show
from ragmetrics_core.records._comparison import diff as compare
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.runs import Run

__all__ = ["diff"]


def diff(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The first run.", show_default=False)],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The second run.", show_default=False)],
    sample: SampleId,
    metric: MetricName,
) -> None:
    """Compare one score in two runs.

    Lists which texts and verdicts moved, and what that did to the score.
    """
    first, second = Run.load(run_a), Run.load(run_b)
    changes = compare(first.score(sample, metric), second.score(sample, metric))
    (entry,) = (each for each in first.metrics if each.signature == changes.before.signature)
    show(page(), terminal.difference_page(changes, low=entry.worst, high=entry.best))
