"""How fast a model is asked: calls in flight, calls and tokens a minute, and who comes next."""

import asyncio
from collections import deque

from ragmetrics_core.models._allowance import Allowance
from ragmetrics_core.models._per_loop import PerLoop

__all__ = ["Pace", "Turns"]

# A server may name the hour at which a quota is renewed. A run should fail then, not stand still.
_LONGEST_HOLD = 60.0


class Pace:
    """How many calls may be in flight, first come, first served: additive increase, multiplicative decrease.

    A server that asks to slow down (`ModelOverloaded`) halves the limit, once for all calls that were in
    flight together; as many successes as the limit then is raise it by one, up to `most`. When the server
    says how long to wait, new calls are held back as long, but no longer than a minute.

    Each event loop has calls in flight of its own; what was learned about the limit, and the allowance of a
    minute, hold for all.

    Args:
        most: calls in flight.
        allowance: requests and tokens a minute; None for any number.

    Attributes:
        limit: how many calls may be in flight now.
        slowdowns: how often the limit was halved.
        gate: gives the running loop's calls their turns.
    """

    def __init__(self, most: int, allowance: Allowance | None = None) -> None:
        self.most = self.limit = most
        self.allowance = allowance
        self.slowdowns = 0
        self.gate = PerLoop(lambda: Turns(self))
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


class Turns:
    """The calls of one event loop: those in flight, and those that wait in the order in which they came."""

    def __init__(self, pace: Pace) -> None:
        self._loop = asyncio.get_running_loop()
        self._pace = pace
        self._in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._held: asyncio.TimerHandle | None = None
        self._onlookers: list[asyncio.Future[None]] = []

    @property
    def has_room(self) -> bool:
        """Whether a call could begin now."""
        return not self._held and self._in_flight < self._pace.limit

    @staticmethod
    async def room(*turns: "Turns") -> None:
        """Wait until a call could begin at one of these; it takes no place there."""
        while not any(each.has_room for each in turns):
            seen = turns[0]._loop.create_future()
            for each in turns:
                each._onlookers.append(seen)
            try:
                await seen
            finally:
                for each in turns:
                    each._onlookers.remove(seen)

    def entered(self) -> bool:
        """Enter without waiting, if that is possible now."""
        # Nobody waits when there is room: whoever leaves hands the turn over.
        if not self.has_room:
            return False
        self._in_flight += 1
        return True

    async def turn(self) -> None:
        """Wait for a turn, behind those who came before."""
        place = self._loop.create_future()
        self._queue.append(place)
        try:
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
        if self._onlookers and self.has_room:
            for seen in self._onlookers:
                if not seen.done():
                    seen.set_result(None)
