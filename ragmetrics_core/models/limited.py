"""A model that is asked only so many things at a time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ragmetrics_core.errors import ConfigError, ModelOverloaded
from ragmetrics_core.models.stopwatch import waiting
from ragmetrics_core.models.wrapper import A, PerLoop, Wrapper

__all__ = ["Limited"]

T = TypeVar("T")

# A server may name the hour at which a quota is renewed. A run should fail then, not stand still.
_LONGEST_HOLD = 60.0


@dataclass(frozen=True)
class Limited(Wrapper):
    """Lets at most `limit` calls be in flight, first come, first served.

    With `adaptive`, a server that asks to slow down (`ModelOverloaded`) halves the limit, once for all calls
    that were in flight together; as many successes as the limit then is raise it by one, up to `limit`.
    When the server says how long to wait, new calls are held back as long, but no longer than a minute.

    Each event loop has calls in flight of its own; what was learned about the limit holds for all.
    `Limited` sees an overload that reaches it: put `Retrying` around it, not inside.

    Attributes:
        inner: the model; one that says how many calls it works on (`Narrow`) is not given more.
        limit: calls in flight, at least 1.
        adaptive: follow what the server says; without it only the time to wait is kept.

    Raises:
        ConfigError: the limit cannot be used.
    """

    limit: int = 16
    adaptive: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit < 1:
            raise ConfigError(f"limit must be at least 1, not {self.limit}")

    @property
    def concurrency(self) -> int:
        """How many calls may be in flight at most."""
        return min(self.limit, super().concurrency)

    @property
    def current_limit(self) -> int:
        """How many calls may be in flight now, between 1 and `concurrency`."""
        return self._pace.limit

    @cached_property
    def _pace(self) -> "_Pace":
        return _Pace(self.concurrency)

    @cached_property
    def _gate(self) -> "PerLoop[_Gate]":
        return PerLoop(lambda: _Gate(self._pace))

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        gate, pace = self._gate(), self._pace
        if not gate.entered():
            await gate.turn()
        slowdowns = pace.slowdowns
        try:
            answer = await call(asked)
        except ModelOverloaded as error:
            if self.adaptive:
                pace.slow_down(slowdowns)
            gate.hold(error.retry_after)
            raise
        else:
            pace.succeeded(slowdowns)
            return answer
        finally:
            gate.leave()


class _Pace:
    """How many calls may be in flight: additive increase, multiplicative decrease."""

    def __init__(self, most: int) -> None:
        self.most = self.limit = most
        self.slowdowns = 0
        self._successes = 0

    def slow_down(self, slowdowns: int) -> None:
        """Halve, unless that was done after the failed call began."""
        if slowdowns == self.slowdowns:
            self.slowdowns += 1
            self.limit = max(1, self.limit // 2)
            self._successes = 0

    def succeeded(self, slowdowns: int) -> None:
        """Count a success; one from before the last halving says nothing about the limit that is now."""
        if self.limit == self.most or slowdowns != self.slowdowns:
            return
        self._successes += 1
        if self._successes >= self.limit:
            self.limit += 1
            self._successes = 0


class _Gate:
    """The calls of one event loop: those in flight, and those that wait in the order in which they came."""

    def __init__(self, pace: _Pace) -> None:
        self._loop = asyncio.get_running_loop()
        self._pace = pace
        self._in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._held: asyncio.TimerHandle | None = None

    def entered(self) -> bool:
        """Enter without waiting, if that is possible now."""
        # Nobody waits when there is room: whoever leaves hands the turn over.
        if self._held or self._in_flight >= self._pace.limit:
            return False
        self._in_flight += 1
        return True

    async def turn(self) -> None:
        """Wait for a turn, behind those who came before."""
        place = self._loop.create_future()
        self._queue.append(place)
        try:
            with waiting():
                await place
        except BaseException:
            if place.done() and not place.cancelled():
                self.leave()  # the turn came together with the cancellation: it is the next one's
            raise

    def leave(self) -> None:
        """Give the turn on."""
        self._in_flight -= 1
        self._admit()

    def hold(self, seconds: float | None) -> None:
        """Let nobody in for so many seconds."""
        if not seconds or seconds <= 0:
            return
        until = self._loop.time() + min(seconds, _LONGEST_HOLD)
        if self._held:
            if self._held.when() >= until:
                return
            self._held.cancel()
        self._held = self._loop.call_at(until, self._release)

    def _release(self) -> None:
        self._held = None
        self._admit()

    def _admit(self) -> None:
        while self._queue and not self._held and self._in_flight < self._pace.limit:
            place = self._queue.popleft()
            if not place.done():  # one that was cancelled
                self._in_flight += 1
                place.set_result(None)
