"""An event loop whose clock jumps to the next timer, so that waits cost nothing, and models for it."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core import prompts
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Line, Traffic
from ragmetrics_core.models._pace import Allowance, Pace
from ragmetrics_core.protocol import Completion, Generate, Usage

__all__ = ["SlowEmbedder", "SlowJudge", "VirtualTimeLoop", "line", "now", "request", "run"]

T = TypeVar("T")
_NUMBERS = count()


class _NextTimer(selectors.DefaultSelector):
    """Does not wait for the next timer; counts the seconds instead."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everything waits, and no timer will ever wake it")
        self.seconds += max(0.0, timeout)
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._timer = _NextTimer()
        super().__init__(self._timer)

    def time(self) -> float:
        return self._timer.seconds


def now() -> float:
    """The running loop's clock."""
    return asyncio.get_running_loop().time()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on a new loop with virtual time; a task that is left over fails the test."""

    async def main() -> T:
        result = await work
        await asyncio.sleep(0)  # tasks that were cancelled last end here
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"left over: {left}"
        return result

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main())


def request(answer: str = "In France.", *, draws: int = 1, digest: str | None = None) -> Generate[Any]:
    """A request; without a digest it is another call than all others."""
    variables = {"question": "Where is Paris?", "answer": answer}
    messages = prompts.PAPER_STATEMENTS.render(variables)
    digest = f"request {next(_NUMBERS)}" if digest is None else digest
    return Generate(
        prompt=prompts.PAPER_STATEMENTS, variables=variables, messages=messages, draws=draws, digest=digest
    )


def line(
    model: Any,
    *,
    journal: Journal | None = None,
    concurrency: int = 1000,
    timeout: float | None = None,
    attempts: int = 1,
    **settings: Any,
) -> Line:
    """A line that does only what is said; minutes are those of the running loop's clock."""
    traffic = Traffic(concurrency=concurrency, timeout=timeout, attempts=attempts, **settings)
    limits = (traffic.requests_per_minute, traffic.tokens_per_minute)
    most = min(concurrency, getattr(model, "concurrency", concurrency))
    return Line(model, traffic, journal, pace=Pace(most, Allowance(*limits, now)) if any(limits) else None)


@dataclass
class SlowJudge:
    """A judge that takes its time and fails as told.

    Attributes:
        seconds: how long each call takes.
        failures: what to raise, call by call; None answers. Afterwards every call is answered.
        usage: tokens that each call uses.
        begun: when each call began, in order.
        answers: which answers were asked about, in the order of the calls.
        most: how many calls were in flight together at most.
        cancelled: how many calls were cancelled.
    """

    seconds: float = 1.0
    failures: Sequence[Exception | None] = ()
    usage: Usage | None = None
    fails: Callable[[float], Exception | None] = lambda now: None
    begun: list[float] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0
    cancelled: int = 0

    identity = "slow"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        number = len(self.begun)
        self.begun.append(now())
        self.answers.append(str(request.variables["answer"]))
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1
        failure = self.failures[number] if number < len(self.failures) else self.fails(self.begun[number])
        if failure is not None:
            raise failure
        return [Completion(text="ok", usage=None if draw else self.usage) for draw in range(request.draws)]


@dataclass
class SlowEmbedder:
    """An embedder that takes its time; a text's vector is its length and 1, a blank text's is zero.

    Attributes:
        seconds: how long each call takes.
        failures: what to raise, call by call; None answers.
        asked: the texts of each call, in order.
        cancelled: how many calls were cancelled.
    """

    seconds: float = 1.0
    failures: Sequence[Exception | None] = ()
    asked: list[list[str]] = field(default_factory=list)
    cancelled: int = 0

    identity = "slow-embedder"

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        number = len(self.asked)
        self.asked.append(list(texts))
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        failure = self.failures[number] if number < len(self.failures) else None
        if failure is not None:
            raise failure
        return np.array([[len(text), 1.0] if text else [0.0, 0.0] for text in texts])
