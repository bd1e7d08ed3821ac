"""Groundedness as a rating: how well does a judge find the answer supported?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import split
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._metric import Metric
from ragmetrics_core.metrics._steps.ratings import MissingRatings, check_attempts, rated
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Grounded

__all__ = ["GroundednessRating"]


@dataclass(frozen=True, kw_only=True)
class GroundednessRating(Metric[Grounded]):
    """Mean rating of the answer's sentences, each rated from 0 to 10 for its support, divided by 10.

    Range [0, 1], higher is better; undefined without contexts and for an answer without a sentence. It is
    the second side of the RAG triad. The variant `ragas-0.4` asks two prompts about the whole answer, each
    for 0, 1 or 2, and takes their mean; blank contexts or a blank answer are 0 there, and a rating that
    cannot be had in five attempts is left out.

    Attributes:
        rate: asks for a rating of one sentence.
        grade, grade_again: ask for 0, 1 or 2 for the whole answer instead.
        blank: the score where answer or contexts are blank; None for undefined.
        attempts: how often a rating is asked for until one is on the scale; None: as often as any reply.
        missing_ratings: a rating that is missing leaves "bounds", or is "left_out" of the mean.

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
        """The score that is given must be one; once is the least that can be asked."""
        self.check_score("blank")
        check_attempts(self.name, self.attempts)

    @property
    def idle(self) -> frozenset[str]:
        """Grades take the place of ratings."""
        return frozenset({"rate"} if self.grade or self.grade_again else ())

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Have each sentence rated, or the whole answer twice; take the mean."""
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
