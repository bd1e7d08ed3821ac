"""A model that is asked only so much in a minute."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.stopwatch import waiting
from ragmetrics_core.models.wrapper import A, Asked, PerLoop, Wrapper
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["RateLimited"]

T = TypeVar("T")

_CHARACTERS_PER_TOKEN = 4
# How much of the mean the newest call is.
_NEWEST = 0.1
# Tokens that were taken too much come back while somebody waits for them.
_LONGEST_NAP = 1.0


@dataclass(frozen=True)
class RateLimited(Wrapper):
    """Keeps to a server's allowance of requests and tokens per minute, evenly, first come, first served.

    An allowance comes in bit by bit and at most one second's worth of it (or one request) is saved up. So
    no minute has more than the allowance of requests. A call's tokens are estimated before the call: one for
    every 4 characters of the prompt, and the mean of the completions so far; they are corrected afterwards
    by what the model says it used. A call with more tokens than were saved up is made when no more can be
    saved, and those after it wait until its tokens have come in: a large call never waits for ever, nor for
    small ones that came later.

    The allowance is one for all event loops and threads. It is not a library's: aiolimiter 1.3 belongs to one
    event loop and throttled-py 3.5 does not, but both refuse a call that is larger than the bucket and repay
    nothing; limits 5.8 reads the wall clock; pyrate-limiter 4.5 keeps an entry in memory for every token.

    Attributes:
        inner: the model.
        requests_per_minute: calls in a minute, above 0; None for any number.
        tokens_per_minute: tokens of prompts and completions in a minute, above 0; None for any number.
        clock: seconds that never jump.

    Raises:
        ConfigError: an allowance cannot be used.
    """

    requests_per_minute: float | None = field(default=None, kw_only=True)
    tokens_per_minute: float | None = field(default=None, kw_only=True)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name} must be above 0, or None for no limit, not {value}")

    @cached_property
    def _allowance(self) -> "_Allowance":
        return _Allowance(self.requests_per_minute, self.tokens_per_minute, self.clock)

    @cached_property
    def _queue(self) -> "PerLoop[_Queue]":
        return PerLoop(_Queue)

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        allowance, queue = self._allowance, self._queue()
        estimate = 0.0 if self.tokens_per_minute is None else allowance.estimate(asked)
        # Whoever comes when others wait, waits behind them.
        if queue.length or allowance.take(estimate):
            await queue.turn(lambda: allowance.take(estimate))
        answer = await call(asked)
        if self.tokens_per_minute is not None and isinstance(asked, Generate):
            allowance.settle(estimate, answer)
        return answer


class _Queue:
    """Those of one event loop that wait; the first of them tries again and again."""

    def __init__(self) -> None:
        self.length = 0
        self._first = asyncio.Lock()

    async def turn(self, take: Callable[[], float]) -> None:
        """Wait until `take` returns 0 in place of the seconds that are missing."""
        self.length += 1
        try:
            with waiting():
                async with self._first:
                    while seconds := take():
                        await asyncio.sleep(min(seconds, _LONGEST_NAP))
        finally:
            self.length -= 1


class _Allowance:
    """What may be asked now: requests and tokens, taken together or not at all."""

    def __init__(self, requests: float | None, tokens: float | None, clock: Callable[[], float]) -> None:
        self._requests = None if requests is None else _Bucket(requests, clock())
        self._tokens = None if tokens is None else _Bucket(tokens, clock())
        self._clock = clock
        self._completion = 0.0
        self._lock = threading.Lock()

    def take(self, tokens: float) -> float:
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

    def estimate(self, asked: Asked) -> float:
        """Tokens that the call will use."""
        if isinstance(asked, Generate):
            characters = sum(len(message.content) for message in asked.messages)
            return characters / _CHARACTERS_PER_TOKEN + self._completion * asked.draws
        return sum(map(_characters, asked)) / _CHARACTERS_PER_TOKEN

    def settle(self, estimate: float, answer: object) -> None:
        """Correct the estimate by what the completions say; without their word it stands."""
        completions: Sequence[Completion] = (
            cast("Sequence[Completion]", answer) if isinstance(answer, Sequence) else ()
        )
        used = [completion.usage for completion in completions if completion.usage]
        if not used:
            return
        written = sum(usage.completion_tokens for usage in used)
        each = written / len(completions)
        with self._lock:
            self._completion = (
                self._completion + _NEWEST * (each - self._completion) if self._completion else each
            )
            if self._tokens:
                self._tokens.level += estimate - written - sum(usage.prompt_tokens for usage in used)


class _Bucket:
    """A token bucket that may be overdrawn.

    It holds c (a second's worth, at least 1) and gains (limit - c + 1) / 60 a second: what it can give in
    any minute, the end not counted, is then at most the limit, for amounts of 1.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._holds = self.level = max(1.0, per_minute / 60)
        self._gain = (per_minute - self._holds + 1) / 60
        self._at = now

    def missing(self, amount: float, now: float) -> float:
        """Seconds until the amount can be taken; a larger one than it holds can when the bucket is full."""
        self.level = min(self._holds, self.level + max(0.0, now - self._at) * self._gain)
        self._at = now
        missing = (min(amount, self._holds) - self.level) / self._gain
        # Less than a clock can tell would be asked for again and again.
        return missing if missing > 1e-6 else 0.0


def _characters(item: str | tuple[str, str]) -> int:
    return len(item) if isinstance(item, str) else len(item[0]) + len(item[1])
