"""`ragmetrics live follow`: scores for the traces that a collector writes."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, Unpack

import typer

from ragmetrics_core.cli._arguments import Judging, traffic_of
from ragmetrics_core.cli._screen import page
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions import read_corpus
from ragmetrics_core.report.terminal import plain
from ragmetrics_core.runs import EvaluationArgs
from ragmetrics_core.texts.wording import number_of

__all__ = ["follow"]

# Results that stay in memory; the folder has all of them.
_RESULTS = 10
_WAYS = {
    "contexts": "record the retrieval in a span; or give --documents or --system-message",
    "reference": "measure with references in a run of evaluate instead",
    "question": "record the question as the input of the root span",
}


def follow(
    folder: Annotated[Path, typer.Argument(help="Folder that the collector writes to.")],
    judging: Judging,
    *,
    out: Path,
    once: bool = False,
    settle: Annotated[float, typer.Option(min=0)] = 10.0,
    give_up: Annotated[float, typer.Option(min=0)] = 600.0,
    format_: str | None = None,
    documents: Annotated[Path | None, typer.Option(metavar="CORPUS")] = None,
    system_message: bool = False,
    sample_rate: Annotated[float, typer.Option(min=0, max=1)] = 1.0,
    seed: int | None = None,
    budget_period: Literal["day"] | None = None,
    rotate: Annotated[str | None, typer.Option(metavar="day|BYTES")] = None,
    keep: Annotated[int | None, typer.Option(min=1)] = None,
    strict_shown: bool = False,
    prompts: Path | None = None,
    **settings: Unpack[EvaluationArgs],
) -> None:
    """Score the traces that a collector writes to a folder.

    Runs until it is stopped (SIGINT or SIGTERM). Reads the files of the collector's file exporter while they
    grow, also renamed and gzipped. A trace is scored once its root has ended and no further span came for
    --settle seconds. After a kill, the same command continues: nothing is lost, and no answered call is made
    again.

    Exit codes: 0 stopped, or with --once, all is scored; 1 with --once, captures wait for a judge that is
    down or a budget that is spent; 2 usage error.

    Args:
        out: Run folder for samples and records.
        judge: The judge: embedded, embedded:FILE.json, openai:MODEL, openai:MODEL@URL, entailment:MODEL,
            grounded:MODEL, decisions:MODEL, calibrated:CARD.json,JUDGE, cascade:CHEAP,EXPENSIVE, or a judge
            of an installed package.
        once: End when the traces that are there now are scored; for scheduled jobs.
        settle: Seconds without a further span after which a trace whose root has ended is scored.
        give_up: Seconds without a further span after which a trace whose root is missing or has not ended is
            read as it is.
        format_: Format of the traces: otlp, phoenix, langfuse, langsmith or mlflow. Default: found in each
            file.
        documents: Folder or file of the documents, for traces that record only their ids.
        system_message: Use the model's system message as the context of a trace in which no contexts are
            found. It also contains the instructions.
        sample_rate: Share of the samples to score. A trace's id decides, so a restart chooses the same.
        seed: Number that changes which samples are chosen.
        budget_period: day: the budget is for each day (UTC). Default: for the life of the process.
        rotate: Start a new run in the folder each day (UTC), or beyond a number of bytes.
        keep: Number of newest days or parts to keep.
        strict_shown: Score only contexts the model received.
        prompts: Folder of prompt files that replace those of the same name.
    """
    from ragmetrics_core.live import LiveScorer, MemorySink
    from ragmetrics_core.live import follow as follow_folder

    chosen = judging.keywords()
    metrics, judges = chosen.pop("metrics"), chosen.pop("panel")
    if len(judges) > 1:
        raise ConfigError("live scoring has one judge: give --judge once")
    corpus = read_corpus(documents) if documents else None
    with _stopped_by_signals() as stop:
        live = LiveScorer(
            metrics or "recommended",
            judge=next(iter(judges), None),
            **chosen,
            **traffic_of(settings, judging.judge_option),
            out=out,
            sinks=[MemorySink(_RESULTS)],
            sample_rate=sample_rate,
            seed=seed,
            budget_period=budget_period,
            rotate=_rotation(rotate),
            keep=keep,
            strict_shown=strict_shown,
            prompts=prompts,
            ways=_WAYS,
        )
        followed = follow_folder(
            folder,
            live,
            format=format_,
            documents={id: each.text for id, each in corpus.documents.items()} if corpus else None,
            system_message=system_message,
            settle=settle,
            give_up=give_up,
            once=once,
            stop=stop,
        )
    stats = live.stats
    lines = [
        f"{number_of(followed.finished, 'trace')} finished, {followed.unfinished} unfinished",
        f"{number_of(stats.scored, 'sample')} scored, {stats.failed} failed",
        *(f"{count:,} skipped: {reason}" for reason, count in sorted(stats.skipped.items())),
    ]
    if followed.late_spans:
        lines.append(
            f"{number_of(followed.late_spans, 'span')} came after their trace was scored: raise --settle"
        )
    for name, mean in live.means.items():
        lines.append(f"{name}: {'no score' if mean.mean is None else f'{mean.mean:.3f}'} ({mean.n})")
    for line in lines:
        page().print(plain(line), soft_wrap=True)
    if once and not followed.is_complete:
        raise typer.Exit(1)


def _rotation(text: str | None) -> Literal["day"] | int | None:
    if text is None:
        return None
    if text == "day":
        return "day"
    if not text.isdecimal() or not int(text):
        raise ConfigError(f"--rotate takes day or a number of bytes, not {text!r}")
    return int(text)


@contextmanager
def _stopped_by_signals() -> Generator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets; the second one ends the process."""
    stop = threading.Event()
    before: dict[int, Any] = {}

    def end(number: int, _: FrameType | None) -> None:
        stop.set()
        signal.signal(number, before[number])

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, end)
    try:
        yield stop
    finally:
        for ended, handler in before.items():
            signal.signal(ended, handler)
