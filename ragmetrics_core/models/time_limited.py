"""A model that is given so many seconds for a call."""

import asyncio
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

from ragmetrics_core.errors import ConfigError, ModelTimeout
from ragmetrics_core.models.stopwatch import Stopwatch
from ragmetrics_core.models.wrapper import A, PerLoop, Wrapper

__all__ = ["TimeLimited"]

T = TypeVar("T")


@dataclass(frozen=True)
class TimeLimited(Wrapper):
    """Gives the inner model so many seconds for each call, then cancels the call.

    Time in which a call waits for its turn does not count: in `Limited`, in `RateLimited`, in `Batched`
    while a batch fills, and between the attempts of `Retrying`. That holds in any order of the wrappers.
    Around `Retrying` the limit is for all attempts of a call together, inside it for each one.

    Attributes:
        inner: the model.
        seconds: the limit, above 0.

    Raises:
        ConfigError: the limit cannot be used.
        ModelTimeout: from a call that took longer.
    """

    seconds: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.seconds > 0:
            raise ConfigError(
                f"seconds must be above 0, not {self.seconds}; leave TimeLimited out for no limit"
            )

    @cached_property
    def _alarm(self) -> "PerLoop[_Alarm]":
        return PerLoop(_Alarm)

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        with _Deadline(self.seconds, self._alarm()):
            return await call(asked)


class _Deadline(Stopwatch):
    """A stopwatch that ends the call in its `with` block when it reaches the limit.

    Raises:
        ModelTimeout: from the block, when it was ended.
    """

    __slots__ = ("_alarm", "_cancelling", "_limit", "_over", "_reached", "_task")

    def __init__(self, limit: float, alarm: "_Alarm") -> None:
        super().__init__()
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._limit = limit
        self._alarm = alarm
        self._reached = self._over = False

    @property
    def end(self) -> float:
        """When the limit is reached, unless this stands still before."""
        return self._since + self._limit - self._gone

    def reach(self) -> None:
        """End the call."""
        self._reached = True
        self._task.cancel()

    def __enter__(self) -> Self:
        self._started()
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        self._over = True
        self._stopped()
        # As in asyncio.timeout: when somebody else cancelled the task as well, that comes first.
        if self._reached and self._task.uncancel() <= self._cancelling and raised[0] is CancelledError:
            raise ModelTimeout(f"no answer within {self._limit:g} s") from None

    def _stopped(self) -> None:
        self._alarm.forget(self)

    def _started(self) -> None:
        # What a call has started may go on without it, and then tells a stopwatch that nobody reads.
        if not self._over and not self._reached:
            self._alarm.watch(self)


class _Alarm:
    """Ends the calls of one event loop at their limits, with one timer for all of them.

    Nearly every call ends long before its limit: a timer of its own would be made, sorted in among the
    others and taken out again for nothing.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._watched: dict[_Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, deadline: _Deadline) -> None:
        """End a call at its limit."""
        self._watched[deadline] = None
        self._ring_by(deadline.end)

    def forget(self, deadline: _Deadline) -> None:
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
