"""Hit rate at k: is any of the first k results relevant?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.metrics._steps.ranking import Ranked, RankingMetric

__all__ = ["HitRate"]


@dataclass(frozen=True, kw_only=True)
class HitRate(RankingMetric):
    """1 when any of the first k results is relevant, else 0; the mean over samples is the hit rate.

    Range [0, 1], higher is better; undefined when nothing is relevant; 0 when nothing was retrieved.

    Attributes:
        k: number of results that count; none for all.
        match: find relevant results by their "ids" (`context_ids` and `reference_context_ids`), or by their
            "text" (`contexts` and `reference_contexts`).
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.

    trec_eval, success. Oro et al. (2024) list it for retrieval.
    """

    name = "hit_rate"

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        return scoring.hit_at(ranked.results, ranked.grades, self.k)

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text."""
        return "{found} found, at least one" if any(ranked.gains) else "{found} found, none"
