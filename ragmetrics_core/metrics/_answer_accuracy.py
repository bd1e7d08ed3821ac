"""Answer accuracy: how far do answer and reference agree, by two ratings?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.ratings import MissingRatings, check_attempts, rated
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Referenced

__all__ = ["AnswerAccuracy"]


@dataclass(frozen=True, kw_only=True)
class AnswerAccuracy(ReferenceMetric[Referenced]):
    """Mean of two ratings (0, 2 or 4), divided by 4: answer against reference, and with exchanged roles.

    Range [0, 1], higher is better; undefined when answer or reference is blank. Because both orders are
    rated, a judge that favours the first text cannot raise the score. If a rating is missing, the score has
    bounds. The variant `ragas-0.4` also rates blank texts and leaves out a rating after five failed attempts.

    Attributes:
        references: count the "best" of several references, or only the "first".
        rate: asks for one of the two ratings.
        blank: with a blank text, the score is "undefined", or the text is "rated" like any other.
        attempts: how often to ask for a rating on the scale, at most; None for the run's own limit.
        missing_ratings: give "bounds" if ratings are missing, or take the mean of the others ("left_out").

    ragas, "answer accuracy", since 0.2: https://docs.ragas.io/en/stable/concepts/metrics/
    """

    name = "answer_accuracy"
    inputs = Referenced
    variants = {
        "strict.1": {},
        "ragas-0.4": {
            "references": "first",
            "blank": "rated",
            "attempts": 5,
            "missing_ratings": "left_out",
        },
    }

    variant: Literal["strict", "strict.1", "ragas-0.4"] = "strict.1"
    rate: Prompt[Rating] = prompts.ACCURACY_GRADE
    blank: Literal["undefined", "rated"] = "undefined"
    attempts: int | None = None
    missing_ratings: MissingRatings = "bounds"

    def check(self) -> None:
        """Reject attempts below 1."""
        check_attempts(self.name, self.attempts)

    def against(self, sample: Referenced) -> Steps[Measurement]:
        """Compare answer and reference in both directions."""
        is_blank = not sample.answer.strip() or not sample.reference.strip()
        if is_blank and (self.blank == "undefined" or not sample.answer or not sample.reference):
            return undefined("no_answer" if not sample.answer.strip() else "no_reference")
        pairs = ((sample.answer, sample.reference), (sample.reference, sample.answer))
        asked = [
            (self.rate, {"question": sample.question, "first": one, "second": other}) for one, other in pairs
        ]
        missing, scale = self.missing_ratings, Scale(0, 4, 2)
        return (yield from rated(*asked, scale=scale, attempts=self.attempts, missing_ratings=missing))
