"""Self-knowledge: how much of the answer is right without having been retrieved?"""

from dataclasses import dataclass

from ragmetrics_core.metrics._steps.answers import OriginMetric

__all__ = ["SelfKnowledge"]


@dataclass(frozen=True, kw_only=True)
class SelfKnowledge(OriginMetric):
    """Share of the answer's statements that the reference has and no retrieved chunk entails.

    Range [0, 1], lower is better where answers must rest on what was retrieved; undefined when the answer
    makes no statement. It is the number for what Roychowdhury et al. (2024) see in wrong retrieval: a model
    that answers from knowledge outside of the contexts. Read it beside faithfulness.

    Attributes:
        references: the "best" of several counts, or the "first" alone.
        check_reference: is each statement in the reference?

    Ru et al. (2024), RAGChecker: https://arxiv.org/abs/2408.08067
    """

    name = "self_knowledge"
    best_is_highest = True  # the reference that has most of what no chunk has

    def counted(self, correct: bool | None) -> bool | None:
        """What is correct."""
        return correct
