"""`ragmetrics batch` and `catch-up`: evaluate through a batch interface, and score the rest of a live run."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer
from rich.text import Text

from ragmetrics_core.cli._arguments import Data, Evaluating, Judging, RunFolder, traffic_of
from ragmetrics_core.cli._evaluate import closing
from ragmetrics_core.cli._own import redact_of
from ragmetrics_core.cli._progress import progress_of
from ragmetrics_core.cli._screen import page, remarks, show
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import TrafficArgs
from ragmetrics_core.records import FAILED
from ragmetrics_core.report import terminal
from ragmetrics_core.report.terminal import plain
from ragmetrics_core.runs import export_wave, import_replies, manifest_in
from ragmetrics_core.runs.lock import is_held
from ragmetrics_core.runs.row_counts import count_rows
from ragmetrics_core.texts.wording import number_of

if TYPE_CHECKING:
    from ragmetrics_core.live import LiveResult

__all__ = ["catch_up", "export", "import_"]


def export(data: Data, evaluating: Evaluating, *, out: Path, requests: Path, add: bool = False) -> None:
    """Write all open requests to a file, without calling the judge.

    After `batch import`, run the same command again: it writes the next requests, until the run is complete.

    Args:
        out: Folder of the run; the same for every export.
        requests: File to write, in the format of OpenAI's batch interface.
        add: Keep the samples of earlier calls and add these.
    """
    chosen = evaluating.keywords(asked=False)
    with progress_of(remarks(), count_rows(data, at_most=evaluating.limit)) as progress:
        wave = export_wave(evaluating.source(data), requests, out=out, add=add, **chosen, progress=progress)
    if not wave.waiting:
        show(page(), closing(wave.run, terminal.Causes.of(wave.run.outcomes())))
        return
    page().print(
        plain(f"{number_of(wave.waiting, 'request is', 'requests are')} in {requests}. ")
        + plain("Send it to the batch interface, then run:\n")
        + plain(f"  ragmetrics batch import {out} REPLIES    and this command again", "bold"),
        soft_wrap=True,
    )


def import_(
    run: RunFolder,
    replies: Path,
    *,
    redact: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None,
    cache: Path | None = None,
) -> None:
    """Import replies into the run.

    Args:
        replies: File of replies as the batch interface returns it, or lines of
            {"custom_id": .., "reply": ..}.
        cache: Cache of answered calls to share between runs. Default: the run's own.
    """
    taken = import_replies(run, replies, cache=cache, redact=redact_of(redact))
    lines = [f"{number_of(taken.replies, 'reply', 'replies')} imported"]
    if taken.failed:
        some = number_of(taken.failed, "request failed and stays open", "requests failed and stay open")
        lines.append(f"{some}: {taken.reason}")
    if taken.unknown:
        some = number_of(taken.unknown, "reply is", "replies are")
        lines.append(f"{some} not for an open request of this run (for another run, or already imported)")
    is_open = f"{number_of(taken.waiting, 'request is', 'requests are')} still open"
    lines.append(is_open if taken.waiting else "no request is open: run the export command again")
    for line in lines:
        page().print(plain(line), soft_wrap=True)
    if not taken.replies and (taken.failed or taken.unknown):
        raise typer.Exit(1)


def catch_up(
    run: RunFolder, judging: Judging, *, failed: bool = False, **settings: Unpack[TrafficArgs]
) -> None:
    """Score what a live application captured but did not score.

    Give the judge and metrics of the application; --metrics defaults to those of the run. Captures of a
    process that is still running are left to it. Nothing is scored twice.

    Args:
        failed: Also score again the failed scores of all runs in the folder; a run that a process writes to
            is left to it.
        metrics: Metrics of the application, separated by commas. Default: those of the run.
        judge: Judge of the application: embedded, embedded:FILE.json, openai:MODEL, openai:MODEL@URL,
            entailment:MODEL, grounded:MODEL, decisions:MODEL, calibrated:CARD.json,JUDGE,
            cascade:CHEAP,EXPENSIVE, or a judge of an
            installed package.
    """
    from ragmetrics_core.live import LiveScorer
    from ragmetrics_core.live.places import places_of

    places = places_of(run)
    runs = [run] if places.rotate is None else places.runs()
    if judging.metrics is None and runs and (runs[-1] / "manifest.json").is_file():
        signatures = (entry.signature for entry in manifest_in(runs[-1]).metrics)
        judging = replace(judging, metrics=",".join(signatures))
    if not run.is_dir():
        raise ConfigError(f"{run} is not a folder: give the run folder of the application")
    chosen = judging.keywords()
    metrics, judges = chosen.pop("metrics"), chosen.pop("panel")
    if metrics is None:
        raise ConfigError(f"{run} has no score that shows its metrics: name them with --metrics")
    if len(judges) > 1:
        raise ConfigError("a live application has one judge: give --judge once")
    traffic = traffic_of(settings, judging.judge_option)
    judge = next(iter(judges), None)
    with LiveScorer(metrics, judge=judge, **chosen, out=run, rotate=places.rotate, **traffic) as live:
        count = live.catch_up()
    captures = number_of(count, "capture was", "captures were")
    page().print(Text(f"{captures} left in {run}; {live.stats.scored} scored now"))
    is_complete = live.stats.scored == count
    runs = [path for path in places.runs() if (path / "manifest.json").is_file()]
    for path in runs if failed else ():
        if is_held(path):
            page().print(plain(f"{path} is being written and is left unchanged"), soft_wrap=True)
            continue
        is_complete &= _score_failed(path, metrics, judge=judge, **chosen, **traffic)
    if not is_complete:
        raise typer.Exit(1)


def _score_failed(run: Path, metrics: Any, **settings: Any) -> bool:
    """Score again the failed scores of one run; whether all succeeded."""
    from ragmetrics_core.live import LiveScorer

    results: list[bool] = []

    def note(result: "LiveResult") -> None:
        results.append(not any(record.status in FAILED for record in result.records))

    with LiveScorer(metrics, out=run, on_result=note, **settings) as live:
        count = live.catch_up(failed=True)
        live.flush()
    samples = number_of(count, "sample", "samples")
    page().print(plain(f"{samples} with failed scores in {run}; {sum(results)} scored now"), soft_wrap=True)
    return sum(results) == count
