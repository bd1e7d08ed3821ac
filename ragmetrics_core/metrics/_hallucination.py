"""Hallucination: how much of the answer is neither right nor retrieved?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import prompts
from ragmetrics_core.metrics._steps.answers import OriginMetric
from ragmetrics_core.metrics._steps.matrix import inverse

__all__ = ["Hallucination"]


@dataclass(frozen=True, kw_only=True)
class Hallucination(OriginMetric):
    """Share of the answer's statements that are neither in the reference nor entailed by any chunk.

    Range [0, 1], lower is better; undefined when the answer makes no statement. Wrong statements that a chunk
    entails count for noise sensitivity instead. Without contexts every wrong statement counts as invented;
    RAGChecker gives 0 there.

    Attributes:
        references: count the "best" of several references, or only the "first".
        check_reference: asks whether each statement is in the reference.

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067
    """

    name = "hallucination"
    variants = {"strict.1": {}, "strict.2": {"verify": prompts.STANCES}}

    variant: Literal["strict", "strict.1", "strict.2"] = "strict.1"

    def counted(self, correct: bool | None) -> bool | None:
        """True if the statement is incorrect."""
        return inverse(correct)
