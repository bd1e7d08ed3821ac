"""Precision at k: how many of the results are relevant?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.metrics._steps.ranking import Ranked, RankingMetric

__all__ = ["RetrievalPrecision"]


@dataclass(frozen=True, kw_only=True)
class RetrievalPrecision(RankingMetric):
    """Share of the first k results that are relevant.

    Range [0, 1], higher is better; undefined when nothing is relevant; 0 when nothing was retrieved. It
    divides by k even when fewer results were retrieved, as trec_eval does; without k, by the number of
    distinct results. Each relevant item is credited once, and repeated results are dropped. The order of the
    list is the ranking; there are no ties.

    Attributes:
        k: number of results that count, and the divisor; none for all.
        match: find relevant results by their "ids" (`context_ids` and `reference_context_ids`), or by their
            "text" (`contexts` and `reference_contexts`).
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.

    Manning, Raghavan, Schütze (2008), section 8.3; trec_eval, P. Oro et al. (2024) list it for retrieval.
    """

    name = "retrieval_precision"

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        return scoring.precision_at(ranked.results, ranked.grades, self.k)

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text."""
        return "{found} / {ranks}" if ranked.results or self.k else "nothing retrieved"
