"""Answer equivalence (BEM): does a trained classifier find answer and reference equivalent?"""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core.measurement import Measurement
from ragmetrics_core.metrics._steps.learned import LearnedMetric, check_threshold, reached
from ragmetrics_core.samples import Asked

__all__ = ["AnswerEquivalence"]

SEPARATOR = "[SEP]"


@dataclass(frozen=True, kw_only=True)
class AnswerEquivalence(LearnedMetric[Asked]):
    """Probability from a classifier that answer and reference are equivalent, given the question (BEM).

    Range [0, 1], higher is better; undefined when the answer or all references are blank; the best of several
    references counts. The model reads the answer, then reference and question, separated by `separator`. Pass
    it as `scorer=CrossEncoderScorer(...)`.

    Attributes:
        separator: token between reference and question in the model's training data.
        threshold: if given, the score is 1 when the probability reaches it, else 0.

    Bulian et al. (2022), BEM: https://arxiv.org/abs/2202.07654. Oro et al. (2024) list it for answers.
    """

    name = "answer_equivalence"
    inputs = Asked

    separator: str = SEPARATOR
    threshold: float | None = None

    def check(self) -> None:
        """Reject a threshold outside [0, 1]."""
        check_threshold(self.name, self.threshold, 0)

    def pairs(self, sample: Asked, reference: str) -> tuple[tuple[str, str], ...]:
        """Pair of the answer with reference and question."""
        question = self._plain(sample.question)
        return ((self._plain(sample.answer), f"{self._plain(reference)} {self.separator} {question}"),)

    def outcome(self, value: float, ratings: Sequence[float], reference: int) -> Measurement:
        """The highest probability."""
        return reached("probability", value, self.threshold, reference=reference)

    def _plain(self, text: str) -> str:
        """Remove the separator from a text of the sample, so that the text cannot end its part early."""
        return text.replace(self.separator, " ") if self.separator else text
