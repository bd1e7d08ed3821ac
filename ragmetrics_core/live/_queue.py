"""The captures that wait and those that are worked on: bounded, and flushed by what was there at the time."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal

from ragmetrics_core.live._capture import Capture
from ragmetrics_core.samples import Sample

__all__ = ["Overflow", "Queue", "Ticket"]

Overflow = Literal["drop_oldest", "drop_newest"]


class Ticket:
    """A capture's place, from when it was taken until it is done.

    Attributes:
        capture: the capture.
        making: makes its sample and keeps it, where that was begun.
    """

    __slots__ = ("__weakref__", "capture", "making")

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.making: asyncio.Task[Sample] | None = None


class Queue:
    """Takes captures from any thread, gives them to one.

    Args:
        max_pending: how many may wait.
        concurrency: how many may be worked on at a time.
        overflow: which one goes when one more comes than may wait.
        on_dropped: called for each that goes.
    """

    def __init__(
        self, *, max_pending: int, concurrency: int, overflow: Overflow, on_dropped: Callable[[], None]
    ) -> None:
        self._max_pending = max_pending
        self._concurrency = concurrency
        self._overflow = overflow
        self._on_dropped = on_dropped
        # A collected generator may end its run, and come here, while this thread is in here already.
        self._lock = threading.RLock()
        self._waiting: deque[Ticket] = deque()
        self._dropped: deque[Ticket] = deque(maxlen=max_pending)
        self._open: set[Ticket] = set()
        self._begun = 0
        self._settling: list[tuple[set[Ticket], Future[None]]] = []

    def __len__(self) -> int:
        """How many wait or are worked on."""
        return len(self._open)

    def put(self, capture: Capture) -> bool:
        """Take a capture; False when it is the one that goes."""
        dropped: Ticket | None = None
        with self._lock:
            if len(self._waiting) >= self._max_pending:
                if self._overflow == "drop_newest":
                    self._on_dropped()
                    return False
                dropped = self._waiting.popleft()
            ticket = Ticket(capture)
            self._waiting.append(ticket)
            self._open.add(ticket)
        if dropped is not None:
            self._on_dropped()
            self._dropped.append(dropped)
            self._leave(dropped)
        return True

    def waiting(self) -> list[Ticket]:
        """Those that wait for their turn."""
        with self._lock:
            return list(self._waiting)

    def dropped(self) -> list[Ticket]:
        """Those that had to go since this was last asked."""
        with self._lock:
            dropped = list(self._dropped)
            self._dropped.clear()
        return dropped

    def begin(self, *, any_number: bool = False) -> Ticket | None:
        """The next one to work on; None when none waits or enough (unless `any_number`) are worked on."""
        with self._lock:
            if not self._waiting or (self._begun >= self._concurrency and not any_number):
                return None
            self._begun += 1
            return self._waiting.popleft()

    def end(self, ticket: Ticket) -> None:
        """One that was begun is done."""
        with self._lock:
            self._begun -= 1
        self._leave(ticket)

    def enter(self, capture: Capture) -> Ticket:
        """Count one in that does not wait here; it leaves by `leave`."""
        ticket = Ticket(capture)
        with self._lock:
            self._open.add(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Count one out that came by `enter`."""
        self._leave(ticket)

    def settled(self) -> "Future[None]":
        """Done when everything is that is here now; what comes later is not waited for."""
        future: Future[None] = Future()
        with self._lock:
            if self._open:
                self._settling.append((set(self._open), future))
                return future
        future.set_result(None)
        return future

    def give_up(self, future: "Future[None]") -> None:
        """Forget somebody who waited for `settled` and does not any more."""
        with self._lock:
            self._settling = [each for each in self._settling if each[1] is not future]

    def _leave(self, ticket: Ticket) -> None:
        done: list[Future[None]] = []
        with self._lock:
            self._open.discard(ticket)
            for tickets, future in self._settling:
                tickets.discard(ticket)
                if not tickets:
                    done.append(future)
            if done:
                self._settling = [each for each in self._settling if each[0]]
        for future in done:
            if future.set_running_or_notify_cancel():
                future.set_result(None)
