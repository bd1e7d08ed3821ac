"""Semantic answer similarity: how similar are answer and reference to a cross-encoder?"""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core.measurement import Measurement, valued
from ragmetrics_core.metrics._steps.learned import LearnedMetric
from ragmetrics_core.samples import Worded

__all__ = ["SemanticAnswerSimilarity"]


@dataclass(frozen=True, kw_only=True)
class SemanticAnswerSimilarity(LearnedMetric[Worded]):
    """Similarity of answer and reference from a cross-encoder; the best reference counts.

    Range [0, 1], higher is better; undefined when the answer or all references are blank. Each pair is rated
    alone, so a score does not depend on the batch. Pass the model as `scorer=CrossEncoderScorer(...)`; every
    model has its own scale.

    Risch et al. (2021), SAS: https://arxiv.org/abs/2108.06130. Oro et al. (2024) list it for answers.
    """

    name = "semantic_answer_similarity"
    inputs = Worded

    def outcome(self, value: float, ratings: Sequence[float], reference: int) -> Measurement:
        """The highest similarity."""
        counts = {"similarity": value, "reference": reference}
        return valued(value, counts=counts, spelled="similarity")
