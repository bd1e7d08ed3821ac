"""`ragmetrics study compare`: two runs, sample by sample, with an exit code that says how it went."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._limits import Maximum, Minimum, limits_of, tell
from ragmetrics_core.cli._screen import remarks, write
from ragmetrics_core.cli._study_output import (
    Alpha,
    AsJson,
    Cluster,
    GateFormat,
    OneTable,
    Out,
    Plot,
    Seed,
    Wanted,
    emit,
    format_of,
    names,
    open_runs,
    save_plot,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._gate_files import comment_text, github_text, junit_text
from ragmetrics_core.report._plots import draw_intervals
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import write_whole
from ragmetrics_core.study import (
    RunComparison,
    TraceDifference,
    compare_runs,
    comparison_tables,
    decide,
    gate_tables,
    short,
    trace_difference,
    trace_tables,
)

__all__ = ["compare"]


class FailIf(StrEnum):
    """What makes the command fail; typer takes a list of choices only as an enumeration."""

    WORSE = "worse"
    NOT_BETTER = "not-better"
    INFERIOR = "inferior"
    CANNOT_TELL = "cannot-tell"


def compare(
    run_a: Annotated[Path, typer.Argument(metavar="A", help="The run before.", show_default=False)],
    run_b: Annotated[Path, typer.Argument(metavar="B", help="The run after.", show_default=False)],
    metrics: Wanted = None,
    threshold: Annotated[
        float, typer.Option("--pass", help="From which score on a sample passes (McNemar's test).")
    ] = 0.5,
    margin: Annotated[
        float | None,
        typer.Option(min=0, help="By how much B may be worse; shows whether it is not worse than that."),
    ] = None,
    fail_if: Annotated[
        list[FailIf] | None,
        typer.Option(
            help="Exit with 1 if a metric is worse, is not better, or is not shown to be within --margin; "
            "with 3 if it cannot be told (cannot-tell). Several times.",
        ),
    ] = None,
    minimum: Minimum = None,
    maximum: Maximum = None,
    trace: Annotated[
        int, typer.Option(min=0, help="Follow the N samples that moved a mean most into their records.")
    ] = 0,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    as_format: Annotated[
        GateFormat | None,
        typer.Option(
            "--format",
            help="Without it: what --out ends in, else terminal. github: commands of a workflow, and its "
            "step summary.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    comment: Annotated[
        Path | None, typer.Option(help="A file for the comment on a pull request, in Markdown.")
    ] = None,
    link: Annotated[str | None, typer.Option(help="The address of a report, for the comment.")] = None,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Compare two runs of the same samples: better, worse, or cannot tell.

    Differences with paired bootstrap intervals, the sign-flip permutation test with Holm's adjustment, and
    what could have been found at all. Scores that B lost count as the worst. --trace N shows which samples,
    statements and verdicts moved the means. Exit codes: 0 passed, 1 a condition of --fail-if, --min or --max
    failed, 2 wrong use, 3 cannot tell, with --fail-if cannot-tell.
    """
    as_format = format_of(as_format, as_json)
    before, after = open_runs([run_a, run_b])
    if FailIf.INFERIOR in (fail_if or ()) and margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    limits = limits_of(after, minimum, maximum)
    found = compare_runs(
        before,
        after,
        metrics=names(metrics),
        threshold=threshold,
        alpha=alpha,
        margin=margin,
        cluster=cluster,
        seed=seed,
    )
    gate = decide(found, [each.value for each in fail_if or ()], limits, runs=(before, after))
    detailed = trace or (3 if comment or as_format == "github" else 0)
    traces = _traces(run_a, run_b, found, detailed) if detailed else []
    tables = [*comparison_tables(found), *gate_tables(gate)]
    for each in traces if trace else ():
        tables += trace_tables(each)
    if as_format == "github":
        write(github_text(gate))
        _summarise(comment_text(found, gate, traces, link=link))
    elif as_format == "junit" or (as_format is None and out is not None and out.suffix.lower() == ".xml"):
        _put(junit_text(found, gate), out)
    else:
        emit(tables, as_format=as_format, out=out, table=table)
    if comment is not None:
        write_whole(comment, comment_text(found, gate, traces, link=link))
    save_plot(lambda path: _draw(found, path), plot)
    tell(gate)
    if gate.code:
        raise typer.Exit(gate.code)


def _traces(before: Path, after: Path, found: RunComparison, detailed: int) -> list[TraceDifference]:
    first, second = Run.load(before), Run.load(after)
    traces = [
        trace_difference(first, second, each.metric, detailed=detailed, verdict=each.verdict)
        for each in found.metrics
    ]
    return [each for each in traces if each.moved]


def _summarise(text: str) -> None:
    """Add to the summary of the workflow's step, where there is one."""
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text + "\n")


def _put(text: str, out: Path | None) -> None:
    if out is None:
        write(text)
    else:
        write_whole(out, text)
        remarks().print(f"written to {out}")


def _draw(found: RunComparison, path: Path) -> None:
    labels = [each.metric for each in found.metrics]
    rows = [(short(each.metric, labels), each.difference) for each in found.metrics]
    title = f"{found.after} against {found.before}"
    draw_intervals({"": rows}, path, title=title, axis="difference of means", zero=True)
