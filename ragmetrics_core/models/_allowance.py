"""What a server allows in a minute: requests and tokens."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ragmetrics_core.models._per_loop import PerLoop
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["Allowance", "Asked"]

# What a model is asked: a judge gets a request, an embedder texts, a scorer pairs of texts.
Asked = Generate[Any] | Sequence[str] | Sequence[tuple[str, str]]

_CHARACTERS_PER_TOKEN = 4
# How much of the mean the newest call is.
_NEWEST = 0.1
# Tokens that were taken too much come back while somebody waits for them.
_LONGEST_NAP = 1.0


class Allowance:
    """A server's allowance of requests and tokens per minute, kept evenly, first come, first served.

    An allowance comes in bit by bit and at most one second's worth of it (or one request) is saved up. So
    no minute has more than the allowance of requests. A call's tokens are estimated before the call: one for
    every 4 characters of the prompt, and the mean of the completions so far; they are corrected afterwards
    by what the model says it used. A call with more tokens than were saved up is made when no more can be
    saved, and those after it wait until its tokens have come in: a large call never waits for ever, nor for
    small ones that came later.

    The allowance is one for all event loops and threads. It is not a library's: aiolimiter 1.3 belongs to one
    event loop and throttled-py 3.5 does not, but both refuse a call that is larger than the bucket and repay
    nothing; limits 5.8 reads the wall clock; pyrate-limiter 4.5 keeps an entry in memory for every token.

    Args:
        requests: calls in a minute; None for any number.
        tokens: tokens of prompts and completions in a minute; None for any number.
        clock: seconds that never jump.
    """

    def __init__(
        self, requests: float | None, tokens: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests = None if requests is None else _Bucket(requests)
        self._tokens = None if tokens is None else _Bucket(tokens)
        self._clock = clock
        self._completion = 0.0
        self._lock = threading.Lock()
        self._queue = PerLoop(_Queue)

    async def turn(self, asked: Asked) -> float:
        """Wait until the call may be made; gives the tokens that were taken for it."""
        queue = self._queue()
        estimate = 0.0 if self._tokens is None else self._estimate(asked)
        # Whoever comes when others wait, waits behind them.
        if queue.length or self._take(estimate):
            await queue.turn(lambda: self._take(estimate))
        return estimate

    def settle(self, estimate: float, replies: Sequence[Completion]) -> None:
        """Correct what was taken by what the completions say; without their word it stands."""
        used = [reply.usage for reply in replies if reply.usage]
        if self._tokens is None or not used:
            return
        written = sum(usage.completion_tokens for usage in used)
        mean = written / len(replies)
        with self._lock:
            self._completion += _NEWEST * (mean - self._completion) if self._completion else mean
            self._tokens.level += estimate - written - sum(usage.prompt_tokens for usage in used)

    def _take(self, tokens: float) -> float:
        """Take a request and its tokens and return 0, or leave both and return the seconds to wait."""
        with self._lock:
            now = self._clock()
            missing = max(
                self._requests.missing(1, now) if self._requests else 0.0,
                self._tokens.missing(tokens, now) if self._tokens else 0.0,
            )
            if missing:
                return missing
            if self._requests:
                self._requests.level -= 1
            if self._tokens:
                self._tokens.level -= tokens
            return 0.0

    def _estimate(self, asked: Asked) -> float:
        if isinstance(asked, Generate):
            characters = sum(len(message.content) for message in asked.messages)
            return characters / _CHARACTERS_PER_TOKEN + self._completion * asked.draws
        return sum(map(_characters, asked)) / _CHARACTERS_PER_TOKEN


class _Queue:
    """Those of one event loop that wait; the first of them tries again and again."""

    def __init__(self) -> None:
        self.length = 0
        self._first = asyncio.Lock()

    async def turn(self, take: Callable[[], float]) -> None:
        """Wait until `take` returns 0 in place of the seconds that are missing."""
        self.length += 1
        try:
            async with self._first:
                while seconds := take():
                    await asyncio.sleep(min(seconds, _LONGEST_NAP))
        finally:
            self.length -= 1


class _Bucket:
    """A token bucket that may be overdrawn.

    It holds c (a second's worth, at least 1) and gains (limit - c + 1) / 60 a second: what it can give in
    any minute, the end not counted, is then at most the limit, for amounts of 1.
    """

    def __init__(self, per_minute: float) -> None:
        self._holds = self.level = max(1.0, per_minute / 60)
        self._gain = (per_minute - self._holds + 1) / 60
        self._at: float | None = None  # it is full when it is first asked

    def missing(self, amount: float, now: float) -> float:
        """Seconds until the amount can be taken; a larger one than it holds can when the bucket is full."""
        since = 0.0 if self._at is None else max(0.0, now - self._at)
        self.level = min(self._holds, self.level + since * self._gain)
        self._at = now
        missing = (min(amount, self._holds) - self.level) / self._gain
        # Less than a clock can tell would be asked for again and again.
        return missing if missing > 1e-6 else 0.0


def _characters(item: str | tuple[str, str]) -> int:
    return len(item) if isinstance(item, str) else len(item[0]) + len(item[1])
