"""What tests of faults compare: the scores of a run, and those of one in which nothing failed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.workload import METRICS, LocalEmbedder, LocalJudge, sample
from ragmetrics_core import Sample, evaluate
from ragmetrics_core.runs import Key, Run

__all__ = ["Found", "Scores", "failed_in", "samples", "scores_of", "undisturbed", "written"]


class Found(NamedTuple):
    """What counts of a score: its value, what was decided, and the replies on which that rests."""

    value: float | None
    verdicts: tuple[Any, ...]
    replies: tuple[str, ...]


Scores = Mapping[Key, Found]


def samples(count: int) -> list[Sample]:
    """The first so many samples."""
    return [sample(number, contexts=2) for number in range(count)]


def written(folder: Path, count: int) -> Path:
    """A file with the first so many samples."""
    file = folder / f"{count}.jsonl"
    lines = (each.model_dump_json(exclude_defaults=True) for each in samples(count))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def undisturbed(count: int) -> Scores:
    """The scores of the first so many samples when nothing fails, made without a network."""
    return scores_of(evaluate(samples(count), metrics=METRICS, judge=LocalJudge(), embedder=LocalEmbedder()))


def scores_of(run: Run) -> dict[Key, Found]:
    """The scores that have a value."""
    return {
        Key(record.sample_id, record.signature): Found(
            record.value,
            record.verdicts,
            tuple(step.reply for step in record.generate_steps),
        )
        for record in run.records()
        if record.status == "ok"
    }


def failed_in(run: Run) -> dict[Key, str]:
    """The status of each score without a value."""
    return {key: outcome.status for key, outcome in run.outcomes() if outcome.status != "ok"}
