"""Delivery of results to one sink; what it cannot take waits, and is counted when it is lost."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._sinks import Sink

__all__ = ["Delivery"]

# Results that wait for one sink.
_LIMIT = 1000
# How often a sink may refuse a result while it takes others.
_REFUSALS = 3


@dataclass(slots=True, eq=False)
class _Waiting:
    result: LiveResult
    refusals: int = 0


class Delivery:
    """Pass results to a sink, oldest first.

    A result that the sink cannot take waits and is tried again with the next result and at every flush. It is
    lost when more than `limit` wait, or when the sink has refused it three times and taken others meanwhile.

    Args:
        sink: the sink.
        fails: called with each error of the sink.
        loses: called for each lost result.
        limit: maximum number of waiting results.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        fails: Callable[[Sink, BaseException], None],
        loses: Callable[[Sink], None],
        limit: int = _LIMIT,
    ) -> None:
        self.sink = sink
        self._fails = fails
        self._loses = loses
        self._limit = limit
        self._waiting: deque[_Waiting] = deque()

    def write(self, result: LiveResult) -> list[str]:
        """Pass a result on, after those that wait; return the ids of the samples that the sink took."""
        self._waiting.append(_Waiting(result))
        taken = self.retry()
        while len(self._waiting) > self._limit:
            self._waiting.popleft()
            self._loses(self.sink)
        return taken

    def retry(self) -> list[str]:
        """Try again what waits; return the ids of the samples that the sink took."""
        taken: list[str] = []
        refused: list[_Waiting] = []
        while self._waiting and (taken or len(refused) < 2):  # two in a row: it takes nothing now
            waiting = self._waiting.popleft()
            try:
                self.sink.write(waiting.result)
            except BaseException as error:  # the boundary to sinks: the others must go on
                self._fails(self.sink, error)
                refused.append(waiting)
            else:
                taken.append(waiting.result.sample.id)
        for waiting in reversed(refused):
            waiting.refusals += bool(taken)
            if waiting.refusals < _REFUSALS:
                self._waiting.appendleft(waiting)
            else:
                self._loses(self.sink)
        return taken

    def give_up(self) -> None:
        """Count what still waits as lost."""
        while self._waiting:
            self._waiting.popleft()
            self._loses(self.sink)
