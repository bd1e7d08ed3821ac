"""A model that answers when it is let, and what tests of calls in flight ask it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ragmetrics_core import prompts
from ragmetrics_core.protocol import Completion, Generate


def request(digest: str = "a", **fields: Any) -> Generate[Any]:
    return Generate(prompt=prompts.STATEMENTS, variables={}, digest=digest, **fields)


def texts(replies: Sequence[Completion]) -> list[str]:
    return [reply.text for reply in replies]


@dataclass
class Slow:
    """A judge, embedder and scorer that answers when it is let; remembers what it was asked."""

    identity: str = "slow"
    cacheable: bool = True
    most: int = 99
    asked: list[Any] = field(default_factory=list)
    waiting: list["asyncio.Future[None]"] = field(default_factory=list)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        numbers = range(request.draw, request.draw + min(request.draws, self.most))
        await self._turn((request.digest, *numbers))
        return [Completion(f"{request.digest}{number} of call {len(self.asked)}") for number in numbers]

    async def aembed(self, texts: Sequence[str]) -> Any:
        await self._turn(tuple(texts))
        return np.array([[float(len(text)), 1.0] for text in texts])

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        await self._turn(tuple(pairs))
        return [float(len(one + other)) for one, other in pairs]

    async def _turn(self, asked: Any) -> None:
        self.asked.append(asked)
        self.waiting.append(asyncio.get_running_loop().create_future())
        await self.waiting[-1]

    def answer(self, error: Exception | None = None) -> None:
        """Let the call that waits longest go on."""
        waiting = self.waiting.pop(0)
        if not waiting.done():
            waiting.set_exception(error) if error else waiting.set_result(None)


async def settle() -> None:
    """Let every task go on until it has to wait."""
    for _ in range(20):
        await asyncio.sleep(0)
