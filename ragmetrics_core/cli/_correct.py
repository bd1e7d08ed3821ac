"""`ragmetrics correct`: overrule a verdict."""

from typing import Annotated, Literal

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import MetricName, OwnMetrics, RunFolder, SampleId, open_run
from ragmetrics_core.cli._screen import page
from ragmetrics_core.report import _terminal as terminal

__all__ = ["correct"]


def correct(
    run: RunFolder,
    sample: SampleId,
    metric: MetricName,
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", help="The verdict's number.", show_default=False)
    ],
    verdict: Annotated[
        Literal["yes", "no"], typer.Argument(metavar="yes|no", help="Your decision.", show_default=False)
    ],
    by: Annotated[str | None, typer.Option(help="Who decides; kept in the record.")] = None,
    metrics: OwnMetrics = None,
) -> None:
    """Overrule one verdict.

    The score is derived again without a call; the record keeps both decisions.
    """
    opened = open_run(run, metrics)
    before = opened.score(sample, metric)
    after = opened.correct(sample, metric, number, verdict == "yes", by=by)
    console = page()
    verdict_before, verdict_after = (each.verdicts[number - 1] for each in (before, after))
    console.print(
        Text.assemble(
            (f"verdict {number}: ", "dim"),
            terminal.plain(f"{verdict_before.label} → {verdict_after.label}: "),
            terminal.one_line(verdict_after.text),
        )
    )
    console.print(Text.assemble(("before: ", "dim"), terminal.one_line(before.headline)))
    console.print(Text.assemble(("after:  ", "dim"), terminal.one_line(after.headline)))
