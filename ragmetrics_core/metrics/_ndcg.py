"""nDCG: how close is the ranking to the best possible one?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.metrics._steps.ranking import Ranked, RankingMetric, terms

__all__ = ["Ndcg"]


@dataclass(frozen=True, kw_only=True)
class Ndcg(RankingMetric):
    """Discounted cumulative gain, divided by that of the best possible ranking.

    Range [0, 1], higher is better; undefined when nothing is relevant; 0 when no relevant result is among the
    first k. Grades are the sample's `reference_context_grades` (default: 1); a grade of 0 or below means "not
    relevant". The best ranking has all relevant items, including those that were not retrieved.

    Attributes:
        k: number of results that count; none for all.
        match: find relevant results by their "ids" (`context_ids` and `reference_context_ids`), or by their
            "text" (`contexts` and `reference_contexts`).
        threshold: for texts, the share of a relevant passage's words that a chunk must contain.
        gain: gain of a result: its grade ("linear", trec_eval), or 2 to the power of the grade, minus 1
            ("exponential").

    Järvelin and Kekäläinen (2002): https://doi.org/10.1145/582415.582418; trec_eval, ndcg_cut. Oro et al.
    (2024) list it for retrieval.
    """

    name = "ndcg"

    gain: Literal["linear", "exponential"] = "linear"

    def formula(self, ranked: Ranked) -> float | None:
        """The score of a ranking."""
        return scoring.ndcg_at(ranked.results, ranked.grades, self.k, gain=self.gain)

    def spelled(self, ranked: Ranked) -> str:
        """The formula as text."""
        best = sorted(ranked.grades.values(), reverse=True)[: self.k]
        return f"({self._sum(ranked.gains)}) / ({self._sum(best)})"

    def _sum(self, grades: Sequence[float]) -> str:
        gain = "{:g}" if self.gain == "linear" else "(2^{:g} - 1)"
        ranked = enumerate(grades, start=1)
        return terms([f"{gain.format(grade)}/log2({rank + 1})" for rank, grade in ranked if grade])
