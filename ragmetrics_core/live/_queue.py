"""The captures that wait and those that are worked on: bounded, and waited for."""

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from ragmetrics_core.live._capture import Capture, SkipReason
from ragmetrics_core.live._settings import LiveSettings
from ragmetrics_core.samples import Sample

__all__ = ["Queue", "Ticket", "done_by", "seconds_left"]


@dataclass(slots=True, eq=False)
class Ticket:
    """A capture's place, from when it was taken until it is done.

    Attributes:
        capture: the capture.
        making: its sample, where that is being made.
        scored: signatures of the metrics that an earlier process measured.
    """

    capture: Capture
    making: asyncio.Future[Sample] | None = None
    scored: frozenset[str] = frozenset()


class Queue:
    """Takes captures from any thread, gives them to one.

    Args:
        settings: which captures are taken, how many may wait, how many may be worked on at a time, and which
            one goes when one more comes.
        pauses: how often it was told to pause and not yet to go on.

    Attributes:
        is_closed: whether it takes nothing any more.
    """

    def __init__(self, settings: LiveSettings, pauses: int = 0) -> None:
        self._settings = settings
        self._chance = random.Random(settings.seed)
        self.pauses = pauses
        self.is_closed = False
        # With a lock that may be taken twice: a collected generator may end its run, and come here, while
        # this thread is in here already.
        self._changed = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._left: deque[Ticket] = deque()
        self._begun: set[Ticket] = set()
        self._open: set[Ticket] = set()

    def __len__(self) -> int:
        """How many wait or are worked on."""
        return len(self._open)

    def pause(self, times: int = 1) -> None:
        """Take nothing until that was said as often with -1."""
        with self._changed:
            self.pauses = max(0, self.pauses + times)

    def refusal(self) -> SkipReason | None:
        """Why the next capture is not taken, if it is not."""
        if self.is_closed:
            return "closed"
        if self.pauses:
            return "paused"
        rate = self._settings.sample_rate
        return "not_sampled" if rate < 1 and self._chance.random() >= rate else None

    def put(self, ticket: Ticket) -> Ticket | None:
        """Take one that waits for its turn; gives the one that goes, which may be this one."""
        dropped = None
        with self._changed:
            if len(self._waiting) >= self._settings.max_pending:
                if self._settings.overflow == "drop_newest":
                    return ticket
                dropped = self._waiting.popleft()
                self.leave(dropped)
            self._waiting.append(ticket)
            self._open.add(ticket)
        return dropped

    def put_left(self, tickets: Iterable[Ticket]) -> None:
        """Take what an earlier process left; its turn comes when none of this one's waits."""
        with self._changed:
            self._left.extend(tickets)
            self._open.update(self._left)

    def enter(self, ticket: Ticket) -> None:
        """Count one in that does not wait here."""
        with self._changed:
            self._open.add(ticket)

    def waiting(self) -> list[Ticket]:
        """Those that wait for their turn."""
        with self._changed:
            return [*self._waiting, *self._left]

    def begin(self) -> Ticket | None:
        """The next one to work on; None when none waits or enough are worked on."""
        with self._changed:
            tickets = self._waiting or self._left
            if not tickets or len(self._begun) >= self._settings.traffic.concurrency:
                return None
            ticket = tickets.popleft()
            self._begun.add(ticket)
            return ticket

    def leave(self, ticket: Ticket) -> None:
        """One is done, or given up."""
        with self._changed:
            self._begun.discard(ticket)
            self._open.discard(ticket)
            self._changed.notify_all()

    def give_up(self) -> int:
        """Let all go that wait for their turn; says how many."""
        with self._changed:
            given_up = self.waiting()
            self._waiting.clear()
            self._left.clear()
            self._open.difference_update(given_up)
            self._changed.notify_all()
        return len(given_up)

    def settle(self, timeout: float | None) -> bool:
        """Wait until everything is done that is here now; False when the seconds ran out."""
        with self._changed:
            here = set(self._open)
            return self._changed.wait_for(lambda: here.isdisjoint(self._open), timeout)


def seconds_left(until: float | None) -> float | None:
    """Seconds until a time of the clock that never jumps; None for no limit."""
    return None if until is None else max(0.0, until - time.monotonic())


def done_by(future: Future[Any], until: float | None) -> bool:
    """Whether something is done by then; waits for it."""
    wait([future], timeout=seconds_left(until))
    return future.done()
