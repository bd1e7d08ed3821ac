"""Answer relevance as a rating: how well does the answer address the question, in a judge's opinion?"""

from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.ratings import rated
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered

__all__ = ["AnswerRelevanceRating"]


@dataclass(frozen=True, kw_only=True)
class AnswerRelevanceRating(Metric[Answered]):
    """Rating from 0 to 10 of the answer's relevance to the question, divided by 10.

    Range [0, 1], higher is better; undefined for a blank answer. It is the third side of the RAG triad; Oro
    et al. call it answer relevance.

    Attributes:
        rate: asks for the rating.

    TruLens, RAG triad: https://www.trulens.org/getting_started/core_concepts/rag_triad/
    """

    name = "answer_relevance_rating"
    inputs = Answered

    rate: Prompt[Rating] = prompts.ANSWER_RATING

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Rate the answer."""
        if not sample.answer.strip():
            return undefined("no_answer")
        variables = {"question": sample.question, "answer": sample.answer}
        return (yield from rated((self.rate, variables), scale=Scale(0, 10)))
