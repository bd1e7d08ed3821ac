"""How often, and after which time, a call is made again."""

import asyncio
import random

from ragmetrics_core.errors import TransientModelError
from ragmetrics_core.models._traffic import Traffic

__all__ = ["Attempts"]


def _now() -> float:
    return asyncio.get_running_loop().time()


class Attempts:
    """The attempts at one call, and the time that they take."""

    __slots__ = ("_made", "_since", "_traffic", "_waiting")

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._made = 0
        self._since = self._waiting = 0.0

    def wait(self) -> None:
        """An attempt waits for its turn."""
        if self._made:
            self._waiting = _now()

    def begin(self) -> None:
        """It has its turn."""
        if self._made:
            self._since += _now() - self._waiting
        self._made += 1

    def delay(self, failure: BaseException) -> float | None:
        """Seconds until the next attempt; None when there is none after this failure."""
        traffic = self._traffic
        if not isinstance(failure, TransientModelError) or self._made >= traffic.attempts:
            return None
        now = _now()
        if self._made == 1:
            self._since = now
        most = min(traffic.longest_delay, traffic.first_delay * 2.0 ** (self._made - 1))
        delay = random.uniform(0.0, most) + max(0.0, failure.retry_after or 0.0)
        return delay if now - self._since + delay <= traffic.patience else None

    def counted(self, failure: BaseException) -> BaseException:
        """The failure with the number of attempts; a copy, because several callers may hold it."""
        if self._made <= 1 or not isinstance(failure, TransientModelError):
            return failure
        kind = type(failure)
        counted = kind.__new__(kind, f"{failure} (after {self._made} attempts)")
        counted.__dict__.update(failure.__dict__)
        counted.__cause__ = failure
        return counted
