"""`ragmetrics evaluate`: measure metrics on a file of samples."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from ragmetrics_core.cli.progress import count_rows, progress_of
from ragmetrics_core.cli.screen import page, remarks, show
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, get, resolve
from ragmetrics_core.models import as_embedder, as_judge
from ragmetrics_core.report import terminal
from ragmetrics_core.runs import Run
from ragmetrics_core.runs import evaluate as run_evaluation

__all__ = ["evaluate"]

DEFAULT = "embedded"


def evaluate(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A .jsonl, .json or .csv file.", show_default=False)
    ],
    metrics: Annotated[
        str | None,
        typer.Option(help="Names: faithfulness,context_recall/ragas-0.4. Without it: the recommended two."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="embedded, openai:MODEL, llama or llama:PATH. Without it: embedded."),
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="embedded or openai:MODEL. Without it: embedded, if needed.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder that keeps the records.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in the folder.")] = False,
    variant: Annotated[
        str | None, typer.Option(help="Variant of all metrics named without one: strict, paper, ragas-0.4.")
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of prompt files that replace those of the same name.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="How many model calls may be in flight.")] = 16,
    timeout: Annotated[float, typer.Option(help="Seconds for one call; 0 for no limit.")] = 120.0,
    on_error: Annotated[
        Literal["record", "raise"],
        typer.Option(help="record: a failure is the score's status; raise: stop at the first failure."),
    ] = "record",
    keep_vectors: Annotated[
        bool, typer.Option("--keep-vectors", help="Keep vectors in the records.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Evaluate only the first N rows.")] = None,
) -> None:
    """Measure metrics on the samples of a file.

    The folder given with --out keeps the proof of every score.
    """
    chosen = _metrics(metrics, variant)
    needs = frozenset().union(*(metric.needs for metric in chosen)) if chosen else frozenset({"judge"})
    judging = as_judge(judge or DEFAULT) if judge or "judge" in needs else None
    embedding = as_embedder(embedder or DEFAULT) if embedder or "embedder" in needs else None
    note = getattr(judging, "note", None)
    try:
        with progress_of(remarks(), count_rows(data, at_most=limit)) as progress:
            run = run_evaluation(
                data,
                metrics=chosen,
                judge=judging,
                embedder=embedding,
                out=out,
                overwrite=overwrite,
                concurrency=concurrency,
                timeout=timeout or None,
                on_error=on_error,
                prompts=prompts,
                keep_vectors=keep_vectors,
                limit=limit,
                progress=progress,
            )
    except KeyboardInterrupt:
        if out:
            remarks().print(f"What was finished is kept: ragmetrics show {out}")
        raise
    causes = terminal.Causes.of(run.records())
    show(page(), _closing(run, causes, note))
    if not causes.measured:
        raise typer.Exit(1)


def _metrics(names: str | None, variant: str | None) -> tuple[Metric[Any], ...] | None:
    """The metrics that were named; None for the recommended ones, which the samples decide."""
    if names is None and variant is None:
        return None
    named = [name.strip() for name in (names or "recommended").split(",") if name.strip()]
    if not named:
        raise ConfigError("--metrics names no metric; ragmetrics metrics lists them all")
    if variant is None:
        return resolve(named)
    spread = [each for name in named for each in (RECOMMENDED if name == "recommended" else (name,))]
    return resolve([get(name) if "/" in name else get(name, variant=variant) for name in spread])


def _closing(run: Run, causes: terminal.Causes, note: str | None) -> Iterator[RenderableType]:
    """What a finished evaluation says: means, what went wrong, the cost, and where to look next."""
    yield terminal.means_table(run.means(), run.metrics)
    yield from terminal.remarks(run, causes)
    yield Text()
    yield terminal.cost(run, note=note)
    yield Text()
    if run.path is None:
        yield Text("The records were not kept: give --out FOLDER to open and audit every score.")
    else:
        yield Text(f"ragmetrics show {run.path}    all samples; add SAMPLE METRIC for the proof of a score")
        yield Text(f"ragmetrics audit {run.path}   derive every score again from its record")
