"""Context relevance as a rating: how relevant are the retrieved chunks, in a judge's opinion?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_ratings
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.ratings import MissingRatings, check_attempts, mean_rating
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Retrieved

__all__ = ["ContextRelevanceRating"]


@dataclass(frozen=True, kw_only=True)
class ContextRelevanceRating(Metric[Retrieved]):
    """Mean rating from 0 to 10 of each chunk's relevance to the question, divided by 10.

    Range [0, 1], higher is better; undefined without contexts; a blank chunk is rated 0 without a call. It is
    the first side of the RAG triad. The variant `ragas-0.4` takes the mean of two prompts that rate all
    contexts at once with 0, 1 or 2, where 2 means "any relevant information". Contexts that are part of the
    question get 0 without a call, and a rating is left out after five failed attempts.

    Attributes:
        rate: asks for the rating of one chunk.
        grade, grade_again: ask for 0, 1 or 2 for all contexts instead.
        without_contexts: score if question or contexts are blank; None for undefined.
        in_question: score if the question contains the contexts; None to ask the judge as usual.
        attempts: how often to ask for a rating on the scale, at most; None for the run's own limit.
        missing_ratings: give "bounds" if ratings are missing, or take the mean of the others ("left_out").

    TruLens, RAG triad: https://www.trulens.org/getting_started/core_concepts/rag_triad/. The double judge is
    ragas' "context relevance" since 0.2.
    """

    name = "context_relevance_rating"
    inputs = Retrieved
    variants = {
        "strict.1": {},
        "ragas-0.4": {
            "grade": prompts.CONTEXT_GRADE,
            "grade_again": prompts.CONTEXT_GRADE_AGAIN,
            "without_contexts": 0.0,
            "in_question": 0.0,
            "attempts": 5,
            "missing_ratings": "left_out",
        },
    }

    variant: Literal["strict", "strict.1", "ragas-0.4"] = "strict.1"
    rate: Prompt[Rating] = prompts.CHUNK_RATING
    grade: Prompt[Rating] | None = None
    grade_again: Prompt[Rating] | None = None
    without_contexts: float | None = None
    in_question: float | None = None
    attempts: int | None = None
    missing_ratings: MissingRatings = "bounds"

    def check(self) -> None:
        """Reject scores outside the range and attempts below 1."""
        self.check_score("without_contexts")
        self.check_score("in_question")
        check_attempts(self.name, self.attempts)

    @property
    def idle(self) -> frozenset[str]:
        """The prompt for ratings if grades are asked for, else none."""
        return frozenset({"rate"} if self.grade or self.grade_again else ())

    def measure(self, sample: Retrieved) -> Steps[Measurement]:
        """Rate each chunk, or all chunks twice; take the mean."""
        together = "\n".join(sample.contexts).strip()
        if self.without_contexts is not None and not (together and sample.question.strip()):
            blank = "no question" if together else "no contexts"
            return valued(self.without_contexts, counts={"ratings": 0}, spelled=blank)
        if not together:
            return undefined("no_contexts")
        if self.in_question is not None and together in sample.question:
            spelled = "the contexts stand in the question"
            return valued(self.in_question, counts={"ratings": 0}, spelled=spelled)
        grades = [grade for grade in (self.grade, self.grade_again) if grade is not None]
        asked = [(grade, {"question": sample.question, "contexts": sample.contexts}) for grade in grades]
        scale = Scale(0, 2) if grades else Scale(0, 10)
        if not grades:
            chunks = [(chunk,) for chunk in sample.contexts if chunk.strip()]
            asked = [(self.rate, {"question": sample.question, "contexts": chunk}) for chunk in chunks]
        ratings = yield from ask_ratings(*asked, scale=scale, attempts=self.attempts)
        if not grades:
            rated = iter(ratings)
            ratings = tuple([next(rated) if chunk.strip() else 0.0 for chunk in sample.contexts])
        return mean_rating(ratings, scale, missing_ratings=self.missing_ratings)
