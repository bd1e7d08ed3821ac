"""`ragmetrics audit`: derive every score of a run again from its record, and the run as a whole."""

from typing import Annotated

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import AsJson, OwnMetrics, RunFolder
from ragmetrics_core.cli._own import open_run
from ragmetrics_core.cli._screen import page, show, write_json
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.report._json_pages import audit_json
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._shown import ShownContexts
from ragmetrics_core.wording import number_of

__all__ = ["audit"]


def audit(
    run: RunFolder,
    *,
    metrics: OwnMetrics = None,
    as_json: AsJson = False,
    processes: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Derive every score again, without any model, and the run as a whole.

    Each record's raw replies are read again and its score is computed from them; what the files hold is held
    against the manifest: records that are missing, a judge of another name, labels that were edited. All that
    differs is listed. The exit code is 1 when anything differs or cannot be derived, or the run did not
    finish. Of a run that another process is still writing, what it has so far is checked, and that is said.

    Args:
        processes: How many processes look at the records. Without it: one a core for many.
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
        console.print(Text(f"{records}, {failed} of them not as the replies give", "bold red"))
    told = {
        "the run as a whole is not what its manifest says": whole,
        "the run did not finish: what it has was checked, and what it lacks is not known": is_left,
    }
    passed = not failed
    for text in (text for text, is_so in told.items() if is_so):
        console.print(Text(f"{records}: {text}" if passed else text, "bold red"))
        passed = False
    shown = ShownContexts.of(read.samples())
    if passed:
        more = ", and some rest on contexts that were not shown" if shown.contradicted else ""
        style = "bold yellow" if shown.contradicted else "bold green"
        console.print(Text(f"{records}: each score follows from its record{more}", style))
    if "reader" not in read.manifest.versions:
        console.print(
            "its first replies were read by earlier rules: those records are recomputed from what was read"
        )
    for line in shown.lines():
        console.print(Text(line))
    if read.is_written:
        console.print("another process is still writing the run: what follows was not there to be checked")
    return passed
