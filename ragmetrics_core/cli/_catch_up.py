"""`ragmetrics catch-up`: score what a live application captured and did not score."""

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import (
    DEFAULTS,
    SECONDS,
    Attempts,
    Concurrency,
    EmbedderName,
    FormAttempts,
    JudgeNames,
    JudgeOptions,
    MetricNames,
    RequestsPerMinute,
    RunFolder,
    ScorerName,
    Timeout,
    TokensPerMinute,
    choose,
    seconds_of,
)
from ragmetrics_core.cli._redacting import Redactions, redact_of
from ragmetrics_core.cli._screen import page
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs._manifest import manifest_in
from ragmetrics_core.wording import number_of

__all__ = ["catch_up"]


def catch_up(
    run: RunFolder,
    metrics: MetricNames = None,
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
    redact: Redactions = None,
) -> None:
    """Score what a live application captured into its run folder and did not score before it was stopped.

    Judge and metrics are those of the application; without --metrics they are those of the run. What a
    process that still runs has captured is left to it, and nothing is scored twice.
    """
    from ragmetrics_core.live import LiveScorer

    if metrics is None and (run / "manifest.json").is_file():
        metrics = ",".join(entry.signature for entry in manifest_in(run).metrics)
    if not run.is_dir():
        raise ConfigError(f"there is no folder {run}")
    chosen = choose(metrics, None, judge, embedder, scorer, options=judge_option)
    if chosen.metrics is None:
        raise ConfigError(
            f"{run} has no score yet that says what is measured: give the metrics with --metrics"
        )
    if len(chosen.judges) > 1:
        raise ConfigError("a live application has one judge: give --judge once")
    with LiveScorer(
        chosen.metrics,
        judge=chosen.judges[0] if chosen.judges else None,
        embedder=chosen.embedder,
        scorer=chosen.scorer,
        out=run,
        concurrency=concurrency,
        timeout=seconds_of(timeout, judge_option),
        attempts=attempts,
        form_attempts=form_attempts,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        redact=redact_of(redact),
    ) as live:
        count = live.catch_up()
    stats = live.stats
    captures = number_of(count, "capture was", "captures were")
    page().print(Text(f"{captures} left in {run}; {stats.scored} scored now"))
    if stats.scored < count:
        raise typer.Exit(1)
