"""`ragmetrics evaluate` and `plan`: measure metrics on a file of samples, or count the calls needed."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Unpack

import typer
from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.cli._arguments import AsJson, Data, Evaluating, traffic_of
from ragmetrics_core.cli._limits import Limits, check_three_way, tell
from ragmetrics_core.cli._progress import progress_of
from ragmetrics_core.cli._screen import page, remarks, show, write_json
from ragmetrics_core.report import terminal
from ragmetrics_core.report.json_pages import evaluation_json, plan_json
from ragmetrics_core.runs import EvaluationArgs, OnError, Run
from ragmetrics_core.runs import evaluate as run_evaluation
from ragmetrics_core.runs import plan as make_plan
from ragmetrics_core.runs.row_counts import count_rows
from ragmetrics_core.study import GateVerdict, contradictions, decide_limits, read_scores

__all__ = ["closing", "evaluate", "means", "plan"]


class RunCondition(StrEnum):
    """Conditions for failure; typer needs an enumeration for a list of choices."""

    CANNOT_TELL = "cannot-tell"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Settings for keeping records.

    Attributes:
        strict_shown: Score only contexts the model received.
        out: Folder for the records; an unfinished run in it is resumed.
        overwrite: Replace the run in the folder.
        add: Keep the samples of earlier calls and add these.
        on_error: record: keep a failure as the score's status; raise: stop at the first failure.
        keep_vectors: Keep vectors in the records.
    """

    strict_shown: bool = False
    out: Path | None = None
    overwrite: bool = False
    add: bool = False
    on_error: OnError = "record"
    keep_vectors: bool = False


def evaluate(
    data: Data,
    evaluating: Evaluating,
    kept: Kept,
    limits: Limits,
    *,
    fail_if: list[RunCondition] | None = None,
    as_json: AsJson = False,
    **settings: Unpack[EvaluationArgs],
) -> None:
    """Measure metrics on the samples of a file.

    The folder given with --out keeps the proof of every score. The same command again resumes an interrupted
    run without repeating finished scores or answered calls. The run reflects the data of the latest call:
    changed samples are measured again, and removed samples no longer count.

    Exit codes: 0 at least one score has a value and every limit is met, 1 no score has a value or a limit of
    --min or --max is not met, or a statement is contradicted, with --fail-if contradicted, 2 usage error, 3
    undecided, with --fail-if cannot-tell.

    Args:
        fail_if: Exit with 3 if a mean meets its limit but its confidence interval does not (cannot-tell), or
            with 1 if a statement is contradicted (contradicted). Can be repeated.
    """
    conditions = frozenset(fail_if or ())
    chosen = evaluating.keywords()
    limits.check(chosen["metrics"])
    if RunCondition.CONTRADICTED in conditions:
        check_three_way(chosen["metrics"])
    try:
        with progress_of(remarks(), count_rows(data, at_most=evaluating.limit)) as progress:
            run = run_evaluation(
                evaluating.source(data),
                **chosen,
                **traffic_of(settings, evaluating.judge_option),
                **vars(kept),
                progress=progress,
            )
    except KeyboardInterrupt:
        if kept.out:
            remarks().print(
                f"Finished scores and answered calls are kept in {kept.out}: the same command resumes there."
            )
        raise
    causes = terminal.Causes.of(run.outcomes())
    gate = _gate(run, limits, conditions)
    if as_json:
        write_json(evaluation_json(run, gate))
    else:
        console = page()
        show(console, closing(run, causes, is_terminal=console.is_terminal))
    code = 0
    if gate is not None:
        tell(gate)
        code = gate.code if gate.failed or RunCondition.CANNOT_TELL in conditions else 0
    if code or not causes.measured:
        raise typer.Exit(code or 1)


def plan(
    data: Data,
    evaluating: Evaluating,
    *,
    out: Path | None = None,
    prices: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Count the calls and tokens of `evaluate`, without a call.

    Args:
        out: Folder of a run that has begun; its answered calls are not counted.
        prices: JSON file with prices per model. Adds the cost.
    """
    counted = make_plan(evaluating.source(data), **evaluating.keywords(asked=False), out=out, prices=prices)
    if as_json:
        write_json(plan_json(counted))
    else:
        show(page(), terminal.plan_page(counted))


def _gate(run: Run, limits: Limits, conditions: Collection[RunCondition]) -> GateVerdict | None:
    """The verdict on the limits and on contradictions; None if neither is asked for."""
    gate = None
    if limits:
        scores = read_scores(run)
        gate = decide_limits(scores, limits.of(scores))
    if RunCondition.CONTRADICTED in conditions:
        gate = gate or GateVerdict()
        gate = gate._replace(failed=(*gate.failed, *contradictions(run)))
    return gate


def closing(run: Run, causes: terminal.Causes, *, is_terminal: bool = False) -> Iterator[RenderableType]:
    """Page of a finished evaluation: means, failures, cost and next commands."""
    yield from means(run, is_terminal=is_terminal)
    yield from terminal.remarks(run, causes)
    yield Text()
    yield terminal.cost(run)
    yield Text()
    if run.path is None:
        yield Text("The records were not kept. To open and audit every score, give --out FOLDER.")
    else:
        folder = quote(str(run.path))
        yield Text(f"ragmetrics show {folder}    all samples; add SAMPLE METRIC for the proof of a score")
        yield Text(f"ragmetrics audit {folder}   recompute every score from its record")


def means(run: Run, *, is_terminal: bool) -> Iterator[RenderableType]:
    """The table of means; on a terminal, the first run of a folder also says how to read it."""
    found = run.means()
    yield terminal.means_table(found, run.metrics)
    if is_terminal and terminal.is_first(run):
        yield Text()
        yield terminal.reading(run, found)
