"""The list of runs."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ragmetrics_core.report.terminal.text import GOOD, LABEL, OPEN, WEAK, one_line, plain, table
from ragmetrics_core.runs import Listed

__all__ = ["runs_table"]

_STYLES = {"finished": GOOD, "running": OPEN, "waiting": OPEN, "interrupted": WEAK, "unreadable": WEAK}


def runs_table(runs: Sequence[Listed]) -> Table:
    """One row for each run."""
    rows = table("run")
    for name in ("began", "state"):
        rows.add_column(name, no_wrap=True)
    rows.add_column("samples", justify="right", no_wrap=True)
    rows.add_column("metrics", overflow="fold", min_width=19)
    rows.add_column("judge", overflow="fold")
    for run in runs:
        rows.add_row(
            plain(str(run.path)),
            Text(f"{run.started:%Y-%m-%d %H:%M}" if run.started else "", LABEL),
            Text(run.state, _STYLES[run.state]),
            Text(f"{run.samples:,}"),
            *_made_of(run),
        )
    return rows


def _made_of(run: Listed) -> tuple[Text, Text]:
    if run.manifest is None:
        return one_line(run.problem or "", WEAK), Text()
    names = dict.fromkeys(entry.name for entry in run.manifest.metrics)
    return plain("\n".join(names)), plain(run.manifest.judge or "")
