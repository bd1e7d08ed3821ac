"""A model that gives verdicts and nothing else, as a judge: another one is asked for the rest."""

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._wrapper import PromptChecker
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate, Judge

__all__ = ["Claims", "GroundedFinding", "VerdictJudge"]

# The prompts that ask whether a text entails a statement, and the variable that holds the text.
_SOURCES: Final = {"verdicts": "contexts", "reference_verdicts": "reference", "answer_verdicts": "answer"}


class Claims(NamedTuple):
    """What a request asks for a verdict on.

    Attributes:
        items: the statements, with their numbers.
        texts: what may support them, blank ones left out.
        question: the sample's question, where the prompt shows it.
    """

    items: Sequence[Item]
    texts: Sequence[str]
    question: str | None


class GroundedFinding(NamedTuple):
    """What a grounded model says of one statement.

    Attributes:
        supported: its makers' rule on the probability; None when its reply could not be read.
        probability: that the statement is supported, from 0 to 1; None where the model's server gives none.
        reason: what it rests on, in words.
        unsupported: the words of the statement that nothing supports, where the model marks them.
    """

    supported: bool | None
    probability: float | None
    reason: str
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class VerdictJudge(ABC):
    """Gives verdicts; everything else is asked of another judge.

    Attributes:
        kind: what the model is called in a sentence.
        others: splits texts into statements and answers whatever asks for no such verdict.
    """

    draws_at_once: ClassVar[bool] = True
    kind: ClassVar[str]

    others: Judge | None = None

    @property
    @abstractmethod
    def identity(self) -> str:
        """The model, its settings and the judge of everything else."""

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The model alone."""

    @abstractmethod
    def afindings(self, claims: Claims) -> Awaitable[Sequence[GroundedFinding]]:
        """What the model says of each statement.

        Raises:
            ModelError: the model did not answer.
        """

    @property
    def beside(self) -> str:
        """The other judge, as a part of the identity."""
        return f",others {self.others.identity}" if self.others else ""

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept for later runs."""
        return bool(getattr(self.others, "cacheable", True))

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when a prompt asks for no such verdict and there is no other judge for it."""
        left = sorted(set(names) - set(_SOURCES))
        if left and self.others is None:
            raise ConfigError(
                f"{self.kind} cannot answer the prompt {left[0]!r}: pass others=..., the judge for it"
            )
        if left and isinstance(self.others, PromptChecker):
            self.others.check_prompts(left)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Verdicts on the request's items, the same for each draw.

        Raises:
            ModelError: a model did not answer.
        """
        source = _SOURCES.get(request.prompt.name)
        if source is None:
            self.check_prompts([request.prompt.name])
            return await cast("Judge", self.others).agenerate(request)
        shown = request.variables[source]
        texts = (shown,) if isinstance(shown, str) else tuple(cast("Sequence[str]", shown))
        claims = Claims(
            cast("Sequence[Item]", request.variables["items"]),
            [text for text in texts if text.strip()],
            cast("str | None", request.variables.get("question")),
        )
        findings = await self.afindings(claims)
        verdicts = [_verdict(item, each) for item, each in zip(claims.items, findings, strict=True)]
        reply = json.dumps({"verdicts": verdicts})
        completion = Completion(reply, self.model_name, finish_reason="stop", held_to="graded")
        return [completion] * request.draws


def _verdict(item: Item, found: GroundedFinding) -> dict[str, object]:
    return {
        "number": item.number,
        "reason": found.reason,
        **({} if found.probability is None else {"probability": round(found.probability, 6)}),
        **({"unsupported": list(found.unsupported)} if found.unsupported else {}),
        "verdict": None if found.supported is None else "yes" if found.supported else "no",
    }
