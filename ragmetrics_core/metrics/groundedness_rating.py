"""Groundedness as a rating: how well does a judge find the answer supported?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.asking import ask_ratings, split
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.steps.ratings import Scale, mean_rating
from ragmetrics_core.parsers import Rating
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.views import Grounded

__all__ = ["GroundednessRating"]


@dataclass(frozen=True, kw_only=True)
class GroundednessRating(Metric[Grounded]):
    """Mean rating of the answer's sentences, each rated from 0 to 10 for its support, divided by 10.

    Range [0, 1], higher is better; undefined without contexts and for an answer without a sentence. It is
    the second side of the RAG triad. The variant `ragas-0.4` asks two prompts about the whole answer, each
    for 0, 1 or 2, and takes their mean.

    Attributes:
        rate: asks for a rating of one sentence.
        grade, grade_again: ask for 0, 1 or 2 for the whole answer instead.

    TruLens, RAG triad: https://www.trulens.org/getting_started/core_concepts/rag_triad/. The double judge is
    ragas' "response groundedness" since 0.2.
    """

    name = "groundedness_rating"
    inputs = Grounded
    variants = {
        "strict.1": {},
        "ragas-0.4": {"grade": prompts.GROUNDING_GRADE, "grade_again": prompts.GROUNDING_GRADE_AGAIN},
    }

    variant: Literal["strict", "strict.1", "ragas-0.4"] = "strict.1"
    rate: Prompt[Rating] = prompts.SENTENCE_RATING
    grade: Prompt[Rating] | None = None
    grade_again: Prompt[Rating] | None = None

    @property
    def idle(self) -> frozenset[str]:
        """Grades take the place of ratings."""
        return frozenset({"rate"} if self.grade or self.grade_again else ())

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        """Have each sentence rated, or the whole answer twice; take the mean."""
        if not any(chunk.strip() for chunk in sample.contexts):
            return undefined("no_contexts")
        sentences = yield from split(sample.answer)
        if not sentences:
            return undefined("no_sentences")
        grades = [each for each in (self.grade, self.grade_again) if each is not None]
        scale = Scale(0, 2) if grades else Scale(0, 10)
        asked = [(each, sample.answer) for each in grades] or [(self.rate, text) for text in sentences]
        ratings = yield from ask_ratings(
            *((prompt, {"answer": text, "contexts": sample.contexts}) for prompt, text in asked),
            allowed=scale.has,
        )
        return mean_rating(ratings, scale)
