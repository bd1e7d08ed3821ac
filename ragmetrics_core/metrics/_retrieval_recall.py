"""Recall at k: how many of the relevant items were retrieved?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.metrics._steps.ranking import Ranked, RankingMetric

__all__ = ["RetrievalRecall"]


@dataclass(frozen=True, kw_only=True)
class RetrievalRecall(RankingMetric):
    """Share of the relevant items that are among the first k results.

    Range [0, 1], higher is better; undefined when nothing is relevant; 0 when nothing was retrieved. Each
    relevant item is credited once.

    Attributes:
        k: number of results that count; none for all.
        match: find relevant results by their "ids" (`context_ids` and `reference_context_ids`), or by their
            "text" (`contexts` and `reference_contexts`).
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.

    Manning, Raghavan, Schütze (2008), section 8.3; trec_eval, recall. Oro et al. (2024) list it for
    retrieval.
    """

    name = "retrieval_recall"

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        return scoring.recall_at(ranked.results, ranked.grades, self.k)

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text."""
        del ranked
        return "{found} / {relevant}"
