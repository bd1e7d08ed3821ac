"""Answer equivalence (BEM): does a trained classifier find answer and reference equivalent?"""

from dataclasses import dataclass

from ragmetrics_core.asking import rate_shares
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._metric import Metric
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Asked

__all__ = ["AnswerEquivalence"]

SEPARATOR = "[SEP]"


@dataclass(frozen=True, kw_only=True)
class AnswerEquivalence(Metric[Asked]):
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
    needs = frozenset({"scorer"})

    separator: str = SEPARATOR
    threshold: float | None = None

    def check(self) -> None:
        """A threshold must be a probability."""
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ConfigError(f"answer_equivalence: threshold must be between 0 and 1, not {self.threshold}")

    def measure(self, sample: Asked) -> Steps[Measurement]:
        """Have the answer rated beside each reference and the question, take the highest probability."""
        references = [text for text in references_of(sample) if text.strip()]
        if not sample.answer.strip() or not references:
            return undefined("no_reference" if sample.answer.strip() else "no_answer")
        answer, question = self._plain(sample.answer), self._plain(sample.question)
        pairs = [(answer, f"{self._plain(text)} {self.separator} {question}") for text in references]
        best = best_of((yield from rate_shares(pairs)))
        assert best is not None, "there is a reference"
        counts = {"probability": best.value, "reference": best.number + 1}
        if self.threshold is None:
            return valued(best.value, counts=counts, spelled="probability")
        reached = best.value >= self.threshold
        sign = "≥" if reached else "<"
        counts = {**counts, "threshold": self.threshold}
        return valued(float(reached), counts=counts, spelled=f"{{probability:.3f}} {sign} {{threshold:g}}")

    def _plain(self, text: str) -> str:
        """A text of the sample without the separator: it must not look like the end of its part."""
        return text.replace(self.separator, " ") if self.separator else text
