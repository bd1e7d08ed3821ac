"""A model that is given so many seconds for a call."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ragmetrics_core.errors import ConfigError, ModelTimeout
from ragmetrics_core.models.stopwatch import Stopwatch
from ragmetrics_core.models.wrapper import Asked, Wrapper

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

    async def _around(self, call: Callable[[], Awaitable[T]], asked: Asked) -> T:
        deadline = _Deadline(self.seconds)
        try:
            with deadline:
                async with deadline.timeout:
                    return await call()
        except TimeoutError:
            if not deadline.timeout.expired():
                raise
            raise ModelTimeout(f"no answer within {self.seconds:g} s") from None
        finally:
            deadline.over = True


class _Deadline(Stopwatch):
    """A stopwatch that ends a call when it reaches the limit."""

    def __init__(self, limit: float) -> None:
        super().__init__()
        self.over = False
        self.timeout = asyncio.timeout_at(self._since + limit)
        self._limit = limit

    def _stopped(self) -> None:
        self._reschedule(None)

    def _started(self) -> None:
        self._reschedule(self._since + self._limit - self._gone)

    def _reschedule(self, when: float | None) -> None:
        # What a call has started may go on without it, and then tells a stopwatch that nobody reads.
        if not self.over and not self.timeout.expired():
            self.timeout.reschedule(when)
