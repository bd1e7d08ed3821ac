"""`ragmetrics study compare`: two runs, sample by sample, with an exit code for the outcome."""

import os
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragmetrics_core.cli._limits import Limits, tell
from ragmetrics_core.cli._screen import write
from ragmetrics_core.cli._study_output import Tables, Testing, open_runs, put
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics.catalogue import split_names
from ragmetrics_core.report.gate_files import comment_text, github_text, junit_text
from ragmetrics_core.report.plots import draw_intervals
from ragmetrics_core.runs import Run
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
from ragmetrics_core.writing import write_whole

__all__ = ["compare"]


class FailIf(StrEnum):
    """Conditions for failure; typer needs an enumeration for a list of choices."""

    WORSE = "worse"
    NOT_BETTER = "not-better"
    INFERIOR = "inferior"
    DECLINES = "declines"
    CANNOT_TELL = "cannot-tell"


@dataclass(frozen=True, kw_only=True)
class _Output(Tables):
    """Destination and format of the comparison.

    Attributes:
        format_: Output format. github writes workflow commands and the step summary. Default: from the ending
            of --out, else terminal.
        plot: Draw the result to this file (.svg or .png).
    """

    format_: Literal["terminal", "csv", "markdown", "json", "junit", "github"] | None = None
    plot: Path | None = None


def compare(
    a: Path,
    b: Path | None = None,
    *,
    limits: Limits,
    testing: Testing,
    output: _Output,
    between: Annotated[str | None, typer.Option(metavar="<X,Y>")] = None,
    pass_: float = 0.5,
    margin: Annotated[float | None, typer.Option(min=0)] = None,
    fail_if: list[FailIf] | None = None,
    trace: Annotated[int, typer.Option(min=0)] = 0,
    comment: Path | None = None,
    link: str | None = None,
) -> None:
    """Decide whether a run is better or worse than another.

    Compares two runs of the same samples, or two metrics of one run. Reports differences with paired
    bootstrap intervals, the sign-flip permutation test with Holm's adjustment, and the smallest detectable
    difference. Scores that are missing in B, or whose answers decline only in B, count as the worst. --trace
    N shows the samples, statements and verdicts that moved the means.

    Exit codes: 0 passed, 1 a condition of --fail-if, --min or --max failed, 2 usage error, 3 undecided, with
    --fail-if cannot-tell.

    Args:
        a: Folder of the run before.
        b: Folder of the run after; optional with --between.
        between: Compare two metrics instead of two runs: metric X of A with metric Y of B, or both of A
            without B. For example two versions of a prompt: "faithfulness,faithfulness(verify=verdicts.v4)".
        pass_: Lowest passing score of a sample, for McNemar's test.
        margin: Test whether B is worse by no more than this.
        fail_if: Exit with 1 if a metric is worse, is not better (not-better), is not shown to be within
            --margin (inferior), or if more answers decline (declines; undecided ones of B count); exit with 3
            if undecided (cannot-tell). Can be repeated.
        trace: Show the records of the N samples that moved each mean most.
        comment: Write a Markdown comment for a pull request to this file.
        link: URL of a report, for the comment.
    """
    is_github, out = output.format_ == "github", output.out
    if FailIf.INFERIOR in (fail_if or ()) and margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    if between is not None and (testing.metrics or trace or limits or comment or is_github):
        raise ConfigError(
            "--between compares two metrics: it cannot be combined with --metrics, --min, --max, --trace, "
            "--comment or --format github"
        )
    if b is None and between is None:
        raise ConfigError("give a second run, or two metrics of this one with --between X,Y")
    before, *others = open_runs([a] if b is None else [a, b])
    after = others[0] if others else before
    held = limits.of(after)
    settings: dict[str, Any] = {"threshold": pass_, "margin": margin, **vars(testing)}
    if between is None:
        found = compare_runs(before, after, **settings)
    else:
        del settings["metrics"]
        if len(two := split_names(between)) != 2:
            raise ConfigError(f"--between takes two metrics, separated by a comma, not {between!r}")
        found = compare_metrics(two[0], two[1], before, *others, **settings)
    gate = decide(found, [condition.value for condition in fail_if or ()], held, runs=(before, after))
    detailed = trace or (3 if comment or is_github else 0)
    traces = _traces(a, b, found, detailed) if detailed and b is not None else []
    if is_github:
        write(github_text(found, gate))
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(comment_text(found, gate, traces, link=link) + "\n")
    elif output.format_ == "junit" or (
        output.format_ is None and out is not None and out.suffix.lower() == ".xml"
    ):
        put(junit_text(found, gate), out)
    else:
        rows = chain.from_iterable(map(trace_tables, traces if trace else ()))
        output.show([*comparison_tables(found), *gate_tables(gate), *rows])
    if comment is not None:
        write_whole(comment, comment_text(found, gate, traces, link=link))
    output.draw(plot=partial(_draw, found))
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


def _draw(found: RunComparison, path: Path) -> None:
    labels = [each.metric for each in found.metrics]
    rows = [(short(each.metric, labels), each.difference) for each in found.metrics]
    title = f"{found.after} against {found.before}"
    draw_intervals({"": rows}, path, title=title, axis="difference of means", zero=True)
