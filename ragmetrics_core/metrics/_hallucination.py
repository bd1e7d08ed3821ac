"""Hallucination: how much of the answer is neither right nor retrieved?"""

from dataclasses import dataclass

from ragmetrics_core.metrics._steps.answers import OriginMetric
from ragmetrics_core.metrics._steps.matrix import inverse

__all__ = ["Hallucination"]


@dataclass(frozen=True, kw_only=True)
class Hallucination(OriginMetric):
    """Share of the answer's statements that neither the reference has nor any retrieved chunk entails.

    Range [0, 1], lower is better; undefined when the answer makes no statement. What is wrong and retrieved
    is no hallucination but noise sensitivity. Without contexts all that is wrong was invented, so that the
    score is the share of wrong statements; RAGChecker gives 0 there.

    Attributes:
        references: the "best" of several counts, or the "first" alone.
        check_reference: is each statement in the reference?

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067
    """

    name = "hallucination"

    def counted(self, correct: bool | None) -> bool | None:
        """What is incorrect."""
        return inverse(correct)
