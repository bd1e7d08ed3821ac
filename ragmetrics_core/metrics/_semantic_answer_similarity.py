"""Semantic answer similarity: what a cross-encoder makes of answer and reference together."""

from dataclasses import dataclass

from ragmetrics_core.asking import rate_shares
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._metric import Metric
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["SemanticAnswerSimilarity"]


@dataclass(frozen=True, kw_only=True)
class SemanticAnswerSimilarity(Metric[Worded]):
    """A cross-encoder's number for answer and reference, read together; the best reference counts.

    Range [0, 1], higher is better; undefined for a blank answer and without a reference that says something.
    Each pair is rated by itself, so that a score does not depend on the other samples of a batch. Pass the
    model as `scorer=CrossEncoderScorer(...)`; a model's numbers are its own scale.

    Risch et al. (2021), SAS: https://arxiv.org/abs/2108.06130. Oro et al. (2024) name it for answers.
    """

    name = "semantic_answer_similarity"
    inputs = Worded
    needs = frozenset({"scorer"})

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Have the answer rated beside each reference, take the highest number."""
        references = [text for text in references_of(sample) if text.strip()]
        if not sample.answer.strip() or not references:
            return undefined("no_reference" if sample.answer.strip() else "no_answer")
        ratings = yield from rate_shares([(sample.answer, text) for text in references])
        best = best_of(ratings)
        assert best is not None, "there is a reference"
        return valued(
            best.value, counts={"similarity": best.value, "reference": best.number + 1}, spelled="similarity"
        )
