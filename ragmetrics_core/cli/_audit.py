"""`ragmetrics audit`: recompute every score of a run from its record and check the run's files."""

from typing import Annotated

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import AsJson, OwnMetrics, RunFolder
from ragmetrics_core.cli._own import open_run
from ragmetrics_core.cli._screen import page, show, write_json
from ragmetrics_core.report import terminal
from ragmetrics_core.report.json_pages import audit_json
from ragmetrics_core.runs import Run
from ragmetrics_core.runs.shown_contexts import ShownContexts
from ragmetrics_core.texts.wording import number_of

__all__ = ["audit"]


def audit(
    run: RunFolder,
    *,
    metrics: OwnMetrics = None,
    as_json: AsJson = False,
    processes: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Recompute every score from its record, without a model.

    Parses the raw replies of each record again, computes the score from them, and compares the files with the
    manifest: missing records, a different judge, edited labels. Lists all differences. While another process
    is still writing the run, checks what is there so far and says so.

    Exit codes: 0 no difference, 1 a score differs or cannot be recomputed, or the run did not finish, 2 usage
    error.

    Args:
        processes: Number of processes. Default: one per core for large runs.
    """
    read = open_run(run, metrics)
    if as_json:
        written = audit_json(read, processes=processes)
        write_json(written)
        passed = written.passed
    else:
        passed = _page(read, processes)
    if not passed:
        raise typer.Exit(1)


def _page(read: Run, processes: int | None) -> bool:
    console = page()
    failed = whole = 0
    for key, differences in read.audit(processes=processes):
        is_record = key in read.keys
        failed += is_record
        whole += not is_record
        show(console, terminal.difference_lines(key.sample_id, key.signature, differences))
    records = number_of(len(read.keys), "record") + " checked"
    is_left = not read.finished and not read.is_written
    if failed:
        console.print(Text(f"{records}, {failed} of them differ from their replies", "bold red"))
    problems = {
        "the run's files do not match its manifest": whole,
        "the run did not finish: only the records it has were checked": is_left,
    }
    passed = not failed
    for text in (text for text, is_so in problems.items() if is_so):
        console.print(Text(f"{records}: {text}" if passed else text, "bold red"))
        passed = False
    shown = ShownContexts.of(read.samples())
    if passed:
        more = ", but some rest on contexts that the model was not shown" if shown.contradicted else ""
        style = "bold yellow" if shown.contradicted else "bold green"
        console.print(Text(f"{records}: each score follows from its record{more}", style))
    if "reader" not in read.manifest.versions:
        console.print(
            "an earlier version parsed the first replies: those records are recomputed from parsed replies"
        )
    for line in shown.lines():
        console.print(Text(line))
    if read.is_written:
        console.print("another process is still writing the run: later records are not checked")
    return passed
