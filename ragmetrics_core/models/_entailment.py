"""An entailment model as the judge of verdicts, in place of a language model."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._encoders import CrossEncoderScorer
from ragmetrics_core.models._wrapper import PromptChecker
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate, Judge

__all__ = ["EntailmentJudge"]

# The prompts that ask whether a text entails a statement, and the variable that holds the text.
SOURCES: Final = {"verdicts": "contexts", "reference_verdicts": "reference", "answer_verdicts": "answer"}


@dataclass(frozen=True, kw_only=True)
class EntailmentJudge:
    """Gives verdicts by an entailment (NLI) model; everything else is asked of another judge.

    A statement is supported when one of the texts, each read by itself, entails it with at least the
    threshold's probability. What follows only from two chunks together is not found. The replies have the
    form that the prompts ask for, so that they are read, recorded and audited like those of any judge.

    Attributes:
        scorer: the model; its label is the one for entailment.
        others: splits texts into statements and answers whatever asks for no such verdict.
        threshold: the least probability of entailment.
    """

    draws_at_once: ClassVar[bool] = True

    scorer: CrossEncoderScorer
    others: Judge | None = None
    threshold: float = 0.5

    def __post_init__(self) -> None:
        """Check the threshold."""
        if not 0 < self.threshold < 1:
            raise ConfigError(f"EntailmentJudge: threshold must be between 0 and 1, not {self.threshold}")

    @property
    def identity(self) -> str:
        """The model, the threshold and the judge of everything else."""
        others = f",others {self.others.identity}" if self.others else ""
        return f"entailment:{self.scorer.identity},threshold {self.threshold:g}{others}"

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when a prompt asks for no entailment and there is no other judge for it."""
        left = sorted(set(names) - set(SOURCES))
        if left and self.others is None:
            raise ConfigError(
                f"an entailment model cannot answer the prompt {left[0]!r}: pass others=..., the judge for it"
            )
        if left and isinstance(self.others, PromptChecker):
            self.others.check_prompts(left)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Verdicts on the request's items, the same for each draw.

        Raises:
            ModelError: a model did not answer.
        """
        source = SOURCES.get(request.prompt.name)
        if source is None:
            self.check_prompts([request.prompt.name])
            return await cast("Judge", self.others).agenerate(request)
        shown = request.variables[source]
        texts = (shown,) if isinstance(shown, str) else tuple(cast("Sequence[str]", shown))
        items = cast("Sequence[Item]", request.variables["items"])
        reply = await asyncio.to_thread(self._verdicts, items, [text for text in texts if text.strip()])
        completion = Completion(text=reply, model=self.scorer.identity, finish_reason="stop")
        return [completion] * request.draws

    def _verdicts(self, items: Sequence[Item], texts: Sequence[str]) -> str:
        pairs = [(text, item.text) for item in items for text in texts]
        ratings = iter(self.scorer.rate(pairs))
        verdicts: list[dict[str, object]] = []
        for item in items:
            best = max((next(ratings) for _ in texts), default=0.0)
            verdict = "yes" if best >= self.threshold else "no"
            verdicts.append(
                {
                    "number": item.number,
                    "reason": f"entailed with probability {best:.3f}",
                    "probability": round(best, 6),
                    "verdict": verdict,
                }
            )
        return json.dumps({"verdicts": verdicts})
