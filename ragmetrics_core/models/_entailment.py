"""An entailment model as the judge of verdicts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._encoders import CrossEncoderScorer
from ragmetrics_core.models._verdict_judge import Claims, GroundedFinding, VerdictJudge
from ragmetrics_core.parsers import split_sentences

__all__ = ["EntailmentJudge"]


@dataclass(frozen=True, kw_only=True)
class EntailmentJudge(VerdictJudge):
    """Give verdicts with an entailment (NLI) model; ask another judge everything else.

    A statement is supported if a single text entails it with at least the threshold's probability. Support
    that needs two chunks together is missed. Replies have the form that the prompts request, and are recorded
    and audited like any judge's.

    Attributes:
        scorer: the model, with `label` set to its entailment label.
        others: the judge that splits texts into statements and answers all other prompts.
        threshold: lowest probability of entailment that counts as support.
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
        """The model, the threshold and the other judge."""
        return f"entailment:{self.scorer.identity},threshold {self.threshold:g}{self.beside}"

    @property
    def model_name(self) -> str:
        """The model."""
        return self.scorer.identity

    @property
    def is_three_way(self) -> bool:
        """Always: a model without the label "contradiction" is refused at its first call."""
        return True

    async def acontrary(self, claims: Claims, findings: Sequence[GroundedFinding]) -> Sequence[str]:
        """For each statement without support, the sentence that contradicts it most; "" if none does.

        A sentence contradicts a statement if the model's probability of that reaches the threshold.

        Raises:
            ModelRefused: the model has no label "contradiction".
        """
        sentences = tuple(dict.fromkeys(each for text in claims.texts for each in split_sentences(text)))
        open_items = [
            item.text
            for item, found in zip(claims.items, findings, strict=True)
            if found.supported is False and sentences
        ]
        pairs = [(sentence, text) for text in open_items for sentence in sentences]
        ratings = iter(await asyncio.to_thread(self.scorer.rate, pairs, "contradiction") if pairs else ())
        against: dict[str, str] = {}
        for text in open_items:
            highest = max((next(ratings), -place) for place, _ in enumerate(sentences))
            if highest[0] >= self.threshold:
                against[text] = sentences[-highest[1]]
        return [against.get(item.text, "") for item in claims.items]

    async def afindings(self, claims: Claims) -> Sequence[GroundedFinding]:
        """A finding per statement, from the text that entails it with the highest probability."""
        pairs = [(text, item.text) for item in claims.items for text in claims.texts]
        ratings = iter(await asyncio.to_thread(self.scorer.rate, pairs))
        highest = [max((next(ratings) for _ in claims.texts), default=0.0) for _ in claims.items]
        return [
            GroundedFinding(best >= self.threshold, best, f"entailed with probability {best:.3f}")
            for best in highest
        ]
