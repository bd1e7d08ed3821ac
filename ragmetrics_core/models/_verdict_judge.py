"""A judge made of a model that answers some prompts and a second judge for everything else."""

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.wrapper import PromptChecker
from ragmetrics_core.parsers import CONTRADICTED, NOT_MENTIONED, SUPPORTED
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate, Judge

__all__ = ["Claims", "GroundedFinding", "PartJudge", "VerdictJudge"]

# The prompts that ask whether a text entails a statement, and the variable that holds the text.
_THREE_WAY: Final = "stances"
_SOURCES: Final = {
    "verdicts": "contexts",
    _THREE_WAY: "contexts",
    "reference_verdicts": "reference",
    "answer_verdicts": "answer",
}


class Claims(NamedTuple):
    """The statements in a request for verdicts.

    Attributes:
        items: the statements, with their numbers.
        texts: texts that may support them, without blank ones.
        question: the sample's question, if the prompt shows it.
    """

    items: Sequence[Item]
    texts: Sequence[str]
    question: str | None


class GroundedFinding(NamedTuple):
    """A grounded model's finding on one statement.

    Attributes:
        supported: the published rule applied to the probability; None if the reply could not be read.
        probability: probability in [0, 1] that the statement is supported; None if the server gives none.
        reason: explanation in words.
        unsupported: the statement's unsupported words, if the model marks them.
    """

    supported: bool | None
    probability: float | None
    reason: str
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PartJudge(ABC):
    """Answer some prompts; ask another judge everything else.

    Attributes:
        kind: phrase for the model in messages.
        others: the judge that splits texts into statements and answers all other prompts.
    """

    draws_at_once: ClassVar[bool] = True
    by_file: ClassVar[bool] = False
    kind: ClassVar[str]

    others: Judge | None = None

    @property
    @abstractmethod
    def identity(self) -> str:
        """The model, its settings and the other judge."""

    @abstractmethod
    def answers(self, name: str) -> bool:
        """Whether the model itself answers the prompt with a name."""

    @property
    def beside(self) -> str:
        """The other judge, as a part of the identity."""
        return f",others {self.others.identity}" if self.others else ""

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept for later runs."""
        return bool(getattr(self.others, "cacheable", True))

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` if a prompt requests something else and there is no other judge."""
        left = sorted(name for name in set(names) if not self.answers(name))
        if left and self.others is None:
            raise ConfigError(
                f"{self.kind} cannot answer the prompt {left[0]!r}: pass others=..., a judge that can"
            )
        if left and isinstance(self.others, PromptChecker):
            self.others.check_prompts(left)

    async def aothers(self, request: Generate[Any]) -> Sequence[Completion]:
        """The other judge's replies.

        Raises:
            ConfigError: there is no other judge, or it cannot answer the prompt.
            ModelError: the model failed.
        """
        if self.others is None:
            self.check_prompts([request.prompt.name])
        return await cast("Judge", self.others).agenerate(request)


@dataclass(frozen=True, kw_only=True)
class VerdictJudge(PartJudge):
    """Give verdicts on statements; ask another judge everything else."""

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The model alone."""

    @abstractmethod
    def afindings(self, claims: Claims) -> Awaitable[Sequence[GroundedFinding]]:
        """A finding per statement.

        Raises:
            ModelError: the model failed.
        """

    @property
    def is_three_way(self) -> bool:
        """Whether the model can tell contradicted statements from those that are not mentioned."""
        return False

    async def acontrary(self, claims: Claims, findings: Sequence[GroundedFinding]) -> Sequence[str]:
        """For each statement, the sentence of the texts that contradicts it; "" if none does.

        Raises:
            ModelError: the model failed.
        """
        raise NotImplementedError

    def answers(self, name: str) -> bool:
        """Whether the prompt asks if a text entails statements."""
        return name in _SOURCES

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` also for verdicts in three ways if the model gives two."""
        names = list(names)
        if _THREE_WAY in names and not self.is_three_way:
            raise ConfigError(
                f"{self.kind} does not tell contradicted statements from those that are not mentioned: "
                "measure the variant strict.1, or use another judge"
            )
        super().check_prompts(names)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Verdicts on the request's items, the same for each draw.

        Raises:
            ModelError: a model failed.
        """
        if request.prompt.name == _THREE_WAY:
            self.check_prompts([_THREE_WAY])
        source = _SOURCES.get(request.prompt.name)
        if source is None:
            return await self.aothers(request)
        shown = request.variables[source]
        texts = (shown,) if isinstance(shown, str) else tuple(cast("Sequence[str]", shown))
        claims = Claims(
            cast("Sequence[Item]", request.variables["items"]),
            [text for text in texts if text.strip()],
            cast("str | None", request.variables.get("question")),
        )
        findings = await self.afindings(claims)
        verdicts = [_verdict(item, each) for item, each in zip(claims.items, findings, strict=True)]
        if request.prompt.name == _THREE_WAY:
            against = await self.acontrary(claims, findings)
            verdicts = [
                _in_three_ways(each, contrary) for each, contrary in zip(verdicts, against, strict=True)
            ]
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


def _in_three_ways(verdict: dict[str, object], contrary: str) -> dict[str, object]:
    """A verdict as "supported", "contradicted" with its evidence, or "not mentioned"."""
    if verdict["verdict"] == "no" and contrary:
        return {**verdict, "evidence": contrary, "verdict": CONTRADICTED}
    names = {"yes": SUPPORTED, "no": NOT_MENTIONED}
    return {**verdict, "verdict": names.get(str(verdict["verdict"]))}
