"""`ragmetrics batch`: runs whose judge answers by file, wave by wave."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ragmetrics_core.cli.arguments import (
    Cache,
    Data,
    EmbedderName,
    FullRepeats,
    JudgeNames,
    Limit,
    MetricNames,
    PromptFolder,
    Repeats,
    RunFolder,
    VariantName,
    choose,
)
from ragmetrics_core.cli.evaluate import closing
from ragmetrics_core.cli.progress import count_rows, progress_of
from ragmetrics_core.cli.screen import page, remarks, show
from ragmetrics_core.report import terminal
from ragmetrics_core.runs import export_wave, import_replies

__all__ = ["batch"]

batch = typer.Typer(help="Ask the judge by file: write open requests down, read the replies back.")


@batch.command("export")
def export(
    data: Data,
    out: Annotated[Path, typer.Option(help="The run's folder; the same one for every wave.")],
    requests: Annotated[
        Path, typer.Option(help="The file to write, in the format of OpenAI's batch interface.")
    ],
    metrics: MetricNames = None,
    judge: JudgeNames = None,
    embedder: EmbedderName = None,
    variant: VariantName = None,
    prompts: PromptFolder = None,
    cache: Cache = None,
    repeats: Repeats = 1,
    full_repeats: FullRepeats = 1,
    limit: Limit = None,
) -> None:
    """Write all requests that are open now to a file, without asking the judge.

    The same command after `batch import` writes what follows from the replies, until the run is complete.
    """
    chosen = choose(metrics, variant, judge, embedder)
    with progress_of(remarks(), count_rows(data, at_most=limit)) as progress:
        wave = export_wave(
            data,
            requests,
            out=out,
            metrics=chosen.metrics,
            panel=chosen.judges,
            embedder=chosen.embedder,
            cache=cache,
            repeats=repeats,
            full_repeats=full_repeats,
            prompts=prompts,
            limit=limit,
            progress=progress,
        )
    if not wave.waiting:
        show(page(), closing(wave.run, terminal.Causes.of(wave.run.outcomes()), None))
        return
    one = wave.waiting == 1
    page().print(
        Text(
            f"{wave.waiting:,} request{' is' if one else 's are'} in {requests}. Have them answered, then:\n"
        )
        + Text(f"  ragmetrics batch import {out} REPLIES    and this command again", "bold")
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
    cache: Cache = None,
) -> None:
    """Take replies into the run."""
    found = import_replies(run, replies, cache=cache)
    said = [f"{found.replies:,} replies taken"]
    said += [f"{found.failed:,} requests failed and stay open ({found.reason})"] if found.failed else []
    said += [f"{found.unknown:,} replies are to no open request of this run"] if found.unknown else []
    said += [f"{found.waiting:,} requests still open"] if found.waiting else []
    page().print("; ".join(said), soft_wrap=True)
    if not found.replies and (found.failed or found.unknown):
        raise typer.Exit(1)
