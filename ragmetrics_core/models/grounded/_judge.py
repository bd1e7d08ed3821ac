"""A grounded model as the judge of verdicts, beside another judge for everything else."""

import sys
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ragmetrics_core.models._verdict_judge import Claims, GroundedFinding, VerdictJudge
from ragmetrics_core.protocol import Narrow

__all__ = ["Checker", "GroundedFinding", "GroundedJudge"]


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
class GroundedJudge(VerdictJudge):
    """Gives verdicts by a grounded model; everything else is asked of another judge.

    The texts that a prompt shows are read together, in their order. The replies have the form that the
    prompts ask for, with the probability of each verdict.

    Attributes:
        checker: the model in its makers' form.
        others: splits texts into statements and answers whatever asks for no such verdict.
    """

    kind: ClassVar[str] = "a grounded model"

    checker: Checker

    @property
    def identity(self) -> str:
        """The model and the judge of everything else."""
        return f"grounded:{self.checker.identity}{self.beside}"

    @property
    def model_name(self) -> str:
        """The model."""
        return self.checker.identity

    @property
    def concurrency(self) -> int:
        """How many calls the model works on at a time."""
        return self.checker.concurrency if isinstance(self.checker, Narrow) else sys.maxsize

    async def afindings(self, claims: Claims) -> Sequence[GroundedFinding]:
        """A finding for each statement, with the model's reason and probability."""
        texts = [item.text for item in claims.items]
        return await self.checker.acheck(texts, claims.texts, claims.question)
