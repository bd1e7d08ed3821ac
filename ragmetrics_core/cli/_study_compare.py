"""`ragmetrics compare`: two runs, sample by sample, with an exit code; or any number of systems."""

import os
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.cli._limits import Limits, tell
from ragmetrics_core.cli._screen import write
from ragmetrics_core.cli._study_labels import PeopleLabels
from ragmetrics_core.cli._study_output import Runs, Tables, Testing, open_runs, put
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics.catalogue import split_names
from ragmetrics_core.report.gate_files import comment_text, github_text, junit_text
from ragmetrics_core.report.plots import draw_intervals
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    Estimate,
    RunComparison,
    SystemComparison,
    TraceDifference,
    compare_metrics,
    compare_runs,
    compare_systems,
    comparison_tables,
    decide,
    gate_tables,
    short,
    stance_tables,
    system_comparison_tables,
    trace_difference,
    trace_tables,
)

__all__ = ["compare"]


class FailIf(StrEnum):
    """Conditions for failure; typer needs an enumeration for a list of choices."""

    WORSE = "worse"
    NOT_BETTER = "not-better"
    INFERIOR = "inferior"
    DECLINES = "declines"
    CONTRADICTED = "contradicted"
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
    runs: Runs,
    *,
    by: str | None = None,
    people: PeopleLabels,
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
    """Compare two runs, or any number of systems.

    Three or more runs, and runs with --by or --people, are compared as systems: paired by question where they
    answer the same ones, all pairs at once, with one adjustment (a joint permutation test). Reports means,
    possible ranks, and groups: systems that share a letter are not told apart.

    Two runs A B, or two metrics of one run, are compared sample by sample. Reports differences with paired
    bootstrap intervals, the sign-flip permutation test with Holm's adjustment, and the smallest detectable
    difference. Scores that are missing in B, or whose answers decline only in B, count as the worst. --trace
    N shows the samples, statements and verdicts that moved the means.

    Exit codes: 0 passed, 1 a condition of --fail-if, --min or --max failed, 2 usage error, 3 undecided, with
    --fail-if cannot-tell.

    Args:
        runs: Folders of runs: a run for each system; or the run before, A, and the run after, B.
        by: Label that names the system, if a run has several.
        between: Compare two metrics instead of two runs: metric X of A with metric Y of B, or both of A
            without B. For example two versions of a prompt: "faithfulness,faithfulness(verify=verdicts.v4)".
        pass_: Lowest passing score of a sample, for McNemar's test.
        margin: Test whether B is worse by no more than this.
        fail_if: Exit with 1 if a metric is worse, is not better (not-better), is not shown to be within
            --margin (inferior), if more answers decline (declines; undecided ones of B count), or if a
            statement of B is contradicted (contradicted); exit with 3 if undecided (cannot-tell). Can be
            repeated.
        trace: Show the records of the N samples that moved each mean most.
        comment: Write a Markdown comment for a pull request to this file.
        link: URL of a report, for the comment.
    """
    is_github, out = output.format_ == "github", output.out
    opened = open_runs(runs)
    of_two = (
        between,
        margin is not None,
        fail_if,
        trace,
        limits,
        comment,
        link,
        output.format_ in ("github", "junit"),
    )
    # two runs that share no id may share questions
    is_apart = len(runs) == 2 and not any(of_two) and opened[0].labels.keys().isdisjoint(opened[1].labels)
    if by is not None or people.people or len(runs) > 2 or is_apart:
        if any(of_two):
            raise ConfigError(
                "--between, --margin, --fail-if, --trace, --min, --max, --comment, --link and --format "
                "github and junit are for two runs, without --by and --people"
            )
        said = people.of_runs(opened) if people.people else ()
        study = compare_systems(opened, by=by, people=said, **vars(testing))
        stances = stance_tables([Run.load(run) for run in runs], opened, by=by)
        output.show([*system_comparison_tables(study), *stances], plot=partial(_draw_systems, study))
        return
    if FailIf.INFERIOR in (fail_if or ()) and margin is None:
        raise ConfigError("--fail-if inferior needs --margin")
    if between is not None and (testing.metrics or trace or limits or comment or is_github):
        raise ConfigError(
            "--between compares two metrics: it cannot be combined with --metrics, --min, --max, --trace, "
            "--comment or --format github"
        )
    if len(runs) == 1 and between is None:
        raise ConfigError(
            "give a second run, the label of this one that names the system with --by LABEL, or two metrics "
            "of it with --between X,Y"
        )
    before, *others = opened
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
    conditions = [condition.value for condition in fail_if or ()]
    gate = decide(found, conditions, held, runs=(before, after), after=Run.load(runs[-1]))
    detailed = trace or (3 if comment or is_github else 0)
    traces = _traces(runs[0], runs[1], found, detailed) if detailed and others else []
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
        stances = stance_tables([Run.load(run) for run in runs], opened)
        output.show([*comparison_tables(found), *stances, *gate_tables(gate), *rows])
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


def _draw_systems(study: SystemComparison, path: Path) -> None:
    metrics = list(dict.fromkeys(each.metric for each in study.systems))
    panels: dict[str, list[tuple[str, Estimate]]] = {}
    for each in study.systems:
        panels.setdefault(short(each.metric, metrics), []).append(
            (f"{each.system} ({each.letters})", each.mean)
        )
    draw_intervals(panels, path, title="Systems: those that share a letter are not told apart", axis="mean")
