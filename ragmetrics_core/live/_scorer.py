"""The live scorer: takes captures from the hooks of an application and scores them beside it."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, TypeVar, Unpack
from weakref import finalize

from ragmetrics_core.adapting._judging import is_judging, judging_context, within_judging
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.live._background import Background
from ragmetrics_core.live._capture import Capture, LiveResult, Skip, SkipReason, capture_of
from ragmetrics_core.live._evaluation import LiveEvaluation
from ragmetrics_core.live._models import at_home, chosen, running_loop
from ragmetrics_core.live._observers import Observers
from ragmetrics_core.live._processes import finish_at_exit, leave_to_parent, renew_in_child
from ragmetrics_core.live._queue import Queue, Ticket, done_by, seconds_left
from ragmetrics_core.live._settings import LIVE_DEFAULTS, LiveArgs, LiveSettings
from ragmetrics_core.live._verbs import LiveFace
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import as_embedder, as_judge
from ragmetrics_core.protocol import Embedder, Judge, Scorer, TextFunction
from ragmetrics_core.samples import Sample

__all__ = ["LiveScorer"]

T = TypeVar("T")

_LOGGER = logging.getLogger("ragmetrics.live")
# Beside one for each call that a synchronous judge may have in flight: for translations, and for clients
# that look up hosts in a thread.
_SPARE_THREADS = 2
# Seconds beyond the timeout of a call after which a scorer that did nothing counts as stuck at exit.
_PATIENCE = 10.0


class LiveScorer(LiveFace):
    """Scores what an application answers, in the background, while it answers.

    Hooks hand over a `Capture` with `submit`, which costs some microseconds. One daemon thread with an event
    loop of its own makes samples of them, asks the judge and gives the results to the sinks; it starts with
    the first capture. Nothing that goes wrong there reaches the application: it is counted in `stats`, and
    logged by the logger "ragmetrics.live".

    What is pending when the interpreter ends is finished then. With a folder (`out`) captures are on disk
    before they are scored: what a killed process left is scored by the next one, see `catch_up`.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: the model that judges; any callable from prompt to reply, or a name such as "embedded". It may
            be the object that the application uses, unless that belongs to the application's event loop.
        judge_factory: makes the judge in its place, on the scorer's own loop, when it is first needed.
        embedder: the model that makes vectors, or a name such as "embedded".
        embedder_factory: makes it in its place, likewise.
        scorer: the model that rates pairs, for metrics that need one; an object or a name.
        settings: how captures are taken, scored and kept, as one object.
        ways: how a sample gets a field that it lacks, in words, by field: for the warning when none of the
            first captures has what a metric needs. An adapter names its own options here.
        keywords: the settings one by one, in place of the object or beside it: `mode`, `out`, `sinks`,
            `on_result`, `references`, `sample_rate`, `seed`, `max_pending`, `overflow`, `redact` and
            `prompts`, which `LiveArgs` describes; `concurrency`, `timeout`, `attempts`,
            `requests_per_minute` and `tokens_per_minute`, which `TrafficArgs` describes. In the inline mode
            `submit` waits for the scores; it still never raises.

    Raises:
        ConfigError: a mistake in the arguments, or the folder holds another run.

    >>> from ragmetrics_core import Sample
    >>> with LiveScorer("faithfulness", judge="embedded") as live:
    ...     made = Capture(
    ...         question="Who selects the UPF?",
    ...         contexts=["The SMF selects the UPF."],
    ...         answer="The SMF selects the UPF.",
    ...         translate=lambda c: Sample(question=c.question, contexts=c.contexts, answer=c.answer),
    ...     )
    ...     taken = live.submit(made)
    >>> live.means["faithfulness"]
    LiveMean(mean=1.0, n=1)
    """

    @unfolded(LiveArgs, LIVE_DEFAULTS)
    def __init__(
        self,
        metrics: str | Metric[Any] | Iterable[str | Metric[Any]],
        *,
        judge: Judge | TextFunction | str | None = None,
        judge_factory: Callable[[], Judge | TextFunction | str] | None = None,
        embedder: Embedder | str | None = None,
        embedder_factory: Callable[[], Embedder | str] | None = None,
        scorer: Scorer | str | None = None,
        settings: LiveSettings | None = None,
        ways: Mapping[str, str] = MappingProxyType({}),
        **keywords: Unpack[LiveArgs],
    ) -> None:
        settings = self._settings = (settings or LiveSettings()).but(**keywords)
        judge, self._home = at_home(judge)
        models = {
            "judge": chosen("judge", judge, judge_factory, as_judge),
            "embedder": chosen("embedder", embedder, embedder_factory, as_embedder),
            "scorer": scorer,
        }
        self.evaluation = LiveEvaluation(metrics, settings, models)
        self.observers = Observers(self.evaluation, settings, ways)
        self._begin(pauses=0)
        renew_in_child(self)

    def _begin(self, pauses: int) -> None:
        self.queue = Queue(self._settings, pauses)
        # A collected generator may end its run, and come here, while this thread is in here already.
        self._lock = threading.RLock()
        self._background: Background | None = None
        self._caught_up: Future[int] | None = None
        self._is_woken = False

    def after_fork(self) -> None:
        """Begin anew in a forked child; what was pending is the parent's.

        The loop of the parent shares its file descriptors with this copy of it: closing the one would make
        the other deaf.
        """
        leave_to_parent(self._background, self.queue)
        if self._background is not None:
            self._finalizer.detach()
        self.evaluation.renew()
        self.observers.renew()
        self._begin(self.queue.pauses)

    @property
    def live(self) -> "LiveScorer":
        """Itself."""
        return self

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """What is measured; a `Gate` takes them."""
        return self.evaluation.metrics

    def submit(self, capture: Capture) -> bool:
        """Take a capture; from any thread or loop. It never raises and, in the background mode, never waits.

        False when it is not taken: `stats.skipped` counts why. In the inline mode, when it has no scores.
        """
        try:
            if is_judging():
                return False
            if (refusal := self.queue.refusal()) is not None:
                self.observers.counts.add("skipped", refusal)
                return False
            if self._settings.mode == "inline":
                return self._waited(self._work, capture)
            with suppress(AttributeError):  # an adapter may be wrong about what it hands over
                capture.hold()
            background = self._background or self._started()
            ticket = Ticket(self.observers.captured(capture))
            dropped = self.queue.put(ticket)
            if dropped is not None:
                self.observers.counts.add("skipped", "overflow")
                if self.observers.kept is not None:
                    background.call(self._forget, dropped)
            if not self._is_woken:
                self._is_woken = True
                background.call(self._pump)
            return dropped is not ticket
        except Exception as error:  # the boundary to the host: whatever happens here must not reach it
            self.hook_failed(error)
            return False

    def score(self, capture: Capture) -> LiveResult:
        """Score a capture now and wait for it; works in a running loop, too, which then stands still.

        Raises:
            Skip: `translate` says that it is no sample.
            ConfigError: the scorer is closed, this was called by a judgement of ours, or on the loop that an
                asynchronous function as judge needs.
            Exception: whatever `translate`, `references` or `redact` raise. A judge that fails is no error:
                the records say so.
        """
        return self._waited(self._scored, capture)

    async def ascore(self, capture: Capture) -> LiveResult:
        """Score a capture on the running loop without blocking it; raises like `score`."""
        self._started()
        with self._entered(capture) as ticket:
            # A context of its own: a tracer of the host's would take the judge's calls for the application's.
            loop = asyncio.get_running_loop()
            return await loop.create_task(self._scored(ticket), context=judging_context())

    def catch_up(self) -> int:
        """Begin to score what earlier processes captured into the folder and did not score; says how many.

        It also begins by itself with the first capture. 0 without a folder (`out`).

        Raises:
            ConfigError: the scorer is closed.
        """
        if self.observers.kept is not None:
            self._started()
        return 0 if self._caught_up is None else self._caught_up.result()

    def hook_failed(self, error: BaseException) -> None:
        """For an adapter's boundary: log an error of a hook with its traceback and count it; never raises."""
        with suppress(Exception):  # the boundary to the host: not even a broken log handler may reach it
            if not isinstance(error, Skip):  # that is counted where it is raised
                self.skip("hook_failed")
                self.observers.tell("a hook failed", error)

    def skip(self, reason: SkipReason) -> None:
        """Count something that an adapter saw and did not capture."""
        self.observers.counts.add("skipped", reason)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything captured so far is scored and the sinks have it; False when time ran out.

        Called by a judge or a sink, which would wait for itself, it is False at once; and where something is
        left, on the loop that an asynchronous function as judge needs (`await aflush()` waits there).

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.
        """
        if is_judging():
            return False
        until = self._until(timeout)
        background = self._background
        return self._settled(until) and (
            background is None or done_by(background.sinks.submit(self.observers.end, "flush"), until)
        )

    def close(self, timeout: float | None = None) -> bool:
        """Take nothing more, flush, close the sinks and end the threads; False when time ran out.

        What is not done by then is given up and counted as skipped, "closed". Called by a judge or a sink, or
        on the loop that an asynchronous function as judge needs, it does not wait; `await aclose()` does.
        """
        self.queue.is_closed = True
        until = self._until(timeout)
        done = self.flush(timeout)
        for _ in range(self.queue.give_up()):
            self.observers.counts.add("skipped", "closed")
        with self._lock:
            background, self._background = self._background, None
        if background is not None:
            closing = background.sinks.submit(self.observers.end, "close")
            self._finalizer()
            if not is_judging():  # a sink would wait for itself
                done = done_by(closing, until) and done
        return done

    def at_exit(self) -> None:
        """Finish what is pending, unless nothing moves any more; called when the interpreter ends."""
        if (background := self._background) is None:
            return
        timeout = self._settings.traffic.timeout
        patience = None if timeout is None else timeout + _PATIENCE
        moved = self._moved()
        while not self._settled(self._until(patience)):
            before, moved = moved, self._moved()
            if moved == before:
                _LOGGER.warning("%d captures are not scored, because the judge is stuck", len(self.queue))
                break
        done_by(background.sinks.submit(self.observers.end, "close"), self._until(patience))

    def _until(self, timeout: float | None) -> float | None:
        """Until when may be waited here: not at all on the loop that the judge needs."""
        if self._home is not None and running_loop() is self._home:
            timeout = 0.0
        return None if timeout is None else time.monotonic() + timeout

    def _settled(self, until: float | None) -> bool:
        """Wait for everything that is here, with what earlier processes left behind."""
        caught_up = self._caught_up is None or done_by(self._caught_up, until)
        return caught_up and self.queue.settle(seconds_left(until))

    def _moved(self) -> tuple[object, ...]:
        return self.evaluation.tally.get("calls"), self.stats

    def _started(self) -> Background:
        """The threads, which start now if they have not."""
        with self._lock:
            if self.queue.is_closed:
                raise ConfigError("the scorer is closed")
            if self._background is None:
                threads = self._settings.traffic.concurrency + _SPARE_THREADS
                self._background = Background("ragmetrics-live", threads=threads)
                self._finalizer = finalize(self, self._background.stop)
                self._finalizer.atexit = False
                finish_at_exit(self)
                if self.observers.kept is not None:
                    self._caught_up = self._background.begin(self._catch_up)
            return self._background

    def _waited(self, work: Callable[[Ticket], Coroutine[Any, Any, T]], capture: Capture) -> T:
        if self._home is not None and running_loop() is self._home:
            raise ConfigError(
                "the judge is asynchronous and runs on this event loop, which `score` would hold up: use "
                "`await ascore(capture)`"
            )
        if is_judging():
            raise ConfigError("a judge or a sink cannot wait for a score: call submit, or await ascore")
        background = self._started()
        with self._entered(capture) as ticket:
            return background.wait_for(work, ticket)

    @contextmanager
    def _entered(self, capture: Capture) -> Generator[Ticket]:
        ticket = Ticket(self.observers.captured(capture))
        self.queue.enter(ticket)
        try:
            yield ticket
        finally:
            self.queue.leave(ticket)

    def _pump(self) -> None:
        """Begin what may be begun; runs on the scorer's loop."""
        self._is_woken = False
        if (background := self._background) is None:  # closed meanwhile
            return
        while (ticket := self.queue.begin()) is not None:
            background.begin(self._work, ticket)
        if self.observers.kept is not None:  # at once: the process may be killed before its turn comes
            for ticket in self.queue.waiting():
                self._sample_of(ticket, background)

    async def _work(self, ticket: Ticket) -> bool:
        """Score one of those that wait; whether it has scores."""
        try:
            await self._scored(ticket)
        except Skip:
            return False
        except Exception as error:  # the boundary to translations and other code of the host's
            self.observers.tell("scoring failed", error, *self.evaluation.models.values(), self.evaluation)
            return False
        finally:
            self.queue.leave(ticket)
            self._pump()
        return True

    async def _scored(self, ticket: Ticket) -> LiveResult:
        """Make a capture's sample, measure it and hand the result on; it is counted, however it ends."""
        background, counts = self._background or self._started(), self.observers.counts
        try:
            sample = await self._sample_of(ticket, background)
            result = await self.evaluation.measured(sample, ticket.capture, ticket.scored)
            await asyncio.wrap_future(background.sinks.submit(self.observers.hear, result))
        except Skip as skip:
            counts.add("skipped", skip.reason)
            if skip.reason == "no_contexts":
                background.sinks.submit(self.observers.hear_without_contexts)
            raise
        except asyncio.CancelledError:
            counts.add("skipped", "closed")
            raise
        except Exception:
            counts.add("failed")
            raise
        return result

    def _sample_of(self, ticket: Ticket, background: Background) -> asyncio.Future[Sample]:
        """The sample of a capture, which is made in a thread if that was not begun; on a loop."""
        if ticket.making is None:
            ticket.making = asyncio.get_running_loop().run_in_executor(
                background.threads, lambda: within_judging(self._made_and_kept, ticket.capture)
            )
            # somebody may give the capture up before its sample is made, and then hears of no error
            ticket.making.add_done_callback(lambda making: making.cancelled() or making.exception())
        return ticket.making

    def _made_and_kept(self, capture: Capture) -> Sample:
        sample = self.evaluation.sample(capture)
        self.observers.keep(sample)
        return sample

    def _forget(self, dropped: Ticket) -> None:
        """Do not keep one that had to go, or will be kept in a moment; runs on the scorer's loop."""
        if dropped.making is not None and (background := self._background) is not None:
            forget = self.observers.forget
            dropped.making.add_done_callback(lambda _: background.sinks.submit(forget, dropped.capture.id))

    async def _catch_up(self) -> int:
        """Take what earlier processes captured and did not score, which is pending from now on."""
        loop = asyncio.get_running_loop()
        left = await loop.run_in_executor(None, self.observers.left)
        tickets: list[Ticket] = []
        for sample, scored in left:
            making: asyncio.Future[Sample] = loop.create_future()
            making.set_result(sample)
            tickets.append(Ticket(capture_of(sample), making, scored))
            self.observers.counts.add("captured")
        self.queue.put_left(tickets)
        self._pump()
        return len(tickets)
