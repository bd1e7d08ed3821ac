"""A model that is asked again after a failure that may pass."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ragmetrics_core.errors import ConfigError, TransientModelError
from ragmetrics_core.models.stopwatch import Stopwatch, waiting
from ragmetrics_core.models.wrapper import A, Wrapper

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["Retrying"]

T = TypeVar("T")


@dataclass(frozen=True)
class Retrying(Wrapper):
    """Asks again after a `TransientModelError`; any other failure is the caller's at once.

    Waits before attempt n + 1 between 0 and `first_delay * 2**(n - 1)` seconds, all equally likely ("full
    jitter": callers that failed together do not come back together), and as long as the server asked on top.
    The last failure is the caller's, with its class, its message and how many attempts there were.

    Attributes:
        inner: the model.
        attempts: how often it is asked at most, at least 1.
        first_delay: seconds before the second attempt, at most.
        longest_delay: seconds between two attempts, at most, when the server did not ask for more.
        budget: seconds from the first failure to the start of the last attempt, at most. Time in which an
            attempt waits for its turn in `Limited` or `RateLimited` does not count.

    Raises:
        ConfigError: a setting cannot be used.
    """

    attempts: int = 4
    first_delay: float = field(default=0.5, kw_only=True)
    longest_delay: float = field(default=30.0, kw_only=True)
    budget: float = field(default=300.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attempts < 1:
            raise ConfigError(f"attempts must be at least 1, not {self.attempts}")
        for name in ("first_delay", "longest_delay", "budget"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} must not be negative, not {getattr(self, name)}")

    @property
    def retries(self) -> int:
        """How many calls were made again so far."""
        return self._made.retries

    @cached_property
    def _made(self) -> "_Made":
        return _Made()

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        try:
            return await call(asked)
        except TransientModelError as error:
            failure = error
        return await self._again(call, asked, failure)

    async def _again(self, call: Callable[[A], Awaitable[T]], asked: A, failure: TransientModelError) -> T:
        # Loaded here, because most calls and many runs never fail.
        from tenacity import (
            AsyncRetrying,
            retry_if_exception_type,
            wait_random_exponential,
        )

        watch = Stopwatch()
        attempts = 0

        async def attempt() -> T:
            nonlocal attempts
            attempts += 1
            if attempts == 1:
                raise failure
            self._made.retries += 1
            with watch:
                return await call(asked)

        def spent(state: "RetryCallState") -> bool:
            return attempts >= self.attempts or watch.seconds() + state.upcoming_sleep > self.budget

        jitter = wait_random_exponential(multiplier=self.first_delay, max=self.longest_delay)

        def delay(state: "RetryCallState") -> float:
            return jitter(state) + _asked_by_server(state)

        policy = AsyncRetrying(
            retry=retry_if_exception_type(TransientModelError),
            wait=delay,
            stop=spent,
            sleep=_sleep,
            reraise=True,
        )
        try:
            return await policy(attempt)
        except TransientModelError as error:
            if attempts <= 1:
                raise
            raise _counted(error, attempts) from error


@dataclass
class _Made:
    """What a `Retrying` has done so far."""

    retries: int = 0


def _asked_by_server(state: "RetryCallState") -> float:
    error = state.outcome.exception() if state.outcome else None
    return max(0.0, getattr(error, "retry_after", None) or 0.0)


async def _sleep(seconds: float) -> None:
    with waiting():
        await asyncio.sleep(seconds)


def _counted(error: TransientModelError, attempts: int) -> TransientModelError:
    """The same error with the number of attempts; a copy, because several callers may hold the error."""
    kind = type(error)
    counted = kind.__new__(kind, f"{error} (after {attempts} attempts)")
    counted.__dict__.update(error.__dict__)
    return counted
