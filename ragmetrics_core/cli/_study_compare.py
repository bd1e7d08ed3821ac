"""`ragmetrics study compare`: two runs, sample by sample, with an exit code that says how it went."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypedDict

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
    compare_metrics,
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
    run_b: Annotated[
        Path | None, typer.Argument(metavar="B", help="The run after; with --between it may be left out.")
    ] = None,
    metrics: Wanted = None,
    between: Annotated[
        str | None,
        typer.Option(
            metavar="<X,Y>",
            help="Two metrics instead of two runs: X of A with Y of B, or of A without B; such as two "
            'versions of a prompt: "faithfulness,faithfulness(verify=verdicts.v4)".',
        ),
    ] = None,
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
            "with 3 if it cannot be told (cannot-tell). Several times."
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
    """Compare two runs of the same samples, or two metrics of one run: better, worse, or cannot tell.

    Differences with paired bootstrap intervals, the sign-flip permutation test with Holm's adjustment, and
    what could have been found at all. Scores that B lost count as the worst. --trace N shows which samples,
    statements and verdicts moved the means. Exit codes: 0 passed, 1 a condition of --fail-if, --min or --max
    failed, 2 wrong use, 3 cannot tell, with --fail-if cannot-tell.
    """
    as_format = format_of(as_format, as_json)
    if FailIf.INFERIOR in (fail_if or ()) and margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    if between is not None and (metrics or trace or minimum or maximum or comment or as_format == "github"):
        raise ConfigError(
            "--between compares two metrics: it goes without --metrics, --min, --max, --trace, --comment and "
            "--format github"
        )
    if run_b is None and between is None:
        raise ConfigError("name a second run, or two metrics of this one with --between X,Y")
    before, *others = open_runs([run_a] if run_b is None else [run_a, run_b])
    after = others[0] if others else before
    limits = limits_of(after, minimum, maximum)
    settings = _Settings(threshold=threshold, alpha=alpha, margin=margin, cluster=cluster, seed=seed)
    if between is None:
        found = compare_runs(before, after, metrics=metrics, **settings)
    else:
        found = compare_metrics(*_two(between), before, *others, **settings)
    gate = decide(found, [each.value for each in fail_if or ()], limits, runs=(before, after))
    detailed = trace or (3 if comment or as_format == "github" else 0)
    traces = _traces(run_a, run_b, found, detailed) if detailed and run_b is not None else []
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


class _Settings(TypedDict):
    """What a comparison of runs and one of metrics have in common."""

    threshold: float
    alpha: float
    margin: float | None
    cluster: str | None
    seed: int


def _two(between: str) -> tuple[str, str]:
    found = names(between)
    if len(found) != 2:
        raise ConfigError(f"--between takes two metrics, separated by a comma, not {between!r}")
    return found[0], found[1]


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
