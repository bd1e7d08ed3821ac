"""Groundedness as a rating: how well is the answer supported, in a judge's opinion?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import split
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.ratings import MissingRatings, check_attempts, rated
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Grounded

__all__ = ["GroundednessRating"]


@dataclass(frozen=True, kw_only=True)
class GroundednessRating(Metric[Grounded]):
    """Mean rating from 0 to 10 of the support for each sentence of the answer, divided by 10.

    Range [0, 1], higher is better; undefined without contexts and for an answer without a sentence. It is the
    second side of the RAG triad. The variant `ragas-0.4` takes the mean of two prompts that rate the whole
    answer with 0, 1 or 2. Blank contexts or a blank answer get 0, and a rating is left out after five failed
    attempts.

    Attributes:
        rate: asks for the rating of one sentence.
        grade, grade_again: ask for 0, 1 or 2 for the whole answer instead.
        blank: score if answer or contexts are blank; None for undefined.
        attempts: how often to ask for a rating on the scale, at most; None for the run's own limit.
        missing_ratings: give "bounds" if ratings are missing, or take the mean of the others ("left_out").

    TruLens, RAG triad: https://www.trulens.org/getting_started/core_concepts/rag_triad/. The double judge is
    ragas' "response groundedness" since 0.2.
    """

    name = "groundedness_rating"
    inputs = Grounded
    variants = {
        "strict.1": {},
        "ragas-0.4": {
            "grade": prompts.GROUNDING_GRADE,
            "grade_again": prompts.GROUNDING_GRADE_AGAIN,
            "blank": 0.0,
            "attempts": 5,
            "missing_ratings": "left_out",
        },
    }

    variant: Literal["strict", "strict.1", "ragas-0.4"] = "strict.1"
    rate: Prompt[Rating] = prompts.SENTENCE_RATING
    grade: Prompt[Rating] | None = None
    grade_again: Prompt[Rating] | None = None
    blank: float | None = None
    attempts: int | None = None
    missing_ratings: MissingRatings = "bounds"

    def check(self) -> None:
        """Reject a `blank` outside the range and attempts below 1."""
        self.check_score("blank")
        check_attempts(self.name, self.attempts)

    @property
    def idle(self) -> frozenset[str]:
        """The prompt for ratings if grades are asked for, else none."""
        return frozenset({"rate"} if self.grade or self.grade_again else ())

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Rate each sentence, or the whole answer twice; take the mean."""
        grades = [grade for grade in (self.grade, self.grade_again) if grade is not None]
        has_contexts = any(chunk.strip() for chunk in sample.contexts)
        if self.blank is not None and not (has_contexts and sample.answer.strip()):
            spelled = "no answer" if has_contexts else "no contexts"
            return valued(self.blank, counts={"ratings": 0}, spelled=spelled)
        if not has_contexts:
            return undefined("no_contexts")
        sentences = yield from split(sample.answer)
        if not sentences and not (grades and sample.answer.strip()):
            return undefined("no_sentences")
        scale = Scale(0, 2) if grades else Scale(0, 10)
        shared: dict[str, object] = {"contexts": sample.contexts}
        asked = [(grade, {**shared, "answer": sample.answer}) for grade in grades]
        if not grades:
            shared["question"] = sample.question
            padded = ("", *sentences, "")
            neighbours = zip(padded, sentences, padded[2:], strict=False)
            asked = [
                (self.rate, {**shared, "before": before, "answer": text, "after": after})
                for before, text, after in neighbours
            ]
        missing = self.missing_ratings
        return (yield from rated(*asked, scale=scale, attempts=self.attempts, missing_ratings=missing))
