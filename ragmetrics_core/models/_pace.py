"""Limits on calls in flight, and on calls and tokens per minute."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ragmetrics_core.models.meter import CHARACTERS_PER_TOKEN
from ragmetrics_core.models.per_loop import PerLoop
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["Allowance", "Pace", "Turns"]

# A server may name the hour at which a quota is renewed. A run should fail then, not stand still.
_LONGEST_HOLD = 60.0
# How much of the mean the newest call is.
_NEWEST = 0.1
# Tokens that were taken too much come back while somebody waits for them.
_LONGEST_NAP = 1.0


class Allowance:
    """A server's allowance of requests and tokens per minute, used evenly, first come, first served.

    The allowance refills continuously; at most one second's worth (or one request) is saved, so no minute has
    more requests than allowed. A call's tokens are estimated before the call: one for every 4 characters of
    the prompt, plus the mean of the completions so far. They are corrected by the model's count afterwards. A
    call with more tokens than can be saved starts when the savings are full; later calls wait until its
    tokens are paid back. So large calls never wait forever, or for small calls that came later.

    One allowance serves all event loops and threads. No library fits: aiolimiter 1.3 belongs to one event
    loop and throttled-py 3.5 does not, but both refuse a call that is larger than the bucket and repay
    nothing; limits 5.8 reads the wall clock; pyrate-limiter 4.5 keeps an entry in memory for every token.

    Args:
        requests: calls per minute; None means no limit.
        tokens: prompt and completion tokens per minute; None means no limit.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self, requests: float | None, tokens: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests = None if requests is None else _Bucket(requests)
        self._tokens = None if tokens is None else _Bucket(tokens)
        self._clock = clock
        self._completion = 0.0
        self._lock = threading.Lock()
        # Whoever comes when others wait, waits behind them; the first of them tries again and again.
        self._first = PerLoop(asyncio.Lock)

    async def turn(self, request: Generate[Any]) -> float:
        """Wait until the call may be made, and return the tokens taken for it."""
        async with self._first():
            characters = sum(len(message.content) for message in request.messages)
            estimate = characters / CHARACTERS_PER_TOKEN + self._completion * request.draws
            while seconds := self._take(estimate):
                await asyncio.sleep(min(seconds, _LONGEST_NAP))
        return estimate

    def settle(self, estimate: float, replies: Sequence[Completion]) -> None:
        """Correct the taken tokens by the completions' counts, if they have any."""
        used = [reply.usage for reply in replies if reply.usage]
        if self._tokens is None or not used:
            return
        written = sum(usage.completion_tokens for usage in used)
        mean = written / len(replies)
        with self._lock:
            self._completion += _NEWEST * (mean - self._completion) if self._completion else mean
            self._tokens.level += estimate - written - sum(usage.prompt_tokens for usage in used)

    def _take(self, tokens: float) -> float:
        """Take a request and its tokens and return 0, or take nothing and return the seconds to wait."""
        both = ((self._requests, 1.0), (self._tokens, tokens))
        wanted = [(bucket, amount) for bucket, amount in both if bucket is not None]
        with self._lock:
            now = self._clock()
            missing = max(bucket.missing(amount, now) for bucket, amount in wanted)
            if not missing:
                for bucket, amount in wanted:
                    bucket.level -= amount
            return missing


class _Bucket:
    """A token bucket that may be overdrawn.

    It holds c (a second's worth, at least 1) and gains (limit - c + 1) / 60 per second. In any minute,
    excluding its end, it then gives at most the limit, for amounts of 1.
    """

    def __init__(self, per_minute: float) -> None:
        self._holds = self.level = max(1.0, per_minute / 60)
        self._gain = (per_minute - self._holds + 1) / 60
        self._at: float | None = None  # it is full when it is first asked

    def missing(self, amount: float, now: float) -> float:
        """Seconds until the amount can be taken; an amount above its size can be taken when it is full."""
        since = 0.0 if self._at is None else max(0.0, now - self._at)
        self.level = min(self._holds, self.level + since * self._gain)
        self._at = now
        missing = (min(amount, self._holds) - self.level) / self._gain
        # Less than a clock can tell would be asked for again and again.
        return missing if missing > 1e-6 else 0.0


class Pace:
    """Limit on calls in flight, first come, first served: additive increase, multiplicative decrease.

    If the server asks to slow down (`ModelOverloaded`), the limit is halved, once for all calls in flight
    together. Then, as many successes as the limit raise it by one, up to `most`. If the server asks for a
    wait, new calls are held back that long, at most a minute.

    Each event loop counts its own calls in flight; the limit and the allowance are shared.

    Args:
        most: maximum number of calls in flight.
        allowance: requests and tokens per minute; None means no limit.

    Attributes:
        limit: current limit on calls in flight.
        slowdowns: number of times the limit was halved.
        refusals_left: refused calls left before the model counts as refusing every call.
        gate: the turns of the running loop's calls.
    """

    def __init__(self, most: int, allowance: Allowance | None = None) -> None:
        self.most = self.limit = most
        self.allowance = allowance
        self.slowdowns = 0
        self.refusals_left = 1
        self.gate = PerLoop(lambda: Turns(self))
        self._successes = 0

    def slow_down(self, slowdowns: int) -> None:
        """Halve the limit, unless that was done after the failed call began."""
        if slowdowns == self.slowdowns:
            self.slowdowns += 1
            self.limit = max(1, self.limit // 2)
            self._successes = 0

    def succeeded(self, slowdowns: int) -> None:
        """Count a success; successes from before the last halving are ignored."""
        if self.limit == self.most or slowdowns != self.slowdowns:
            return
        self._successes += 1
        if self._successes >= self.limit:
            self.limit += 1
            self._successes = 0


class Turns:
    """The calls of one event loop: those in flight, and waiting calls in order of arrival."""

    def __init__(self, pace: Pace) -> None:
        self._loop = asyncio.get_running_loop()
        self._pace = pace
        self._in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._held: asyncio.TimerHandle | None = None

    @property
    def has_room(self) -> bool:
        """Whether a call could begin now."""
        return not self._held and self._in_flight < self._pace.limit

    async def room(self) -> None:
        """Wait until a call could begin, behind the waiting calls, without taking a turn."""
        if not self.has_room:
            await self.turn()
            self.leave()

    async def turn(self) -> None:
        """Wait for a turn, behind earlier calls."""
        # Nobody waits when there is room: whoever leaves hands the turn over.
        if self.has_room:
            self._in_flight += 1
            return
        place = self._loop.create_future()
        self._queue.append(place)
        try:
            await place
        except BaseException:
            if place.done() and not place.cancelled():
                self.leave()  # the turn came together with the cancellation: it is the next one's
            raise

    def leave(self) -> None:
        """Pass the turn on."""
        self._in_flight -= 1
        self._admit()

    def hold(self, seconds: float | None) -> None:
        """Block new calls for `seconds`."""
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
        while self._queue and self.has_room:
            place = self._queue.popleft()
            if not place.done():  # one that was cancelled
                self._in_flight += 1
                place.set_result(None)
