"""`ragmetrics audit`: derive every score of a run again from its record."""

from typing import Annotated

import typer
from rich.text import Text

from ragmetrics_core.cli.arguments import RunFolder, own_metric
from ragmetrics_core.cli.screen import page, show
from ragmetrics_core.report import terminal
from ragmetrics_core.runs import Run

__all__ = ["audit"]


def audit(
    run: RunFolder,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics", help="Metrics of your own that the run has: MODULE:NAME, separated by commas."
        ),
    ] = None,
) -> None:
    """Derive every score again, without any model.

    Each record's raw replies are read again and its score is computed from them; all that differs is listed.
    The exit code is 1 when anything differs or cannot be derived.
    """
    console = page()
    own = [own_metric(name.strip()) for name in (metrics or "").split(",") if name.strip()]
    read = Run.load(run, metrics=own)
    failed = 0
    for key, differences in read.audit():
        failed += 1
        show(console, terminal.difference_lines(key.sample_id, key.signature, differences))
    count = len(read.keys)
    records = "1 record checked" if count == 1 else f"{count} records checked"
    if not read.finished:
        console.print("The run did not finish: what it has was checked.")
    if failed:
        console.print(Text(f"{records}, {failed} of them not as the replies give", "bold red"))
        raise typer.Exit(1)
    console.print(Text(f"{records}: each score follows from its record", "bold green"))
