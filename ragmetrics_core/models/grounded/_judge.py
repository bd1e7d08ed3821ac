"""A grounded model as the judge of verdicts, with another judge for everything else."""

import sys
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ragmetrics_core.models._verdict_judge import Claims, GroundedFinding, VerdictJudge
from ragmetrics_core.protocol import Narrow

__all__ = ["Checker", "GroundedFinding", "GroundedJudge"]


class Checker(Protocol):
    """A model that decides whether texts support statements."""

    @property
    def identity(self) -> str:
        """The model and its prompt format."""
        ...

    def acheck(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> Awaitable[Sequence[GroundedFinding]]:
        """One finding per statement.

        Raises:
            ModelError: the model failed.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class GroundedJudge(VerdictJudge):
    """Give verdicts with a grounded model; ask another judge everything else.

    The texts in a prompt are read together, in their order. Replies have the form that the prompts request,
    with a probability for each verdict.

    Attributes:
        checker: the model with its published prompt format.
        others: the judge that splits texts into statements and answers all other prompts.
    """

    kind: ClassVar[str] = "a grounded model"

    checker: Checker

    @property
    def identity(self) -> str:
        """The model and the other judge."""
        return f"grounded:{self.checker.identity}{self.beside}"

    @property
    def model_name(self) -> str:
        """The model."""
        return self.checker.identity

    @property
    def concurrency(self) -> int:
        """The model's concurrency."""
        return self.checker.concurrency if isinstance(self.checker, Narrow) else sys.maxsize

    async def afindings(self, claims: Claims) -> Sequence[GroundedFinding]:
        """A finding per statement, with the model's reason and probability."""
        texts = [item.text for item in claims.items]
        return await self.checker.acheck(texts, claims.texts, claims.question)
