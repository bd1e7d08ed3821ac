"""Relevance grade: how relevant is each retrieved chunk, on the scale of TREC's assessors?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_ratings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Bounds, Measurement, undefined, valued
from ragmetrics_core.metrics._steps.ratings import mean_rating
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Retrieved

__all__ = ["RelevanceGrade"]

SCALE = Scale(0, 3)


@dataclass(frozen=True, kw_only=True)
class RelevanceGrade(Metric[Retrieved]):
    """Mean grade from 0 to 3 of each chunk's relevance to the question, divided by 3.

    Range [0, 1], higher is better; undefined without contexts; a blank chunk is graded 0 without a call. The
    counts `grade_1`, `grade_2`, ... are the grades by rank, which may serve as gains of `ndcg`. The variant
    `ndcg` takes the grades as gains: it compares the ranking with the best order of the same chunks,
    and is undefined if all grades are 0.

    Attributes:
        aggregate: the "mean" of the grades, or the "ndcg" of the ranking with the grades as gains.
        k: number of ranks that count for "ndcg"; none for all.
        gain: gain of a chunk for "ndcg": its grade ("linear"), or 2 to the power of the grade, minus 1
            ("exponential").
        grade: asks for the grade of one chunk.

    Upadhyay et al. (2024), UMBRELA, with the four grades of TREC's deep learning track:
    https://arxiv.org/abs/2406.06519. The wording of the prompt is this library's own.
    """

    name = "relevance_grade"
    inputs = Retrieved
    variants = {"strict.1": {}, "ndcg.1": {"aggregate": "ndcg"}}

    variant: Literal["strict", "strict.1", "ndcg", "ndcg.1"] = "strict.1"
    aggregate: Literal["mean", "ndcg"] = "mean"
    k: int | None = None
    gain: Literal["linear", "exponential"] = "linear"
    grade: Prompt[Rating] = prompts.RELEVANCE_GRADE

    def check(self) -> None:
        """Reject a cut-off below 1, and one without a ranking."""
        if self.k is not None and self.k < 1:
            raise ConfigError(f"relevance_grade: k must be at least 1, or none for all ranks, not {self.k}")
        if self.aggregate == "mean" and (self.k is not None or self.gain != "linear"):
            raise ConfigError('relevance_grade: k and gain need aggregate="ndcg"')

    def measure(self, sample: Retrieved) -> Steps[Measurement]:
        """Grade each chunk; take the mean, or the nDCG of the ranking."""
        chunks = [(chunk,) for chunk in sample.contexts if chunk.strip()]
        if not chunks:
            return undefined("no_contexts")
        asked = [(self.grade, {"question": sample.question, "contexts": chunk}) for chunk in chunks]
        rated = iter((yield from ask_ratings(*asked, scale=SCALE)))
        grades = [next(rated) if chunk.strip() else 0.0 for chunk in sample.contexts]
        measured = mean_rating(grades, SCALE) if self.aggregate == "mean" else self._ranked(grades)
        by_rank = {f"grade_{rank}": grade for rank, grade in enumerate(grades, 1) if grade is not None}
        return replace(measured, counts={**measured.counts, **by_rank})

    def _ranked(self, grades: Sequence[float | None]) -> Measurement:
        """The nDCG of the ranking; any value is possible while a grade is missing."""
        known = [grade for grade in grades if grade is not None]
        counts: dict[str, float] = {"ratings": len(grades), "sum": sum(known)}
        cut = "" if self.k is None else f"@{self.k}"
        spelled = f"nDCG{cut} of " + " ".join("?" if grade is None else f"{grade:g}" for grade in grades)
        if missing := len(grades) - len(known):
            counts["missing"] = missing
            return Measurement(
                bounds=Bounds(0, 1), reason="missing_ratings", counts=counts, formula=f"{spelled}: 0 to 1"
            )
        by_rank = {str(rank): grade for rank, grade in enumerate(known, start=1)}
        value = scoring.ndcg_at(list(by_rank), by_rank, self.k, gain=self.gain)
        if value is None:
            return undefined("no_relevant", **counts)
        return valued(value, counts=counts, spelled=spelled)
