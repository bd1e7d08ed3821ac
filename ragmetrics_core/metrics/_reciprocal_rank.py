"""Reciprocal rank: how high is the first relevant result?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.metrics._steps.ranking import Ranked, RankingMetric

__all__ = ["ReciprocalRank"]


@dataclass(frozen=True, kw_only=True)
class ReciprocalRank(RankingMetric):
    """1 divided by the rank of the first relevant result; the mean over samples is the MRR.

    Range [0, 1], higher is better; undefined when nothing is relevant; 0 when no relevant result is among the
    first k.

    Attributes:
        k: number of results that count; none for all.
        match: find relevant results by their "ids" (`context_ids` and `reference_context_ids`), or by their
            "text" (`contexts` and `reference_contexts`).
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.

    Voorhees (1999), TREC-8 question answering track; trec_eval, recip_rank. Oro et al. (2024) list it for
    retrieval.
    """

    name = "reciprocal_rank"

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        return scoring.reciprocal_rank_at(ranked.results, ranked.grades, self.k)

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text."""
        ranks = [rank for rank, gain in enumerate(ranked.gains, start=1) if gain]
        return f"1 / {ranks[0]}" if ranks else "no relevant result"
