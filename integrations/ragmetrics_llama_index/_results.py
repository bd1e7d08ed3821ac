"""Evaluation results that carry their proof."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.evaluation import EvaluationResult

from ragmetrics_core import Record
from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.live import by_name

__all__ = ["EvaluationFailed", "Passing", "TracedEvaluationResult", "result_of"]


class TracedEvaluationResult(EvaluationResult):
    """An evaluation result with the record of each score.

    Where there is no score, `score` is None and never 0, `invalid_result` is True and `invalid_reason` says
    why. For several metrics `score` is the mean of theirs, None as soon as one is missing, and where lower is
    better in some of them and higher in others: see `scores`.
    `feedback` is the readable list of verdicts.

    Attributes:
        records: one for each metric, with sample and prompts: `ragmetrics_core.recompute` takes them.
    """

    records: tuple[Record, ...] = ()

    @property
    def record(self) -> Record | None:
        """The record, of a single metric."""
        return self.records[0] if len(self.records) == 1 else None

    @property
    def scores(self) -> dict[str, float | None]:
        """The metrics' own values by name (by signature where two have the same name)."""
        return {name: record.value for name, record in by_name(self.records).items()}


class EvaluationFailed(RagMetricsError, ValueError):
    """With `on_error="raise"` or `raise_error=True`: there is no score, or (faithfulness) it did not pass.

    Attributes:
        result: what the evaluation came to.
    """

    def __init__(self, result: TracedEvaluationResult) -> None:
        super().__init__(result.invalid_reason or "The response is invalid: it does not pass")
        self.result = result


class Passing(NamedTuple):
    """How a metric's value becomes a score that passes or not.

    Attributes:
        threshold: a score of this or more passes, of this or less where lower is better; None leaves
            `passing` open.
        scaled: the score of a value.
        scale: says in the feedback how it was scaled, "" for not at all.
    """

    threshold: float | None
    scaled: Callable[[float], float] = float
    scale: str = ""


def result_of(
    records: Sequence[Record], passing: Passing, given: Mapping[str, Any], lower_is_better: frozenset[str]
) -> TracedEvaluationResult:
    """The result that records amount to.

    Args:
        records: one for each metric.
        passing: how values become scores.
        given: query, response and contexts.
        lower_is_better: signatures of the metrics whose low end is the good one.
    """
    scores = [passing.scaled(record.value) for record in records if record.value is not None]
    is_whole = bool(scores) and len(scores) == len(records)
    falling = [record.signature in lower_is_better for record in records]
    score = sum(scores) / len(scores) if is_whole and len(set(falling)) == 1 else None
    reasons = [_reason(record) for record in records if record.value is None]
    feedback = "\n\n".join(record.explain() for record in records)
    if passing.scale and score is not None:
        feedback += f"\nscore: {passing.scale} = {score:.3g}"
    is_passing: bool | None = None
    if is_whole and passing.threshold is not None:
        is_passing = all(
            value <= passing.threshold if falls else value >= passing.threshold
            for value, falls in zip(scores, falling, strict=True)
        )
    return TracedEvaluationResult(
        **given,
        score=score,
        passing=is_passing,
        feedback=feedback,
        invalid_result=bool(reasons),
        invalid_reason="; ".join(reasons) or None,
        records=tuple(records),
    )


def _reason(record: Record) -> str:
    reason = f"{record.metric}: {record.headline}"
    if record.status == "skipped":
        return f"{record.metric}: it needs {_NAMES.get(record.reason or '', record.reason)}"
    if record.bounds:
        return f"{reason}, between {record.bounds[0]:.3g} and {record.bounds[1]:.3g}"
    return reason


# The fields of a sample by the names that they have here.
_NAMES = {
    "question": "query=",
    "answer": "response=",
    "contexts": "contexts=",
    "reference": "reference=, the expected answer",
}
