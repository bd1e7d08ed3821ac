"""Semantic answer similarity: what a cross-encoder makes of answer and reference together."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core.measurement import Measurement, valued
from ragmetrics_core.metrics._steps.learned import LearnedMetric
from ragmetrics_core.samples import Worded

__all__ = ["SemanticAnswerSimilarity"]


@dataclass(frozen=True, kw_only=True)
class SemanticAnswerSimilarity(LearnedMetric[Worded]):
    """A cross-encoder's number for answer and reference, read together; the best reference counts.

    Range [0, 1], higher is better; undefined for a blank answer and without a reference that says something.
    Each pair is rated by itself, so that a score does not depend on the other samples of a batch. Pass the
    model as `scorer=CrossEncoderScorer(...)`; a model's numbers are its own scale.

    Risch et al. (2021), SAS: https://arxiv.org/abs/2108.06130. Oro et al. (2024) name it for answers.
    """

    name = "semantic_answer_similarity"
    inputs = Worded

    def outcome(self, value: float, ratings: Sequence[float], reference: int) -> Measurement:
        """The highest number."""
        counts = {"similarity": value, "reference": reference}
        return valued(value, counts=counts, spelled="similarity")
