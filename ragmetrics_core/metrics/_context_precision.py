"""Context precision: are the relevant chunks ranked first?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_each, together
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Judged, Labels, Measurement, score, undefined
from ragmetrics_core.metrics._steps.ranking import precisions
from ragmetrics_core.metrics._steps.references import ReferenceMetric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Attributed

__all__ = ["ContextPrecision"]

RELEVANT = Labels("relevant", "not relevant")


@dataclass(frozen=True, kw_only=True)
class ContextPrecision(ReferenceMetric[Attributed]):
    """Average precision of the ranked chunks, each judged against question and reference.

    Range [0, 1], higher is better; 0 when no chunk is relevant; undefined without contexts. A partly relevant
    chunk counts as not relevant.

    Attributes:
        chunks: show all chunks "together" in one call, or each "alone" in its own call, as ragas does.
        references: count the "best" of several references, or only the "first".
        epsilon: added to the number of relevant chunks, as other libraries do; the score then stays below 1.

    Formula with worked examples in Sarkar, Evaluating LLM and RAG Systems (slides, 2024).
    """

    name = "context_precision"
    inputs = Attributed
    variants = {
        "strict.1": {},
        "ragas-0.1": {"references": "first", "epsilon": 1e-10},
        "ragas-0.4": {"references": "first", "epsilon": 1e-10},
    }

    variant: Literal["strict", "strict.1", "ragas-0.1", "ragas-0.4"] = "strict.1"
    epsilon: float = 0.0
    chunks: Literal["together", "alone"] = "together"
    verify: Prompt[VerdictList] = prompts.CHUNK_VERDICTS

    def check(self) -> None:
        """Reject a negative epsilon."""
        if self.epsilon < 0:
            raise ConfigError(f"context_precision: epsilon must be 0 or more, not {self.epsilon}")

    def against(self, sample: Attributed) -> Steps[Measurement]:
        """Judge each chunk, take the mean precision at the relevant ranks."""
        if not any(chunk.strip() for chunk in sample.contexts):
            return undefined("no_contexts")
        if self.chunks == "together":
            judged = yield from self._relevant(sample, sample.contexts)
        else:
            ranked = enumerate(sample.contexts, start=1)
            alone = yield from together(*(self._relevant(sample, (text,), rank) for rank, text in ranked))
            judged = Judged.derived((known for each in alone for known in each.known), *alone)
        counts = {"relevant": judged.supported, "chunks": len(judged)}
        terms = " + ".join(precisions(judged.known)) or "0"
        return score(
            self._formula,
            judged,
            counts=counts,
            spelled=f"({terms}) / {{relevant}}" if judged.supported else "0 of {chunks} relevant",
            bounds=scoring.average_precision_bounds,
        )

    def _relevant(self, sample: Attributed, shown: Sequence[str], first: int = 1) -> Steps[Judged]:
        """Verdicts on the chunks in one call; `first` is the rank of the first chunk."""
        ranks = range(first, first + len(shown))
        return (
            yield from ask_each(
                self.verify,
                [f"chunk {number}" for number in range(1, len(shown) + 1)],
                called=[f"chunk {rank}" for rank in ranks],
                about="chunk",
                labels=RELEVANT,
                ranks=ranks,
                chunks=True,
                contexts=shown,
                question=sample.question,
                reference=sample.reference,
            )
        )

    def _formula(self, relevances: Sequence[bool]) -> float | None:
        exact = scoring.average_precision(relevances)
        relevant = sum(relevances)
        return exact * relevant / (relevant + self.epsilon) if exact and self.epsilon else exact
