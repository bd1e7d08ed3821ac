"""A bounded queue of waiting captures and captures in progress."""

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from ragmetrics_core.live._capture import Capture, SkipReason
from ragmetrics_core.live._settings import LiveSettings
from ragmetrics_core.samples import Sample

__all__ = ["Queue", "Ticket", "done_by", "seconds_left"]


@dataclass(slots=True, eq=False)
class Ticket:
    """A capture from acceptance to completion.

    Attributes:
        capture: the capture.
        making: its sample, if that is being made.
        scored: signatures of metrics measured by an earlier process.
    """

    capture: Capture
    making: asyncio.Future[Sample] | None = None
    scored: frozenset[str] = frozenset()


class Queue:
    """Take captures from any thread and pass them to one.

    Args:
        settings: sampling, maximum number of waiting captures, concurrency, and overflow.
        pauses: number of pauses without a matching resume.
        is_held: returns whether no waiting capture can be begun for now, so that nobody waits for them.

    Attributes:
        is_closed: whether it accepts no more captures.
    """

    def __init__(
        self, settings: LiveSettings, pauses: int = 0, is_held: Callable[[], bool] = lambda: False
    ) -> None:
        self._settings = settings
        self._is_held = is_held
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
        """Number of captures waiting or in progress."""
        return len(self._open)

    def pause(self, times: int = 1) -> None:
        """Pause; each call needs a matching call with -1 to resume."""
        with self._changed:
            self.pauses = max(0, self.pauses + times)

    def refusal(self, draw: float | None = None) -> SkipReason | None:
        """The reason for refusing the next capture, or None; `draw` replaces the number drawn for it."""
        if self.is_closed:
            return "closed"
        if self.pauses:
            return "paused"
        rate = self._settings.sample_rate
        if rate >= 1:
            return None
        return "not_sampled" if (self._chance.random() if draw is None else draw) >= rate else None

    def put(self, ticket: Ticket) -> Ticket | None:
        """Add a waiting capture; return the one that is dropped, possibly this one."""
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
        """Add a capture of an earlier process; it waits behind all of this process's captures."""
        with self._changed:
            self._left.extend(tickets)
            self._open.update(self._left)

    def enter(self, ticket: Ticket) -> None:
        """Count a capture that does not wait here."""
        with self._changed:
            self._open.add(ticket)

    def waiting(self) -> list[Ticket]:
        """The waiting captures."""
        with self._changed:
            return [*self._waiting, *self._left]

    def open_ids(self) -> list[str]:
        """The ids of the captures that wait or are in progress."""
        with self._changed:
            return [ticket.capture.id for ticket in self._open]

    @property
    def has_next(self) -> bool:
        """Whether a capture could be begun."""
        with self._changed:
            is_full = len(self._begun) >= self._settings.traffic.concurrency
            return bool(self._waiting or self._left) and not is_full

    def is_begun(self, ticket: Ticket) -> bool:
        """Whether a capture of the queue is in progress; not one that somebody waits for."""
        return ticket in self._begun

    def begin(self) -> Ticket | None:
        """The next capture to work on; None if none waits or enough are in progress."""
        with self._changed:
            tickets = self._waiting or self._left
            if not tickets or len(self._begun) >= self._settings.traffic.concurrency:
                return None
            ticket = tickets.popleft()
            self._begun.add(ticket)
            return ticket

    def put_back(self, ticket: Ticket) -> bool:
        """Let a capture in progress wait again, behind the others; False if it did not wait here before."""
        with self._changed:
            if ticket not in self._begun:
                return False
            self._begun.discard(ticket)
            self._left.append(ticket)
            self._changed.notify_all()
            return True

    def leave(self, ticket: Ticket) -> None:
        """Mark a capture as done or given up."""
        with self._changed:
            self._begun.discard(ticket)
            self._open.discard(ticket)
            self._changed.notify_all()

    def give_up(self) -> int:
        """Drop all waiting captures and return their number."""
        with self._changed:
            given_up = self.waiting()
            self._waiting.clear()
            self._left.clear()
            self._open.difference_update(given_up)
            self._changed.notify_all()
        return len(given_up)

    def settle(self, timeout: float | None) -> bool:
        """Wait until all current captures are done; False on timeout, or if those left cannot be begun."""
        with self._changed:
            here = set(self._open)

            def is_done() -> bool:
                left = here & self._open
                return not left or (self._is_held() and left.isdisjoint(self._begun))

            self._changed.wait_for(is_done, timeout)
            return here.isdisjoint(self._open)


def seconds_left(until: float | None) -> float | None:
    """Seconds until a time of the monotonic clock; None means no limit."""
    return None if until is None else max(0.0, until - time.monotonic())


def done_by(future: Future[Any], until: float | None) -> bool:
    """Wait for something to be done by a time; whether it is done."""
    wait([future], timeout=seconds_left(until))
    return future.done()
