"""`ragmetrics batch`: runs whose judge answers by file, wave by wave."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._arguments import (
    Cache,
    CardFile,
    Data,
    EmbedderName,
    FullRepeats,
    JudgeNames,
    JudgeOptions,
    Limit,
    MetricNames,
    PromptFolder,
    Repeats,
    RunFolder,
    ScorerName,
    VariantName,
    choose,
)
from ragmetrics_core.cli._evaluate import closing
from ragmetrics_core.cli._grouped import GroupedCommand
from ragmetrics_core.cli._progress import count_rows, progress_of
from ragmetrics_core.cli._redacting import Redactions, redact_of
from ragmetrics_core.cli._screen import page, remarks, show
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.report._terminal import plain
from ragmetrics_core.runs import export_wave, import_replies
from ragmetrics_core.wording import number_of

__all__ = ["batch"]

batch = typer.Typer(help="Ask the judge by file: write open requests down, read the replies back.")


@batch.command("export", cls=GroupedCommand)
def export(
    data: Data,
    out: Annotated[Path, typer.Option(help="The run's folder; the same one for every wave.")],
    requests: Annotated[
        Path, typer.Option(help="The file to write, in the format of OpenAI's batch interface.")
    ],
    metrics: MetricNames = None,
    judge: JudgeNames = None,
    judge_option: JudgeOptions = None,
    embedder: EmbedderName = None,
    scorer: ScorerName = None,
    variant: VariantName = None,
    prompts: PromptFolder = None,
    cards: CardFile = None,
    cache: Cache = None,
    repeats: Repeats = 1,
    full_repeats: FullRepeats = 1,
    redact: Redactions = None,
    limit: Limit = None,
) -> None:
    """Write all requests that are open now to a file, without asking the judge.

    The same command after `batch import` writes what follows from the replies, until the run is complete.
    """
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
    with progress_of(remarks(), count_rows(data, at_most=limit)) as progress:
        wave = export_wave(
            data,
            requests,
            out=out,
            **chosen.keywords,
            cache=cache,
            repeats=repeats,
            full_repeats=full_repeats,
            prompts=prompts,
            redact=private,
            limit=limit,
            progress=progress,
        )
    if not wave.waiting:
        show(page(), closing(wave.run, terminal.Causes.of(wave.run.outcomes()), None))
        return
    page().print(
        plain(f"{number_of(wave.waiting, 'request is', 'requests are')} in {requests}. ")
        + plain("Have them answered, then:\n")
        + plain(f"  ragmetrics batch import {out} REPLIES    and this command again", "bold"),
        soft_wrap=True,
    )


@batch.command("import")
def import_(
    run: RunFolder,
    replies: Annotated[
        Path,
        typer.Argument(
            metavar="REPLIES",
            help='A line for each reply, as a batch interface gives them, or {"custom_id": .., "reply": ..}.',
            show_default=False,
        ),
    ],
    redact: Redactions = None,
    cache: Cache = None,
) -> None:
    """Take replies into the run."""
    found = import_replies(run, replies, cache=cache, redact=redact_of(redact))
    said = [f"{number_of(found.replies, 'reply', 'replies')} taken"]
    if found.failed:
        some = number_of(found.failed, "request failed and stays open", "requests failed and stay open")
        said.append(f"{some}: {found.reason}")
    if found.unknown:
        some = number_of(found.unknown, "reply is", "replies are")
        said.append(f"{some} to no open request of this run (to another run's, or taken before)")
    said.append(
        f"{number_of(found.waiting, 'request is', 'requests are')} still open"
        if found.waiting
        else "nothing is open: the same export command again goes on"
    )
    for line in said:
        page().print(plain(line), soft_wrap=True)
    if not found.replies and (found.failed or found.unknown):
        raise typer.Exit(1)
