"""Average precision: are all relevant results retrieved and ranked first?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.metrics._steps.ranking import Ranked, RankingMetric, precisions, terms

__all__ = ["AveragePrecision"]


@dataclass(frozen=True, kw_only=True)
class AveragePrecision(RankingMetric):
    """Mean precision at the ranks of the relevant items; the mean over samples is the mAP.

    Range [0, 1], higher is better; undefined when nothing is relevant; an item that was not retrieved has a
    precision of 0. Each relevant item is credited once, so repeated results cannot raise the score above 1.

    Attributes:
        k: number of results that count; none for all.
        match: find relevant results by their "ids" (`context_ids` and `reference_context_ids`), or by their
            "text" (`contexts` and `reference_contexts`).
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.
        denominator: divide by all "relevant" items (trec_eval), or only by the "found" ones, as some
            libraries do; then missing items cost nothing.

    Manning, Raghavan, Schütze (2008), section 8.4; trec_eval, map. Oro et al. (2024) list it for retrieval.
    """

    name = "average_precision"

    denominator: Literal["relevant", "found"] = "relevant"

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        return scoring.average_precision_at(
            ranked.results, ranked.grades, self.k, denominator=self.denominator
        )

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text."""
        if not any(ranked.gains):
            return "no relevant result"
        return f"({terms(precisions(ranked.gains))}) / {{{self.denominator}}}"
