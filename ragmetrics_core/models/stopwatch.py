"""Time that a call takes, without what it waits for its turn."""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token, copy_context
from typing import Any, Self, TypeVar

__all__ = ["Stopwatch", "waiting"]

T = TypeVar("T")


class Stopwatch:
    """Measures what is called in its `with` block; stands still while that waits for a turn (see `waiting`).

    Stopwatches that run around it stand still with it. Belongs to the event loop that runs when it is made.
    """

    __slots__ = ("_around", "_gone", "_loop", "_since", "_token", "_waits")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._gone = 0.0
        self._since = self._loop.time()
        self._waits = 0
        self._around: list[Stopwatch] = []
        self._token: Token[Stopwatch | None]

    def seconds(self) -> float:
        """Seconds so far."""
        return self._gone if self._waits else self._gone + self._loop.time() - self._since

    def pause(self, waits: int = 1) -> None:
        """Stand still; pauses may overlap, the last `resume` counts."""
        if not self._waits:
            self._gone = self.seconds()
            self._stopped()
        self._waits += waits
        for each in self._around:
            each.pause(waits)

    def resume(self, waits: int = 1) -> None:
        """Go on, when nothing else waits."""
        self._waits -= waits
        if not self._waits:
            self._since = self._loop.time()
            self._started()
        for each in self._around:
            each.resume(waits)

    def __enter__(self) -> Self:
        """What is called in this block stops this stopwatch when it waits."""
        caller = _RUNNING.get()
        if caller is not None:
            self._join(caller)
        self._token = _RUNNING.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _RUNNING.reset(self._token)
        caller = _RUNNING.get()
        if caller is not None:
            self._leave(caller)

    @contextmanager
    def followed(self) -> Generator[None]:
        """In this block the caller's own stopwatch stands still with this one.

        For a call that several callers wait for: each of them waits in such a block.
        """
        caller = _RUNNING.get()
        if caller is None:
            yield
            return
        self._join(caller)
        try:
            yield
        finally:
            self._leave(caller)

    def task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task for a call that several callers wait for: its waits stop this stopwatch, not theirs."""
        context = copy_context()
        context.run(_RUNNING.set, self)
        return self._loop.create_task(work, context=context)

    def _join(self, caller: "Stopwatch") -> None:
        self._around.append(caller)
        if self._waits:
            caller.pause(self._waits)

    def _leave(self, caller: "Stopwatch") -> None:
        self._around.remove(caller)
        if self._waits:
            caller.resume(self._waits)

    def _stopped(self) -> None:
        """Called when it comes to a stand."""

    def _started(self) -> None:
        """Called when it goes on."""


_RUNNING: ContextVar[Stopwatch | None] = ContextVar("ragmetrics_stopwatch", default=None)


def waiting() -> AbstractContextManager[None]:
    """In this block a call waits for its turn: no time limit around it counts the time."""
    return _Pause()


class _Pause:
    """Stops the stopwatches that run, for the length of a block. A class, because many calls wait."""

    __slots__ = ("_running",)

    def __enter__(self) -> None:
        self._running = _RUNNING.get()
        if self._running is not None:
            self._running.pause()

    def __exit__(self, *_: object) -> None:
        if self._running is not None:
            self._running.resume()
