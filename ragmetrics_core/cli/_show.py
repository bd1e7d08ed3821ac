"""`ragmetrics show`: a run, a session, a sample, or the proof of one score."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
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
from ragmetrics_core.samples import Sample, session_of

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
    session: bool = False,
    json_: bool = False,
    limit: Annotated[int, typer.Option(min=0)] = 100,
    width: Annotated[int | None, typer.Option(min=20)] = None,
    no_color: bool = False,
    metrics: OwnMetrics = None,
) -> None:
    """Show a run, a session, a sample, or the proof of a score.

    A run shows the means, and all samples with their diagnosis, the worst first. A session shows its turns in
    order, each with its scores and verdicts. A sample shows all its scores. With a metric, it shows every
    statement, verdict and quote behind the score.

    Args:
        sample: Id of a sample, or a unique beginning of it; or id of a session. The sample comes first.
        metric: Name or signature of a metric.
        digest: Instead of sample and metric: the digest of a record, as scores in other tools state it.
        prompts: With a metric: show the exact prompts.
        replies: With a metric: show the raw replies.
        history: With a sample: show earlier scores, which no longer count.
        session: Show the session of this id, also if a sample has the same id.
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
    turns = _turns(opened, sample, session=session)
    console = page(no_color=no_color, width=width)
    if sample is not None and turns is not None:
        if metric is not None or prompts or replies or history:
            raise ConfigError(
                f"{sample!r} is a session: name one of its samples for a metric, --prompts, --replies or "
                f"--history, such as {turns[0]!r}"
            )
        if json_:
            write(_session_json(opened, sample, turns) + "\n", as_json=True)
        else:
            hint = f"ragmetrics show {quote(str(run))} {quote(turns[0])}   a turn; add METRIC for a proof"
            print_page(console, terminal.session_page(opened, sample, turns))
            print_page(console, [Text(), Text(hint, "dim")])
        return
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
    if sample is None:
        parts = _run_page(opened, limit, console)
    elif earlier and sample not in opened.sample_ids:
        parts = terminal.history_page(earlier, opened.metrics)
    elif metric is None:
        scores, findings = opened.scores(sample), opened.diagnosis(sample)
        whole = opened.sample(sample)
        parts = chain(
            terminal.sample_page(whole, scores, findings, opened.metrics),
            terminal.history_page(earlier, opened.metrics) if history else (),
            [Text(), *(Text(hint, "dim") for hint in _hints(run, whole))],
        )
    else:
        record = opened.self_contained(sample, metric) if prompts else opened.score(sample, metric)
        (entry,) = (each for each in opened.metrics if each.signature == record.signature)
        measured = measured_lines(opened, record.signature) if record.judge else ()
        parts = terminal.proof(record, entry, prompts=prompts, replies=replies, measured=measured)
    print_page(console, parts)


def _turns(run: Run, name: str | None, *, session: bool) -> list[str] | None:
    """The samples of the session of this id; None for the id of a sample, or of nothing.

    Raises:
        ConfigError: only a session will do, and there is none of this id.
    """
    if session:
        if name is None:
            raise ConfigError("--session shows one session: give its id")
        return run.session(name)
    return None if name is None or name in run.sample_ids else run.sessions().get(name)


def _hints(run: Path, sample: Sample) -> Iterator[str]:
    """Commands that show more of a sample."""
    command = f"ragmetrics show {quote(str(run))}"
    yield f"{command} {quote(sample.id)} METRIC   the proof of one score"
    if (session := session_of(sample)) is not None:
        option = " --session" if session == sample.id else ""
        yield f"{command} {quote(session)}{option}   the conversation"


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
        content = _of_sample(run, sample)
    else:
        return run.self_contained(sample, metric).model_dump_json(by_alias=True, indent=2)
    return _as_text(content)


def _of_sample(run: Run, sample: str) -> dict[str, Any]:
    """A sample with its scores and diagnosis."""
    names = "status", "value", "bounds", "reason", "formula"
    scores = {
        metric: {name: getattr(score, name) for name in names} for metric, score in run.scores(sample).items()
    }
    return {
        "sample": run.sample(sample).model_dump(mode="json", exclude_none=True),
        "scores": scores,
        "diagnosis": [finding._asdict() for finding in run.diagnosis(sample)],
    }


def _session_json(run: Run, session: str, turns: Sequence[str]) -> str:
    """The turns of a session in order: each as the page of its sample, with the verdicts of each score."""
    listed: list[dict[str, Any]] = []
    for sample in turns:
        content = _of_sample(run, sample)
        records = run.scores(sample)
        content["standalone"] = next(filter(None, (each.standalone for each in records.values())), None)
        for metric, record in records.items():
            names = "number", "about", "text", "label", "supported"
            content["scores"][metric]["verdicts"] = [
                {name: getattr(verdict, name) for name in names} for verdict in record.verdicts
            ]
        listed.append(content)
    return _as_text({"session": session, "turns": listed})


def _as_text(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
