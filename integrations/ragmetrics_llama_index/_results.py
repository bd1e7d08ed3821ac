"""Evaluation results with their proof."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from llama_index.core.evaluation import EvaluationResult

from ragmetrics_core import Record
from ragmetrics_core.adapting import Fields
from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.live import by_name

__all__ = ["EvaluationFailed", "Passing", "TracedEvaluationResult", "result_of"]


class TracedEvaluationResult(EvaluationResult):
    """An evaluation result with the record of each score.

    Without a score, `score` is None and never 0, `invalid_result` is True and `invalid_reason` gives the
    reason. For several metrics, `score` is the mean; None if a score is missing or if lower is better in some
    metrics and higher in others: see `scores`. `feedback` is the readable list of verdicts.

    Attributes:
        records: one per metric, with sample and prompts, ready for `ragmetrics_core.recompute`.
    """

    records: tuple[Record, ...] = ()

    @property
    def record(self) -> Record | None:
        """The record of a single metric."""
        return self.records[0] if len(self.records) == 1 else None

    @property
    def scores(self) -> dict[str, float | None]:
        """The metrics' own values by name (by signature if two share the name)."""
        return {name: record.value for name, record in by_name(self.records).items()}


class EvaluationFailed(RagMetricsError, ValueError):
    """There is no score, or (faithfulness) it did not pass; with `on_error="raise"` or `raise_error=True`.

    Attributes:
        result: the result of the evaluation.
    """

    def __init__(self, result: TracedEvaluationResult) -> None:
        super().__init__(result.invalid_reason or "The response is invalid: it does not pass")
        self.result = result


class Passing(NamedTuple):
    """Conversion of a metric's value to a score, and its threshold.

    Attributes:
        threshold: lowest passing score (highest, if lower is better); None leaves `passing` undefined.
        scaled: converts a value to a score.
        scale: description of the scale for the feedback, or "".
    """

    threshold: float | None
    scaled: Callable[[float], float] = float
    scale: str = ""


def result_of(
    records: Sequence[Record], passing: Passing, given: Fields, lower_is_better: frozenset[str]
) -> TracedEvaluationResult:
    """The result of some records.

    Args:
        records: one per metric.
        passing: how values become scores.
        given: query, response and contexts.
        lower_is_better: signatures of the metrics where lower is better.
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
