"""A grounded model as the judge of verdicts, beside another judge for everything else."""

import json
import sys
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._entailment import SOURCES
from ragmetrics_core.models._wrapper import PromptChecker
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate, Judge, Narrow

__all__ = ["Checker", "GroundedFinding", "GroundedJudge"]


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


class Checker(Protocol):
    """A model that says whether texts support statements."""

    @property
    def identity(self) -> str:
        """The model and its form."""
        ...

    def acheck(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> Awaitable[Sequence[GroundedFinding]]:
        """One finding for each statement.

        Raises:
            ModelError: the model did not answer.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class GroundedJudge:
    """Gives verdicts by a grounded model; everything else is asked of another judge.

    The texts that a prompt shows are read together, in their order. The replies have the form that the
    prompts ask for, with the probability of each verdict.

    Attributes:
        checker: the model in its makers' form.
        others: splits texts into statements and answers whatever asks for no such verdict.
    """

    draws_at_once: ClassVar[bool] = True

    checker: Checker
    others: Judge | None = None

    @property
    def identity(self) -> str:
        """The model and the judge of everything else."""
        others = f",others {self.others.identity}" if self.others else ""
        return f"grounded:{self.checker.identity}{others}"

    @property
    def concurrency(self) -> int:
        """How many calls the model works on at a time."""
        return self.checker.concurrency if isinstance(self.checker, Narrow) else sys.maxsize

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when a prompt asks for no such verdict and there is no other judge for it."""
        left = sorted(set(names) - set(SOURCES))
        if left and self.others is None:
            raise ConfigError(
                f"a grounded model cannot answer the prompt {left[0]!r}: pass others=..., the judge for it"
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
        question = cast("str | None", request.variables.get("question"))
        findings = await self.checker.acheck(
            [item.text for item in items], [text for text in texts if text.strip()], question
        )
        verdicts = [_verdict(item, each) for item, each in zip(items, findings, strict=True)]
        completion = Completion(
            text=json.dumps({"verdicts": verdicts}), model=self.checker.identity, finish_reason="stop"
        )
        return [completion] * request.draws


def _verdict(item: Item, found: GroundedFinding) -> dict[str, object]:
    return {
        "number": item.number,
        "reason": found.reason,
        **({} if found.probability is None else {"probability": round(found.probability, 6)}),
        **({"unsupported": list(found.unsupported)} if found.unsupported else {}),
        "verdict": None if found.supported is None else "yes" if found.supported else "no",
    }
