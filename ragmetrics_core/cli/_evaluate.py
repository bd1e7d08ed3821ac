"""`ragmetrics evaluate`: measure metrics on a file of samples."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.cli._arguments import (
    DEFAULTS,
    SECONDS,
    AsJson,
    Attempts,
    Cache,
    CardFile,
    Concurrency,
    Data,
    EmbedderName,
    FormAttempts,
    FullRepeats,
    JudgeNames,
    JudgeOptions,
    Limit,
    MaxCalls,
    MaxCost,
    MaxTokens,
    MetricNames,
    PriceTable,
    PromptFolder,
    Repeats,
    RequestsPerMinute,
    ScorerName,
    Timeout,
    TokensPerMinute,
    VariantName,
    choose,
    seconds_of,
)
from ragmetrics_core.cli._grouped import OUTPUT
from ragmetrics_core.cli._limits import Maximum, Minimum, check_limits, limits_of, tell
from ragmetrics_core.cli._progress import CountedCalls, count_rows, progress_of
from ragmetrics_core.cli._redacting import Redactions, redact_of
from ragmetrics_core.cli._screen import page, remarks, show, write_json
from ragmetrics_core.models import Budget, Traffic
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.report._json_pages import evaluation_json
from ragmetrics_core.runs import OnError, Run
from ragmetrics_core.runs import evaluate as run_evaluation
from ragmetrics_core.study import GateVerdict, decide_limits, read_scores
from ragmetrics_core.wording import number_of

__all__ = ["closing", "evaluate"]


def evaluate(
    data: Data,
    metrics: MetricNames = None,
    variant: VariantName = None,
    prompts: PromptFolder = None,
    cards: CardFile = None,
    repeats: Repeats = 1,
    full_repeats: FullRepeats = 1,
    limit: Limit = None,
    redact: Redactions = None,
    strict_shown: Annotated[
        bool,
        typer.Option("--strict-shown", help="No score of contexts that the model was not sent."),
    ] = False,
    judge: JudgeNames = None,
    judge_option: JudgeOptions = None,
    embedder: EmbedderName = None,
    scorer: ScorerName = None,
    concurrency: Concurrency = DEFAULTS.concurrency,
    timeout: Timeout = SECONDS,
    attempts: Attempts = DEFAULTS.attempts,
    form_attempts: FormAttempts = DEFAULTS.form_attempts,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    prices: PriceTable = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the records; a run that it holds goes on.", rich_help_panel=OUTPUT
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the folder.", rich_help_panel=OUTPUT)
    ] = False,
    cache: Cache = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            help="record: a failure is the score's status; raise: stop at the first failure.",
            rich_help_panel=OUTPUT,
        ),
    ] = "record",
    keep_vectors: Annotated[
        bool,
        typer.Option("--keep-vectors", help="Keep vectors in the records.", rich_help_panel=OUTPUT),
    ] = False,
    minimum: Minimum = None,
    maximum: Maximum = None,
    fail_if: Annotated[
        Literal["cannot-tell"] | None,
        typer.Option(
            help="Exit with 3 where a mean reaches its limit, but its interval does not.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure metrics on the samples of a file.

    The folder given with --out keeps the proof of every score. The same command again goes on where an
    earlier one ended: no finished score is measured and no answered call is made again.

    Exit codes: 0 at least one score came out and every limit is reached, 1 none did, or a limit of --min or
    --max is not reached, 2 wrong use, 3 it cannot be told, with --fail-if cannot-tell.
    """
    chosen = choose(
        metrics, variant, judge, embedder, scorer, options=judge_option, cards=cards, prompts=prompts
    )
    check_limits(chosen.metrics, minimum, maximum)
    private = redact_of(redact)
    traffic = Traffic(
        concurrency=concurrency,
        timeout=seconds_of(timeout, judge_option),
        attempts=attempts,
        form_attempts=form_attempts,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
    )
    budget = Budget(calls=max_calls, tokens=max_tokens, cost=max_cost, prices=prices)
    try:
        with progress_of(remarks(), count_rows(data, at_most=limit)) as progress:
            counted = CountedCalls(progress)
            run = run_evaluation(
                data,
                **chosen.keywords,
                out=out,
                overwrite=overwrite,
                cache=cache,
                traffic=traffic,
                budget=budget,
                repeats=repeats,
                full_repeats=full_repeats,
                on_error=on_error,
                prompts=prompts,
                keep_vectors=keep_vectors,
                redact=private,
                strict_shown=strict_shown,
                limit=limit,
                progress=counted,
            )
    except KeyboardInterrupt:
        if out:
            remarks().print(
                f"What was finished is in {out}, with every reply that came: the same command goes on there "
                "and asks none of it again."
            )
        raise
    causes = terminal.Causes.of(run.outcomes())
    gate = _gate(run, minimum, maximum, counted)
    if as_json:
        write_json(evaluation_json(run, gate))
    else:
        notes = [note for note in (getattr(each, "note", None) for each in chosen.judges) if note]
        show(page(), closing(run, causes, notes[0] if notes else None))
    code = 0
    if gate is not None:
        tell(gate)
        code = gate.code if gate.failed or fail_if else 0
    if code or not causes.measured:
        raise typer.Exit(code or 1)


def _gate(
    run: Run, minimum: list[str] | None, maximum: list[str] | None, counted: CountedCalls
) -> GateVerdict | None:
    """What the limits come to; None without any."""
    if not minimum and not maximum:
        return None
    scores = replace(read_scores(run), rejected=counted.rejected)
    found = decide_limits(scores, limits_of(scores, minimum, maximum))
    if not (others := len(run) - counted.samples):
        return found
    # scores of an earlier day would hide those of today
    told = f"{number_of(others, 'sample')} of {scores.name} are not in the data, or are other ones there"
    hint = "take a new folder, or --overwrite"
    return found._replace(failed=(*found.failed, ("", f"{told}: {hint}")))


def closing(run: Run, causes: terminal.Causes, note: str | None) -> Iterator[RenderableType]:
    """What a finished evaluation says: means, what went wrong, the cost, and where to look next."""
    yield terminal.means_table(run.means(), run.metrics)
    yield from terminal.remarks(run, causes)
    yield Text()
    yield terminal.cost(run, note=note)
    yield Text()
    if run.path is None:
        yield Text("The records were not kept: give --out FOLDER to open and audit every score.")
    else:
        folder = quote(str(run.path))
        yield Text(f"ragmetrics show {folder}    all samples; add SAMPLE METRIC for the proof of a score")
        yield Text(f"ragmetrics audit {folder}   derive every score again from its record")
