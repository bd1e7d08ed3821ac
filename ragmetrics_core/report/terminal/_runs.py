"""The list of runs."""

from collections.abc import Sequence

from rich.text import Text

from ragmetrics_core.report.terminal._fitting import Fitted, FittedColumn
from ragmetrics_core.report.terminal._text import GOOD, LABEL, OPEN, WEAK, one_line, plain
from ragmetrics_core.runs import ListedRun
from ragmetrics_core.study import short

__all__ = ["runs_table"]

_STYLES = {"finished": GOOD, "running": OPEN, "waiting": OPEN, "interrupted": WEAK, "unreadable": WEAK}


def runs_table(runs: Sequence[ListedRun]) -> Fitted:
    """A row for each run."""
    made_of = [_made_of(run) for run in runs]
    began = [Text(f"{run.started:%Y-%m-%d %H:%M}" if run.started else "", LABEL) for run in runs]
    return Fitted(
        [
            FittedColumn("run", [plain(str(run.path)) for run in runs]),
            FittedColumn("began", began, "number"),
            FittedColumn("state", [Text(run.state, _STYLES[run.state]) for run in runs], "number"),
            FittedColumn("samples", [Text(f"{run.samples:,}") for run in runs], "number", "right"),
            FittedColumn("means", [means for means, _ in made_of], "name"),
            FittedColumn("judge", [judge for _, judge in made_of]),
        ]
    )


def _made_of(run: ListedRun) -> tuple[Text, Text]:
    if run.manifest is None:
        return one_line(run.problem or "", WEAK), Text()
    means, signatures = run.means(), [entry.signature for entry in run.manifest.metrics]
    lines = (f"{_mean(means.get(each))}  {short(each, signatures)}" for each in signatures)
    return plain("\n".join(lines)), plain(run.manifest.judge or "")


def _mean(value: float | None) -> str:
    return "none " if value is None else f"{value:.3f}"
