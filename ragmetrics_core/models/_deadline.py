"""Seconds that a call may take: it is cancelled when they are over."""

import asyncio
from asyncio import CancelledError
from typing import Self

from ragmetrics_core.errors import ModelTimeout

__all__ = ["DeadlineTimer"]


class DeadlineTimer:
    """Ends the calls of one event loop at their limits, with one timer for all of them.

    Nearly every call ends long before its limit: a timer of its own would be made, sorted in among the
    others and taken out again for nothing.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._watched: dict[_Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def after(self, seconds: float) -> "_Deadline":
        """A `with` block around a call that may take so many seconds from now on.

        Raises:
            ModelTimeout: from the block, when it took longer.
        """
        return _Deadline(seconds, self._loop.time() + seconds, self)

    def watch(self, deadline: "_Deadline") -> None:
        """End a call at its limit."""
        self._watched[deadline] = None
        self._ring_by(deadline.end)

    def forget(self, deadline: "_Deadline") -> None:
        """Leave a call alone."""
        self._watched.pop(deadline, None)

    def _ring_by(self, when: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._timer = None
        now = self._loop.time()
        for deadline in [each for each in self._watched if each.end <= now]:
            self.forget(deadline)
            deadline.reach()
        if self._watched:
            self._ring_by(min(each.end for each in self._watched))


class _Deadline:
    """Ends the call in its `with` block when it is reached."""

    __slots__ = ("_alarm", "_cancelling", "_reached", "_seconds", "_task", "end")

    def __init__(self, seconds: float, end: float, alarm: DeadlineTimer) -> None:
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._seconds = seconds
        self._alarm = alarm
        self._reached = False
        self.end = end

    def reach(self) -> None:
        """End the call."""
        self._reached = True
        self._task.cancel()

    def __enter__(self) -> Self:
        self._alarm.watch(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._alarm.forget(self)
        # As in asyncio.timeout: when somebody else cancelled the task as well, that comes first.
        if self._reached and self._task.uncancel() <= self._cancelling and kind is CancelledError:
            raise ModelTimeout(f"no answer within {self._seconds:g} s") from None
