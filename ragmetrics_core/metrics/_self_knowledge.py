"""Self-knowledge: how much of the answer is right but not retrieved?"""

from dataclasses import dataclass

from ragmetrics_core.metrics._steps.answers import OriginMetric

__all__ = ["SelfKnowledge"]


@dataclass(frozen=True, kw_only=True)
class SelfKnowledge(OriginMetric):
    """Share of the answer's statements that are in the reference but not entailed by any chunk.

    Range [0, 1], lower is better if answers must rest on the retrieved contexts; undefined when the answer
    makes no statement. It measures an effect that Roychowdhury et al. (2024) describe for wrong retrieval:
    the model answers from knowledge outside the contexts. Read it together with faithfulness.

    Attributes:
        references: count the "best" of several references, or only the "first".
        check_reference: asks whether each statement is in the reference.

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067
    """

    name = "self_knowledge"
    best_is_highest = True  # the reference that has most of what no chunk has

    def counted(self, correct: bool | None) -> bool | None:
        """True if the statement is correct."""
        return correct
