"""Concurrent coroutines that get a task only if they must wait.

Replies from a journal, and models that answer at once, never wait. With a task for each branch, all samples
would begin before one is finished.
"""

import asyncio
import threading
from collections.abc import Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from types import coroutine
from typing import Any, Generic, TypeVar

__all__ = ["own_task", "together"]

T = TypeVar("T")


# Whether the step that runs now in a thread is made by hand, in the task of another coroutine.
_HAND = threading.local()


async def own_task() -> None:
    """Run in a separate task, because foreign code may cancel its current task."""
    if getattr(_HAND, "moves", False):
        await asyncio.sleep(0)


async def together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All results. If one fails, its error is raised after the others have ended."""
    branches = [_Branch(work) for work in works]
    try:
        waiting = [branch for branch in branches if branch.begin()]
        if waiting:
            await own_task()
            await _all_of(waiting)
        return [branch.result for branch in branches]
    finally:
        for work in works:
            work.close()  # one that was cancelled before it went on is in the middle of something


async def _all_of(waiting: Sequence["_Branch[Any]"]) -> None:
    first, *others = waiting
    try:
        async with asyncio.TaskGroup() as group:
            for branch in others:
                group.create_task(branch.go_on())
            await first.go_on()  # here, while the others run: it needs no task
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


@dataclass
class _Branch(Generic[T]):
    """A coroutine that is started by hand.

    Attributes:
        work: the coroutine.
        result: its result, once it has returned.
        awaited: the awaitable that it waits for.
    """

    work: Coroutine[Any, Any, T]
    result: T = field(init=False)
    awaited: object = None

    def begin(self) -> bool:
        """Run it until it waits; False if it has ended."""
        before, _HAND.moves = getattr(_HAND, "moves", False), True
        try:
            self.awaited = self.work.send(None)
        except StopIteration as done:
            self.result = done.value
            return False
        finally:
            _HAND.moves = before
        return True

    async def go_on(self) -> None:
        """Run it to its end, in the current task."""
        self.result = await self._rest()

    @coroutine
    def _rest(self) -> Generator[object, Any, T]:
        awaited = self.awaited
        while True:
            try:
                try:
                    given = yield awaited
                except GeneratorExit:
                    self.work.close()
                    raise
                except BaseException as error:  # what is thrown into the task is the coroutine's
                    awaited = self.work.throw(error)
                else:
                    awaited = self.work.send(given)
            except StopIteration as done:
                result: T = done.value
                return result
