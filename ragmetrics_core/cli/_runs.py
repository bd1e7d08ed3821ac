"""Commands on finished runs: `ragmetrics runs`, `report`, `verdicts`, `diff`, `correct` and `merge`."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import AsJson, MetricName, OwnMetrics, RunFolder, SampleId
from ragmetrics_core.cli._own import open_run
from ragmetrics_core.cli._screen import Output, page, remarks, show, write_json
from ragmetrics_core.records._comparison import diff as compare
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.report._html import write_report
from ragmetrics_core.report._json_pages import runs_json
from ragmetrics_core.runs import Run, list_runs
from ragmetrics_core.runs import merge as merge_runs
from ragmetrics_core.runs._verdict_log import verdict_rows, write_csv, write_jsonl
from ragmetrics_core.runs._writing import replacing, unwritable
from ragmetrics_core.wording import number_of

__all__ = ["correct", "diff", "merge", "report", "runs", "verdicts"]

UNFOLDED = 10_000


def runs(folder: Path = Path("runs"), *, as_json: AsJson = False) -> None:
    """List the runs of a folder: when they began, whether they are finished, and what was measured.

    Args:
        folder: Where to look for runs, in folders below too.
    """
    listed = list(list_runs(folder))
    if as_json:
        write_json(runs_json(listed))
    elif not listed:
        page().print(Text(f"There is no run in {folder}."))
    else:
        # a program or a file that reads the list wants the names whole, however long the lines become
        console = page() if page().is_terminal else page(width=UNFOLDED)
        console.print(terminal.runs_table(listed))


def report(
    run: RunFolder,
    run_b: Path | None = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o")] = Path("report.html"),
    all_: bool = False,
    cluster: str | None = None,
) -> None:
    """Write a run as one HTML file to open in a browser, or two runs side by side.

    The file needs no network. It has every sample; with many samples it has the proofs of the worst ones.

    Args:
        run_b: A second run on the same samples.
        out: The file to write.
        all_: The proofs of all samples; those without room go into a folder beside it.
    """
    beside = None if run_b is None else Run.load(run_b)
    written = write_report(Run.load(run), out, other=beside, everything=all_, cluster=cluster)
    remarks().print(f"{written} written, {written.stat().st_size / 1e6:,.1f} MB")


def verdicts(
    run: RunFolder, *, format_: Literal["jsonl", "csv"] | None = None, out: Path | None = None
) -> None:
    """Write all verdicts as JSON lines or CSV.

    One row for each verdict: sample, metric, text, decision, reason, evidence and where it stands.

    Args:
        format_: Without it: what the file's name ends in, else jsonl.
        out: A file to write. Without it: standard output.
    """
    is_csv = format_ == "csv" or (format_ is None and out is not None and out.suffix.lower() == ".csv")
    write = write_csv if is_csv else write_jsonl
    rows = verdict_rows(Run.load(run).records())
    if out is None:
        write(rows, Output(as_json=not is_csv))
        return
    with unwritable(out), replacing(out, encoding="utf-8", newline="") as file:
        count = write(rows, file)
    remarks().print(f"{number_of(count, 'verdict')} written to {out}")


def diff(run_a: Path, run_b: Path, sample: SampleId, metric: MetricName) -> None:
    """Compare one score in two runs.

    Lists which texts and verdicts moved, and what that did to the score.

    Args:
        run_a: The first run.
        run_b: The second run.
    """
    first, second = Run.load(run_a), Run.load(run_b)
    for run in (first, second):
        run.refuse_altered()
        for row in (row for row in run.rejected if row.sample_id == sample):
            told = f"which row of {run.path} is {sample} is not known: {row}"
            remarks().print(terminal.plain(told), soft_wrap=True)
    changes = compare(first.score(sample, metric), second.score(sample, metric))
    (entry,) = (each for each in first.metrics if each.signature == changes.before.signature)
    show(page(), terminal.difference_page(changes, entry))


def correct(
    run: RunFolder,
    sample: SampleId,
    metric: MetricName,
    number: int,
    verdict: Annotated[Literal["yes", "no"], typer.Argument(metavar="yes|no")],
    *,
    by: str | None = None,
    metrics: OwnMetrics = None,
) -> None:
    """Overrule one verdict.

    The score is derived again without a call; the record keeps both decisions.

    Args:
        number: The verdict's number.
        verdict: Your decision.
        by: Who decides; kept in the record.
    """
    opened = open_run(run, metrics)
    before = opened.score(sample, metric)
    after = opened.correct(sample, metric, number, verdict == "yes", by=by)
    verdict_before, verdict_after = (record.verdicts[number - 1] for record in (before, after))
    change = terminal.plain(f"{verdict_before.label} → {verdict_after.label}: ")
    lines = [
        (f"verdict {number}: ", change + terminal.one_line(verdict_after.text)),
        ("before: ", terminal.one_line(before.headline)),
        ("after:  ", terminal.one_line(after.headline)),
    ]
    for name, text in lines:
        page().print(Text.assemble((name, "dim"), text))


def merge(runs: list[Path], *, out: Path, prefer: Literal["first", "second"] | None = None) -> None:
    """Put runs of the same models into a new folder: other samples, or other metrics of the same ones.

    Corrections and labels of all are kept. Runs that contradict each other are refused with a list of where
    they do, unless --prefer says which counts.

    Args:
        runs: Their folders, one or more.
        out: A new folder for all together.
        prefer: Which of two runs counts where they contradict each other, in the order given.
    """
    run = merge_runs(*runs, out=out, prefer=prefer)
    show(page(), (terminal.means_table(run.means(), run.metrics),))
