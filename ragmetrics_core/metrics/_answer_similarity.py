"""Answer similarity: how close are the vectors of answer and reference?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core.asking import similar
from ragmetrics_core.measurement import Bounds, Measurement, undefined
from ragmetrics_core.metrics._steps.learned import check_threshold, reached
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Compared

__all__ = ["AnswerSimilarity"]


@dataclass(frozen=True, kw_only=True)
class AnswerSimilarity(ReferenceMetric[Compared]):
    """Cosine between the answer and the reference.

    Range [-1, 1] (with a threshold [0, 1]), higher is better; undefined when a vector is zero. A cosine says
    little by itself: random pairs of texts can have a high cosine, and every embedder has its own scale.

    Attributes:
        references: count the "best" of several references, or only the "first".
        threshold: if given, the score is 1 when the cosine reaches it, else 0.

    Equation 6 of Roychowdhury et al. (2024), AnsSim: https://arxiv.org/abs/2407.12873
    """

    name = "answer_similarity"
    inputs = Compared
    needs = frozenset({"embedder"})
    low = -1.0
    variants = {
        "strict.1": {},
        "paper.1": {},
        "ragas-0.1": {"references": "first"},
        "ragas-0.4": {"references": "first"},
    }

    variant: Literal["strict", "strict.1", "paper", "paper.1", "ragas-0.1", "ragas-0.4"] = "strict.1"
    threshold: float | None = None

    def check(self) -> None:
        """Reject a threshold outside [-1, 1]."""
        check_threshold(self.name, self.threshold, -1)

    @property
    def range(self) -> Bounds:
        """Range of the cosine; [0, 1] with a threshold."""
        return super().range if self.threshold is None else Bounds(0.0, 1.0)

    def against(self, sample: Compared) -> Steps[Measurement]:
        """Compare the answer with the reference."""
        (cosine,) = yield from similar(sample.reference, [sample.answer])
        if cosine is None:
            return undefined("zero_vector")
        return reached("cosine", cosine, self.threshold)
