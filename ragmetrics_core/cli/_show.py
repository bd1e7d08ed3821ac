"""`ragmetrics show`: a run, a sample, or the proof of one score."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from shlex import quote
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from ragmetrics_core.cli._arguments import OwnMetrics, RunFolder
from ragmetrics_core.cli._evaluate import means
from ragmetrics_core.cli._own import open_run
from ragmetrics_core.cli._screen import page, write
from ragmetrics_core.cli._screen import show as print_page
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report import terminal
from ragmetrics_core.report.judge_lines import measured_lines
from ragmetrics_core.runs import Run

__all__ = ["show"]

_LISTED = 10


def show(
    run: RunFolder,
    sample: str | None = None,
    metric: str | None = None,
    *,
    digest: str | None = None,
    prompts: bool = False,
    replies: bool = False,
    history: bool = False,
    json_: bool = False,
    limit: Annotated[int, typer.Option(min=0)] = 100,
    width: Annotated[int | None, typer.Option(min=20)] = None,
    no_color: bool = False,
    metrics: OwnMetrics = None,
) -> None:
    """Show a run, a sample, or the proof of a score.

    A run shows the means, and all samples with their diagnosis, the worst first. A sample shows all its
    scores. With a metric, it shows every statement, verdict and quote behind the score.

    Args:
        sample: Id of a sample, or a unique beginning of it.
        metric: Name or signature of a metric.
        digest: Instead of sample and metric: the digest of a record, as scores in other tools state it.
        prompts: With a metric: show the exact prompts.
        replies: With a metric: show the raw replies.
        history: With a sample: show earlier scores, which no longer count.
        json_: Print JSON; with a metric, the whole record.
        limit: Number of samples to list; 0 for all.
        width: Width of the page in characters. Default: the terminal's.
        no_color: Do not use colours.
    """
    opened = open_run(run, metrics)
    if digest is not None:
        if sample is not None:
            raise ConfigError("--digest names one score: leave out sample and metric")
        sample, metric = opened.key_of(digest)
    sample = None if sample is None else _whole_id(opened, sample)
    earlier = opened.history(sample) if history and sample else []
    if metric is None and (prompts or replies):
        raise ConfigError(
            "--prompts and --replies show the steps of one score: name a sample and a metric too"
        )
    if history and (sample is None or metric is not None):
        raise ConfigError("--history shows the earlier scores of one sample: name a sample and no metric")
    if json_:
        write(_json(opened, sample, metric) + "\n", as_json=True)
        return
    console = page(no_color=no_color, width=width)
    if sample is None:
        parts = _run_page(opened, limit, console)
    elif earlier and sample not in opened.sample_ids:
        parts = terminal.history_page(earlier, opened.metrics)
    elif metric is None:
        scores, findings = opened.scores(sample), opened.diagnosis(sample)
        hint = f"ragmetrics show {quote(str(run))} {quote(sample)} METRIC   the proof of one score"
        parts = chain(
            terminal.sample_page(opened.sample(sample), scores, findings, opened.metrics),
            terminal.history_page(earlier, opened.metrics) if history else (),
            [Text(), Text(hint, "dim")],
        )
    else:
        record = opened.self_contained(sample, metric) if prompts else opened.score(sample, metric)
        (entry,) = (each for each in opened.metrics if each.signature == record.signature)
        measured = measured_lines(opened, record.signature) if record.judge else ()
        parts = terminal.proof(record, entry, prompts=prompts, replies=replies, measured=measured)
    print_page(console, parts)


def _whole_id(run: Run, beginning: str) -> str:
    """The id that equals or alone starts with `beginning`; otherwise `beginning`, which the run will refuse.

    Raises:
        ConfigError: several ids start with it.
    """
    if not beginning or beginning in run.sample_ids:
        return beginning
    ids = run.ids_beginning(beginning)
    if len(ids) > 1:
        listed = ", ".join(sorted(ids, reverse=True)[:_LISTED]) + (", ..." if len(ids) > _LISTED else "")
        raise ConfigError(f"the run has no sample {beginning!r}; {len(ids):,} ids start with it: {listed}")
    return ids[0] if ids else beginning


def _run_page(run: Run, limit: int, console: Console) -> Iterator[RenderableType]:
    yield from means(run, is_terminal=console.is_terminal)
    yield Text()
    yield terminal.samples_table(run, limit=limit, width=console.width)
    if limit and len(run) > limit:
        yield Text(f"{len(run) - limit} better samples are not listed; --limit 0 lists all.", "dim")
    yield from terminal.remarks(run, terminal.Causes.of(run.outcomes()))
    yield Text()
    yield terminal.cost(run)
    if run.manifest.live is not None:
        yield Text(f"live: {run.manifest.live}")


def _json(run: Run, sample: str | None, metric: str | None) -> str:
    content: dict[str, Any]
    if sample is None:
        content = {"metrics": [asdict(mean) for mean in run.means()], "samples": run.to_rows()}
        content |= {"declines": run.declines._asdict(), "notes": list(run.notes), "tally": run.tally}
        if run.manifest.live is not None:
            content["live"] = run.manifest.live.model_dump()
    elif metric is None:
        names = "status", "value", "bounds", "reason", "formula"
        scores = run.scores(sample).items()
        content = {"sample": run.sample(sample).model_dump(mode="json", exclude_none=True)}
        content["scores"] = {
            metric: {name: getattr(score, name) for name in names} for metric, score in scores
        }
        content["diagnosis"] = [finding._asdict() for finding in run.diagnosis(sample)]
    else:
        return run.self_contained(sample, metric).model_dump_json(by_alias=True, indent=2)
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
