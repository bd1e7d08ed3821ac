"""Seconds that a call may take: it is cancelled when they are over."""

import asyncio
from asyncio import CancelledError
from math import inf
from typing import Self

from ragmetrics_core.errors import ModelTimeout

__all__ = ["DeadlineTimer"]


class DeadlineTimer:
    """Ends the calls of one event loop at their limits, with one timer for all of them.

    Nearly every call ends long before its limit: a timer of its own would be made, sorted in among the
    others and taken out again for nothing.

    Attributes:
        watched: the calls that are on their way.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.watched: dict[_Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._rings = inf

    def after(self, seconds: float) -> "_Deadline":
        """A `with` block around a call that may take so many seconds from now on.

        Raises:
            ModelTimeout: from the block, when it took longer.
        """
        end = self._loop.time() + seconds
        if end < self._rings:
            self._ring_at(end)
        return _Deadline(seconds, end, self.watched, asyncio.current_task(self._loop))

    def _ring_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings = when
        self._timer = self._loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._timer, self._rings = None, inf
        now = self._loop.time()
        for deadline in [each for each in self.watched if each.end <= now]:
            del self.watched[deadline]
            deadline.reach()
        if self.watched:
            self._ring_at(min(each.end for each in self.watched))


class _Deadline:
    """Ends the call in its `with` block when it is reached."""

    __slots__ = ("_cancelling", "_reached", "_seconds", "_task", "_watched", "end")

    def __init__(
        self,
        seconds: float,
        end: float,
        watched: "dict[_Deadline, None]",
        task: "asyncio.Task[object] | None",
    ) -> None:
        assert task is not None, "a coroutine runs in a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._seconds = seconds
        self._watched = watched
        self._reached = False
        self.end = end

    def reach(self) -> None:
        """End the call."""
        self._reached = True
        self._task.cancel()

    def __enter__(self) -> Self:
        self._watched[self] = None
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._watched.pop(self, None)
        # As in asyncio.timeout: when somebody else cancelled the task as well, that comes first.
        if self._reached and self._task.uncancel() <= self._cancelling and kind is CancelledError:
            raise ModelTimeout(f"no answer within {self._seconds:g} s") from None
