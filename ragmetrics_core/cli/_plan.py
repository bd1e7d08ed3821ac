"""`ragmetrics plan`: what an evaluation would ask and cost."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._arguments import (
    AsJson,
    Cache,
    CardFile,
    Data,
    EmbedderName,
    FullRepeats,
    JudgeNames,
    JudgeOptions,
    Limit,
    MetricNames,
    PriceTable,
    PromptFolder,
    Repeats,
    ScorerName,
    VariantName,
    choose,
)
from ragmetrics_core.cli._grouped import OUTPUT
from ragmetrics_core.cli._redacting import Redactions, redact_of
from ragmetrics_core.cli._screen import page, show, write_json
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.report._json_pages import plan_json
from ragmetrics_core.runs import plan as make_plan

__all__ = ["plan"]


def plan(
    data: Data,
    metrics: MetricNames = None,
    judge: JudgeNames = None,
    judge_option: JudgeOptions = None,
    embedder: EmbedderName = None,
    scorer: ScorerName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder, if it has begun: what it holds is left out.", rich_help_panel=OUTPUT
        ),
    ] = None,
    variant: VariantName = None,
    prompts: PromptFolder = None,
    cards: CardFile = None,
    cache: Cache = None,
    prices: PriceTable = None,
    repeats: Repeats = 1,
    full_repeats: FullRepeats = 1,
    redact: Redactions = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Count the calls and tokens that `evaluate` would use, without one call."""
    chosen = choose(
        metrics,
        variant,
        judge,
        embedder,
        scorer,
        options=judge_option,
        cards=cards,
        prompts=prompts,
        asked=False,
    )
    private = redact_of(redact)
    found = make_plan(
        data,
        **chosen.keywords,
        out=out,
        cache=cache,
        prices=prices,
        repeats=repeats,
        full_repeats=full_repeats,
        prompts=prompts,
        redact=private,
        limit=limit,
    )
    if as_json:
        write_json(plan_json(found))
    else:
        show(page(), terminal.plan_page(found))
