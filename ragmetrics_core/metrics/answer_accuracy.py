"""Answer accuracy: how far do answer and reference say the same, as two ratings?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_ratings
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.steps.ratings import Scale, mean_rating
from ragmetrics_core.parsers import Rating
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.views import Referenced

__all__ = ["AnswerAccuracy"]


@dataclass(frozen=True, kw_only=True)
class AnswerAccuracy(Metric[Referenced]):
    """Mean of two ratings of 0, 2 or 4: answer against reference, then with their roles exchanged.

    Range [0, 1], higher is better; undefined when answer or reference is blank. A judge that favours whatever
    stands first cannot raise it by that. When one rating is missing, the score has bounds.

    Attributes:
        rate: asks for one of the two ratings.

    ragas, "answer accuracy", since 0.2: https://docs.ragas.io/en/stable/concepts/metrics/
    """

    name = "answer_accuracy"
    inputs = Referenced
    variants = {"strict.1": {}, "ragas-0.4": {}}

    variant: Literal["strict", "strict.1", "ragas-0.4"] = "strict.1"
    rate: Prompt[Rating] = prompts.ACCURACY_GRADE

    def measure(self, sample: Referenced) -> Steps[Measurement]:
        """Have answer and reference compared in both directions."""
        if not sample.answer.strip() or not sample.reference.strip():
            return undefined("no_answer" if not sample.answer.strip() else "no_reference")
        scale = Scale(0, 4, 2)
        pairs = ((sample.answer, sample.reference), (sample.reference, sample.answer))
        ratings = yield from ask_ratings(
            *(
                (self.rate, {"question": sample.question, "answer": one, "reference": other})
                for one, other in pairs
            ),
            allowed=scale.has,
        )
        return mean_rating(ratings, scale)
