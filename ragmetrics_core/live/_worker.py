"""What a live scorer does with its captures, in a thread of its own or on the loop of whoever waits."""

import asyncio
import logging
import threading
import time
from concurrent.futures import Future, wait
from functools import partial
from typing import Any
from weakref import finalize

from ragmetrics_core.adapting._judging import is_judging, judging_context
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.live._background import Background, Threads
from ragmetrics_core.live._capture import Capture, LiveResult, Skip
from ragmetrics_core.live._delivery import Delivery
from ragmetrics_core.live._exiting import finish_at_exit, forget_at_exit
from ragmetrics_core.live._measuring import Measuring
from ragmetrics_core.live._queue import Queue, Ticket
from ragmetrics_core.live._settings import LiveSettings
from ragmetrics_core.samples import Sample

__all__ = ["Worker"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Beside one for each call that a synchronous judge may have in flight: for translations, and for clients
# that look up hosts in a thread.
_SPARE_THREADS = 2
# Seconds beyond the timeout of a call after which a worker that did nothing counts as stuck at exit.
_PATIENCE = 10.0


class Worker:
    """Measures captures and hands their results on; every one is counted, however it ends.

    Args:
        measuring: makes results of captures.
        delivery: takes the results; it counts.
        settings: how many captures are worked on at a time, how many may wait, and which one goes when one
            more comes.
    """

    def __init__(
        self,
        measuring: Measuring,
        delivery: Delivery,
        settings: LiveSettings,
    ) -> None:
        self._measuring = measuring
        self._delivery = delivery
        self._counts = delivery.counts
        self._concurrency = settings.traffic.concurrency
        self._timeout = settings.traffic.timeout
        self._queue = Queue(
            max_pending=settings.max_pending,
            concurrency=self._concurrency,
            overflow=settings.overflow,
            on_dropped=partial(self._counts.skip, "overflow"),
        )
        # A collected generator may end its run, and come here, while this thread is in here already.
        self._starting = threading.RLock()
        self._background: Background | None = None
        self._threads: Threads | None = None
        self._is_woken = False
        self._caught_up: Future[int] | None = None
        self.is_closed = False

    @property
    def pending(self) -> int:
        """How many captures wait or are worked on."""
        return len(self._queue)

    def put(self, capture: Capture) -> bool:
        """Take a capture to work on when its turn comes; False when too many wait for that."""
        background = self._background or self._started()
        self._counts.add("captured")
        taken = self._queue.put(capture)
        if not self._is_woken:
            self._is_woken = True
            background.call(self._pump)
        return taken

    def catch_up(self) -> int:
        """See `LiveScorer.catch_up`."""
        if not self._delivery.keeps:
            return 0
        self._started()
        assert self._caught_up is not None, "it begins with the thread"
        return self._caught_up.result()

    def score(self, capture: Capture) -> LiveResult:
        """See `LiveScorer.score`."""
        if is_judging():
            raise ConfigError("a judge or a sink cannot wait for a score: call submit, or await ascore")
        background = self._started()
        self._counts.add("captured")
        done: Future[LiveResult] = Future()
        ticket = self._queue.enter(capture)
        try:
            background.call(self._spawn, self._answer, capture, done)
            while not done.done() and background.is_alive:
                wait([done], timeout=1)
            if not done.done():
                raise ModelError("the scorer was closed before this was scored")
            return done.result()
        finally:
            self._queue.leave(ticket)

    async def ascore(self, capture: Capture) -> LiveResult:
        """See `LiveScorer.ascore`."""
        self._started()
        self._counts.add("captured")
        ticket = self._queue.enter(capture)
        # A context of its own: a tracer of the host's would take the judge's calls for the application's.
        task = asyncio.get_running_loop().create_task(self._scored(capture), context=judging_context())
        try:
            return await task
        finally:
            self._queue.leave(ticket)

    def flush(self, timeout: float | None) -> bool:
        """See `LiveScorer.flush`."""
        if is_judging():
            return False
        until = None if timeout is None else time.monotonic() + timeout
        return (
            self._wait_for(self._entered(), until)
            and self._wait_for(self._queue.settled(), until)
            and self._wait_for(self._delivery.flush(), until)
        )

    async def aflush(self, timeout: float | None) -> bool:
        """See `LiveScorer.aflush`."""
        if is_judging():
            return False
        settled: Future[None] | None = None
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(asyncio.wrap_future(self._entered()))
                settled = self._queue.settled()
                await asyncio.wrap_future(settled)
                await asyncio.wrap_future(self._delivery.flush())
        except TimeoutError:
            return False
        finally:
            if settled is not None:
                self._queue.give_up(settled)
        return True

    def close(self, timeout: float | None) -> bool:
        """See `LiveScorer.close`."""
        self.is_closed = True
        until = None if timeout is None else time.monotonic() + timeout
        done = self.flush(timeout)
        while (ticket := self._queue.begin(any_number=True)) is not None:
            self._counts.skip("closed")
            self._queue.end(ticket)
        closing = self._delivery.close()
        if not is_judging():  # a sink would wait for itself
            done = self._wait_for(closing, until) and done
        with self._starting:
            if self._background is not None:
                self._finalizer()
            self._background = None
        self._delivery.stop()
        return done

    def at_exit(self) -> None:
        """Finish what is pending, unless nothing moves any more; called when the interpreter ends."""
        if self.is_closed:
            return
        self._wait_for(self._entered(), time.monotonic() + _PATIENCE)
        settled = self._queue.settled()
        patience = None if self._timeout is None else self._timeout + _PATIENCE
        while not settled.done():
            before = self._moved()
            wait([settled], timeout=patience)
            if not settled.done() and self._moved() == before:
                _LOGGER.warning("%d captures are not scored, because the judge is stuck", self.pending)
                break
        self._wait_for(self._delivery.close(), None if patience is None else time.monotonic() + patience)

    def abandon(self) -> list[object]:
        """Let go of everything in a forked child, where none of it works: gives what must not be destroyed.

        The loop of the parent shares its file descriptors with this copy of it: closing the one would make
        the other deaf.
        """
        forget_at_exit(self)
        if self._background is not None:
            self._finalizer.detach()
        return [self._background, self._threads, self._queue]

    def _entered(self) -> "Future[Any]":
        """Done when what earlier processes left behind is among what is pending here."""
        if self._caught_up is not None:
            return self._caught_up
        none: Future[int] = Future()
        none.set_result(0)
        return none

    def _wait_for(self, future: "Future[Any]", until: float | None) -> bool:
        wait([future], timeout=None if until is None else max(0.0, until - time.monotonic()))
        self._queue.give_up(future)
        return future.done()

    def _moved(self) -> tuple[object, ...]:
        return self._measuring.tally.get("calls"), self._counts.shown(pending=self.pending, lacking={})

    def _started(self) -> Background:
        """The thread, which starts now if it has not."""
        with self._starting:
            if self.is_closed:
                raise ConfigError("the scorer is closed")
            if self._background is None:
                # All threads at once: when the interpreter shuts down, none can be started any more.
                self._threads = Threads(self._concurrency + _SPARE_THREADS, "ragmetrics-live")
                self._background = Background(
                    self._threads, self._delivery.made_thread(), name="ragmetrics-live"
                )
                self._finalizer = finalize(self, _stop, self._background, self._threads)
                self._finalizer.atexit = False
                finish_at_exit(self)
                if self._delivery.keeps:
                    self._caught_up = Future()
                    self._background.call(self._spawn, self._catch_up, self._caught_up)
            return self._background

    def _pump(self) -> None:
        """Begin what may be begun; runs on the scorer's loop."""
        self._is_woken = False
        if self._background is None:  # closed meanwhile
            return
        while (ticket := self._queue.begin()) is not None:
            self._spawn(self._work, ticket)
        if self._delivery.keeps:  # at once, however long its turn takes: the process may be killed before
            for ticket in self._queue.waiting():
                self._make(ticket)
        for ticket in self._queue.dropped():
            if ticket.making is not None:  # and is kept, or will be in a moment
                ticket.making.add_done_callback(partial(self._forget, ticket.capture.id))

    def _spawn(self, *work: Any) -> None:
        if self._background is not None:  # closed meanwhile
            self._background.spawn(*work)

    async def _work(self, ticket: Ticket) -> None:
        try:
            await self._scored(ticket.capture, self._make(ticket))
        except Skip:
            pass
        except Exception as error:  # the boundary to translations and other code of the host's
            self._delivery.tell("scoring failed", error, self._measuring)
        finally:
            self._queue.end(ticket)
            self._pump()

    async def _answer(self, capture: Capture, done: "Future[LiveResult]") -> None:
        try:
            done.set_result(await self._scored(capture))
        except asyncio.CancelledError:
            done.set_exception(ModelError("the scorer was closed before this was scored"))
            raise
        except Exception as error:  # everything is the caller's, who waits for it
            done.set_exception(error)

    def _make(self, ticket: Ticket) -> "asyncio.Task[Sample]":
        """Begin to make the sample of a capture, if it was not begun; on the scorer's loop."""
        if ticket.making is None:
            loop = asyncio.get_running_loop()
            ticket.making = loop.create_task(self._sample(ticket.capture), context=judging_context())
            ticket.making.add_done_callback(_heard)
        return ticket.making

    def _forget(self, sample_id: str, _: "asyncio.Task[Sample]") -> None:
        self._delivery.forget(sample_id)

    async def _sample(self, capture: Capture) -> Sample:
        assert self._threads is not None, "started before"
        keep = self._delivery.keep if self._delivery.keeps else None
        return await self._measuring.sample(capture, self._threads, keep)

    async def _catch_up(self, done: "Future[int]") -> None:
        """Score what earlier processes captured and did not score, a few at a time beside what comes now."""
        try:
            left = await asyncio.wrap_future(self._delivery.take_over())
        except asyncio.CancelledError:
            done.set_result(0)
            raise
        except Exception as error:  # the boundary to the disk
            self._delivery.tell("captures of earlier processes cannot be read", error)
            left = []
        signatures = {metric.signature for metric in self._measuring.metrics}
        for each in left:
            if signatures <= each.scored:  # it was killed between the record and the note that it is done
                self._delivery.forget(each.sample.id)
        left = [each for each in left if not signatures <= each.scored]
        # all of them are pending from now on: who waits for the scorer waits for them, too
        tickets = [(self._queue.enter(_capture_of(each.sample)), each) for each in left]
        for _ in left:
            self._counts.add("captured")
        done.set_result(len(left))
        waiting = iter(tickets)

        async def worker() -> None:
            for ticket, each in waiting:
                try:
                    await self._measured(each.sample, ticket.capture, each.scored)
                except Exception as error:  # as of any other capture
                    self._delivery.tell("scoring failed", error, self._measuring)
                finally:
                    self._queue.leave(ticket)

        try:
            await asyncio.gather(*(worker() for _ in range(max(1, self._concurrency // 2))))
        finally:
            for ticket, _ in waiting:
                self._queue.leave(ticket)

    async def _scored(self, capture: Capture, making: "asyncio.Task[Sample] | None" = None) -> LiveResult:
        """Make a capture's sample, measure it and hand the result on."""
        try:
            sample = await (self._sample(capture) if making is None else making)
        except Skip as skip:
            self._delivery.left_out(skip.reason)
            raise
        except asyncio.CancelledError:
            self._counts.skip("closed")
            raise
        except Exception:
            self._counts.add("failed")
            raise
        return await self._measured(sample, capture)

    async def _measured(
        self, sample: Sample, capture: Capture, scored: frozenset[str] = frozenset()
    ) -> LiveResult:
        try:
            result = await self._measuring.measured(sample, capture, scored)
            await asyncio.wrap_future(self._delivery.deliver(result))
        except asyncio.CancelledError:
            self._counts.skip("closed")
            raise
        except Exception:
            self._counts.add("failed")
            raise
        return result


def _heard(task: "asyncio.Task[Sample]") -> None:
    """Somebody may have given the capture up before its sample was made, and then hears of no error."""
    if not task.cancelled():
        task.exception()


def _capture_of(sample: Sample) -> Capture:
    name = sample.labels.get("app")
    session = sample.labels.get("session")
    return Capture(
        translate=lambda _: sample,
        id=sample.id,
        name=name if isinstance(name, str) else None,
        session=session if isinstance(session, str) else None,
    )


def _stop(background: Background, threads: Threads) -> None:
    background.stop()
    threads.shutdown()
