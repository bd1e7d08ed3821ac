"""An entailment model as the judge of verdicts, in place of a language model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._encoders import CrossEncoderScorer
from ragmetrics_core.models._verdict_judge import Claims, GroundedFinding, VerdictJudge

__all__ = ["EntailmentJudge"]


@dataclass(frozen=True, kw_only=True)
class EntailmentJudge(VerdictJudge):
    """Gives verdicts by an entailment (NLI) model; everything else is asked of another judge.

    A statement is supported when one of the texts, each read by itself, entails it with at least the
    threshold's probability. What follows only from two chunks together is not found. The replies have the
    form that the prompts ask for, so that they are read, recorded and audited like those of any judge.

    Attributes:
        scorer: the model; its label is the one for entailment.
        others: splits texts into statements and answers whatever asks for no such verdict.
        threshold: the least probability of entailment.
    """

    kind: ClassVar[str] = "an entailment model"

    scorer: CrossEncoderScorer
    threshold: float = 0.5

    def __post_init__(self) -> None:
        """Check the threshold."""
        if not 0 < self.threshold < 1:
            raise ConfigError(f"EntailmentJudge: threshold must be between 0 and 1, not {self.threshold}")

    @property
    def identity(self) -> str:
        """The model, the threshold and the judge of everything else."""
        return f"entailment:{self.scorer.identity},threshold {self.threshold:g}{self.beside}"

    @property
    def model_name(self) -> str:
        """The model."""
        return self.scorer.identity

    async def afindings(self, claims: Claims) -> Sequence[GroundedFinding]:
        """A finding for each statement, by the text that entails it with the highest probability."""
        pairs = [(text, item.text) for item in claims.items for text in claims.texts]
        ratings = iter(await asyncio.to_thread(self.scorer.rate, pairs))
        highest = [max((next(ratings) for _ in claims.texts), default=0.0) for _ in claims.items]
        return [
            GroundedFinding(best >= self.threshold, best, f"entailed with probability {best:.3f}")
            for best in highest
        ]
