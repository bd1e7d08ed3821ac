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
    """A classifier's probability that the answer is equivalent to the reference, given the question (BEM).

    Range [0, 1], higher is better; undefined for a blank answer and without a reference that says something;
    with several references the best one counts. The model sees the answer first, then reference and question
    with a separator between them. Pass it as `scorer=CrossEncoderScorer(...)`.

    Attributes:
        separator: the token that the model was trained with between reference and question.
        threshold: with one, the score is 1 when the probability reaches it and 0 when it does not.

    Bulian et al. (2022), BEM: https://arxiv.org/abs/2202.07654. Oro et al. (2024) name it for answers.
    """

    name = "answer_equivalence"
    inputs = Asked

    separator: str = SEPARATOR
    threshold: float | None = None

    def check(self) -> None:
        """A threshold must be a probability."""
        check_threshold(self.name, self.threshold, 0)

    def pairs(self, sample: Asked, reference: str) -> tuple[tuple[str, str], ...]:
        """The answer, beside the reference and the question."""
        question = self._plain(sample.question)
        return ((self._plain(sample.answer), f"{self._plain(reference)} {self.separator} {question}"),)

    def outcome(self, value: float, ratings: Sequence[float], reference: int) -> Measurement:
        """The highest probability."""
        return reached("probability", value, self.threshold, reference=reference)

    def _plain(self, text: str) -> str:
        """A text of the sample without the separator: it must not look like the end of its part."""
        return text.replace(self.separator, " ") if self.separator else text
