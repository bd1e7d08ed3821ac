"""Commands on finished runs: `ragmetrics runs`, `report`, `verdicts`, `diff`, `correct` and `merge`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from ragmetrics_core.boundary.writing import replacing, unwritable
from ragmetrics_core.cli._arguments import AsJson, MetricName, OwnMetrics, RunFolder, SampleId
from ragmetrics_core.cli._own import open_run
from ragmetrics_core.cli._screen import Output, page, remarks, show, write_json
from ragmetrics_core.records.comparison import diff as compare
from ragmetrics_core.report import terminal
from ragmetrics_core.report.html import write_report
from ragmetrics_core.report.json_pages import runs_json
from ragmetrics_core.runs import Run, list_runs
from ragmetrics_core.runs import merge as merge_runs
from ragmetrics_core.runs.confusion_counts import CountRow, count_rows
from ragmetrics_core.runs.verdict_log import VerdictRow, verdict_rows, write_csv, write_jsonl
from ragmetrics_core.texts.wording import number_of

__all__ = ["correct", "diff", "merge", "report", "runs", "verdicts"]

UNFOLDED = 10_000


def runs(folder: Path = Path("runs"), *, as_json: AsJson = False) -> None:
    """List the runs in a folder: start, state, samples, means, judge.

    Args:
        folder: Folder to search, with its subfolders.
    """
    listed = list(list_runs(folder))
    if as_json:
        write_json(runs_json(listed))
    elif not listed:
        page().print(Text(f"There are no runs in {folder}."))
    else:
        # a program or file needs whole names, however long the lines become
        console = page() if page().is_terminal else page(width=UNFOLDED)
        console.print(terminal.runs_table(listed))


def report(
    run: RunFolder,
    run_b: Path | None = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o")] = Path("report.html"),
    all_: bool = False,
    cluster: str | None = None,
    labels: Path | None = None,
) -> None:
    """Write an HTML report of one run, or of two runs side by side.

    The report is one file that needs no network. It lists every sample; with many samples it contains the
    proofs of the worst ones.

    Args:
        run_b: Second run on the same samples.
        out: File to write.
        all_: Include the proofs of all samples; large ones go into a folder next to the file.
        cluster: Label whose values group dependent samples, such as source. Default: session, if samples have
            it; none treats all samples as independent.
        labels: File of people's labels of the run's answers, to show the metrics against people.
    """
    beside = None if run_b is None else Run.load(run_b)
    written = write_report(Run.load(run), out, other=beside, everything=all_, cluster=cluster, labels=labels)
    remarks().print(f"{written} written, {written.stat().st_size / 1e6:,.1f} MB")


def verdicts(
    run: RunFolder,
    *,
    counts: bool = False,
    format_: Literal["jsonl", "csv"] | None = None,
    out: Path | None = None,
) -> None:
    """Export verdicts or counts as JSON Lines or CSV.

    Each row is one verdict: sample, metric, text, decision, reason, and evidence with its place. With
    --counts, each row is one score, or a part of it, with num_tp, num_fp and num_fn.

    Args:
        counts: Export true positives, false positives and false negatives of each score that has them.
        format_: Output format. Default: from the file's name, else jsonl.
        out: File to write. Default: standard output.
    """
    is_csv = format_ == "csv" or (format_ is None and out is not None and out.suffix.lower() == ".csv")
    fields = CountRow._fields if counts else VerdictRow._fields
    write = partial(write_csv, fields=fields) if is_csv else write_jsonl
    records = Run.load(run).records()
    rows = count_rows(records) if counts else verdict_rows(records)
    if out is None:
        write(rows, Output(as_json=not is_csv))
        return
    with unwritable(out), replacing(out, encoding="utf-8", newline="") as file:
        count = write(rows, file)
    remarks().print(f"{number_of(count, 'row' if counts else 'verdict')} written to {out}")


def diff(run_a: Path, run_b: Path, sample: SampleId, metric: MetricName) -> None:
    """Compare one score in two runs.

    Lists the texts and verdicts that changed, and the effect on the score.

    Args:
        run_a: Folder of the first run.
        run_b: Folder of the second run.
    """
    first, second = Run.load(run_a), Run.load(run_b)
    for run in (first, second):
        run.refuse_altered()
        for row in (row for row in run.rejected if row.sample_id == sample):
            message = f"another row of {run.path} has the id {sample} too: {row}"
            remarks().print(terminal.plain(message), soft_wrap=True)
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
    """Correct one verdict.

    Recomputes the score without a call. The record keeps both decisions.

    Args:
        number: Number of the verdict, as `ragmetrics show` lists it.
        verdict: Your decision.
        by: Your name, for the record.
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
    """Merge runs of the same models into a new folder.

    The runs have different samples or different metrics. Keeps all corrections and labels. Refuses runs that
    contradict each other and lists the contradictions, unless --prefer says which run counts.

    Args:
        runs: Folders of runs.
        out: New folder for the merged run.
        prefer: Which of two contradicting runs counts, in the order given.
    """
    run = merge_runs(*runs, out=out, prefer=prefer)
    show(page(), (terminal.means_table(run.means(), run.metrics),))
