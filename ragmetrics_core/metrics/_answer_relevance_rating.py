"""Answer relevance as a rating: how well does the answer address the question, in a judge's opinion?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.measurement import Measurement, undefined
from ragmetrics_core.metrics._steps.ratings import rated
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered, Grounded, View

__all__ = ["AnswerRelevanceRating"]


@dataclass(frozen=True, kw_only=True)
class AnswerRelevanceRating(Metric[Answered]):
    """Rating from 0 to 10 of the answer's relevance to the question, divided by 10.

    Range [0, 1], higher is better; undefined for a blank answer. It is the third side of the RAG triad. In
    the variant `paper` the judge also sees the retrieved contexts: Oro et al. rate "if the generated answer
    is relevant given the query and retrieved passage". It needs the field `contexts`, and is undefined if
    they are blank.

    Attributes:
        rate: asks for the rating.
        rate_with_contexts: asks for the rating and shows the contexts (Oro et al.), instead of `rate`.

    TruLens, RAG triad: https://www.trulens.org/getting_started/core_concepts/rag_triad/. The variant `paper`:
    Oro et al. (2024), Evaluating Retrieval-Augmented Generation for Question Answering with Large Language
    Models, section 3.2 (iii) and, as prompted by TruLens, section 4.2.
    """

    name = "answer_relevance_rating"
    inputs = Answered
    variants = {
        "strict.1": {},
        "paper.1": {"rate_with_contexts": prompts.ANSWER_RATING_WITH_CONTEXTS},
    }

    variant: Literal["strict", "strict.1", "paper", "paper.1"] = "strict.1"
    rate: Prompt[Rating] = prompts.ANSWER_RATING
    rate_with_contexts: Prompt[Rating] | None = None

    @property
    def view(self) -> type[View]:
        """The question and the answer, and the contexts if the judge sees them."""
        return Grounded if self.rate_with_contexts else Answered

    @property
    def idle(self) -> frozenset[str]:
        """The prompt without contexts if the judge sees them, else none."""
        return frozenset({"rate"} if self.rate_with_contexts else ())

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Rate the answer."""
        if not sample.answer.strip():
            return undefined("no_answer")
        rate = self.rate
        variables: dict[str, object] = {"question": sample.question, "answer": sample.answer}
        if self.rate_with_contexts is not None and isinstance(sample, Grounded):
            if not any(chunk.strip() for chunk in sample.contexts):
                return undefined("no_contexts")
            rate = self.rate_with_contexts
            variables["contexts"] = sample.contexts
        return (yield from rated((rate, variables), scale=Scale(0, 10)))
