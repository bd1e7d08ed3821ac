"""`ragmetrics audit`: derive every score of a run again from its record."""

import typer
from rich.text import Text

from ragmetrics_core.cli.arguments import OwnMetrics, RunFolder, open_run
from ragmetrics_core.cli.screen import page, show
from ragmetrics_core.report import terminal

__all__ = ["audit"]


def audit(
    run: RunFolder,
    metrics: OwnMetrics = None,
) -> None:
    """Derive every score again, without any model.

    Each record's raw replies are read again and its score is computed from them; all that differs is listed.
    The exit code is 1 when anything differs or cannot be derived.
    """
    console = page()
    read = open_run(run, metrics)
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
