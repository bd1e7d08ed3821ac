"""The live scorer: takes captures from an application's hooks and scores them in the background."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, TypeVar, Unpack
from weakref import finalize, ref

from ragmetrics_core.adapting.judging import is_judging, judging_context, within_judging
from ragmetrics_core.boundary.keywords import listing_settings
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._background import Background
from ragmetrics_core.live._breaker import Breaker
from ragmetrics_core.live._capture import Capture, LiveResult, Skip, SkipReason, capture_of
from ragmetrics_core.live._evaluation import LiveEvaluation
from ragmetrics_core.live._models import at_home, chosen, running_loop
from ragmetrics_core.live._observers import Observers
from ragmetrics_core.live._processes import finish_at_exit, leave_to_parent, renew_in_child
from ragmetrics_core.live._queue import Queue, Ticket, done_by, seconds_left
from ragmetrics_core.live._run_sink import Left
from ragmetrics_core.live._settings import LIVE_DEFAULTS, LiveArgs, LiveSettings
from ragmetrics_core.live._verbs import LiveFace
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import as_embedder, as_judge
from ragmetrics_core.protocol import Embedder, Judge, Scorer, TextFunction
from ragmetrics_core.runs.preparation import Metrics
from ragmetrics_core.samples import Sample

__all__ = ["LiveScorer"]

T = TypeVar("T")

# Beside one for each call that a synchronous judge may have in flight: for translations, and for clients
# that look up hosts in a thread.
_SPARE_THREADS = 2
# Seconds beyond the timeout of a call after which a scorer that did nothing counts as stuck at exit.
_PATIENCE = 10.0
# Seconds between two savings of the counts, and two looks at the day of the budget.
_LOOKING = 5.0


class _Unavailable(Exception):
    """A capture has no scores because the judge is down or the budget is spent; it waits."""


def _was_refused(result: LiveResult) -> bool:
    return any(record.status in {"model_error", "timeout", "cancelled"} for record in result.records)


def _look_again(background: Background, observers: Observers, me: "ref[LiveScorer]") -> None:
    """Save the counts every few seconds, for the run of a killed process, and begin what may begin now."""

    def look() -> None:
        background.sinks.submit(observers.save)
        if (scorer := me()) is not None:
            scorer.pump()
        _look_again(background, observers, me)

    background.later(_LOOKING, look)


class LiveScorer(LiveFace):
    """Score the answers of a running application in the background.

    Hooks pass a `Capture` to `submit`, which takes microseconds. A daemon thread with its own event loop
    translates captures into samples, asks the judge and passes results to the sinks; it starts with the first
    capture. Errors there never reach the application: they are counted in `stats` and logged by the logger
    "ragmetrics.live".

    Pending captures are finished when the interpreter exits. With a folder (`out`), captures are on disk
    before they are scored, and the next process scores those of a killed one: see `catch_up`.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: a judge, any callable from prompt to reply, or a name such as "embedded". The application's own
            model works unless it belongs to the application's event loop.
        judge_factory: makes the judge instead, on the scorer's loop, on first use.
        embedder: an embedder, or a name such as "embedded".
        embedder_factory: makes the embedder instead, likewise.
        scorer: a model that rates pairs, for metrics that need one; an object or a name.
        settings: settings for taking, scoring and keeping captures, as one object.
        ways: instructions for providing a missing field, by field, for the warning when all first captures
            lack a field that a metric needs. An adapter names its own options here.
        keywords: single settings, instead of the object or overriding it: `mode`, `out`, `sinks`,
            `on_result`, `references`, `sample_rate`, `seed`, `max_pending`, `overflow`, `redact` and
            `prompts`, which `LiveArgs` describes; `concurrency`, `timeout`, `attempts`, `requests_per_minute`
            and `tokens_per_minute`, which `TrafficArgs` describes. In inline mode `submit` waits for the
            scores; it still never raises.

    Raises:
        ConfigError: an argument is invalid, or the folder holds a different run.

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

    @listing_settings(LiveArgs, LIVE_DEFAULTS)
    def __init__(
        self,
        metrics: Metrics,
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
        settings = self._settings = (settings or LiveSettings()).replacing(**keywords)
        judge, self._home = at_home(judge)
        models = {
            "judge": chosen("judge", judge, judge_factory, as_judge),
            "embedder": chosen("embedder", embedder, embedder_factory, as_embedder),
            "scorer": scorer,
        }
        self.evaluation = LiveEvaluation(metrics, settings, models)
        self.observers = Observers(self.evaluation, settings, ways)
        self._begin(pauses=0)
        me = ref(self)
        self.observers.watch(lambda: len(live.queue) if (live := me()) is not None else 0)
        renew_in_child(self)

    def _begin(self, pauses: int) -> None:
        me, evaluation = ref(self), self.evaluation

        def pump() -> None:
            if (scorer := me()) is not None:
                scorer.pump()

        def begin_waiting(seconds: float = 0.0) -> None:
            if (scorer := me()) is not None and (background := scorer._background) is not None:
                background.later(seconds, pump)

        breaker = self.breaker = evaluation.breaker = Breaker(
            opens=self.observers.judge_is_down,
            tries=begin_waiting,
            closes=begin_waiting,
        )
        self.queue = Queue(self._settings, pauses, lambda: breaker.is_open or evaluation.is_spent)
        # A collected generator may end its run, and come here, while this thread is in here already.
        self._lock = threading.RLock()
        self._background: Background | None = None
        self._caught_up: Future[int] | None = None
        self._is_woken = self._is_stuck = False

    def after_fork(self) -> None:
        """Reset in a forked child; pending captures belong to the parent.

        The copied loop shares the parent's file descriptors, so closing it would break the parent's loop.
        """
        leave_to_parent(self._background, self.queue)
        if self._background is not None:
            self._finalizer.detach()
        self.evaluation.renew()
        self.observers.renew()
        self._begin(self.queue.pauses)

    @property
    def live(self) -> "LiveScorer":
        """The scorer itself."""
        return self

    @property
    def settings(self) -> LiveSettings:
        """The settings."""
        return self._settings

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """The metrics; a `Gate` takes them."""
        return self.evaluation.metrics

    def submit(self, capture: Capture) -> bool:
        """Submit a capture, from any thread or loop. Never raises and, in background mode, never waits.

        Returns False if it is not accepted; `stats.skipped` counts the reasons. In inline mode, False if it
        has no scores.
        """
        try:
            if is_judging():
                return False
            refusal = self.queue.refusal(getattr(capture, "draw", None)) or (
                "budget_spent" if self.evaluation.is_spent else None
            )
            if refusal is not None:
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
                background.call(self._dropped, dropped)
            if not self._is_woken:
                self._is_woken = True
                background.call(self.pump)
            return dropped is not ticket
        except Exception as error:  # the boundary to the host: whatever happens here must not reach it
            self.hook_failed(error)
            return False

    def score(self, capture: Capture) -> LiveResult:
        """Score a capture and wait for it. Also works in a running loop, which it blocks.

        Raises:
            Skip: the capture is not a sample, according to `translate`.
            ConfigError: the scorer is closed, or the call came from a judge or a sink, or from the loop that
                an asynchronous judge needs.
            Exception: any error of `translate`, `references` or `redact`. A judge's failure raises nothing;
                the records report it.
        """
        return self._waited(self._scored, capture)

    async def ascore(self, capture: Capture) -> LiveResult:
        """Score a capture without blocking the running loop; raises like `score`."""
        self._started()
        with self._entered(capture) as ticket:
            # A context of its own: a tracer of the host's would take the judge's calls for the application's.
            loop = asyncio.get_running_loop()
            return await loop.create_task(self._scored(ticket), context=judging_context())

    def catch_up(self, *, failed: bool = False) -> int:
        """Start scoring the unscored captures of earlier processes in the folder; return their number.

        Also starts automatically with the first capture. Returns 0 without a folder (`out`).

        Args:
            failed: also score again the failed scores of the run that this scorer writes, today's say.

        Raises:
            ConfigError: the scorer is closed, or the run cannot be opened.
            RecordError: the run cannot be read.
        """
        if self.observers.kept is None:
            return 0
        background = self._started()
        count = 0 if self._caught_up is None else self._caught_up.result()
        if failed:
            left = background.sinks.submit(self.observers.failed).result()
            count += background.begin(self._take_over, left).result()
        return count

    def is_known(self, sample_id: str) -> bool:
        """Whether a sample is in the folder: its scores, or the sample while it waits for them."""
        return self._started().sinks.submit(self.observers.holds, sample_id).result()

    def unsaved(self) -> set[str]:
        """The ids of pending captures that are not on disk yet: a process that is killed loses them."""
        kept = self.observers.kept
        return {id for id in self.queue.open_ids() if kept is None or not kept.holds(id)}

    def hook_failed(self, error: BaseException) -> None:
        """Log an error of an adapter's hook with its traceback and count it; never raises."""
        with suppress(Exception):  # the boundary to the host: not even a broken log handler may reach it
            if not isinstance(error, Skip):  # that is counted where it is raised
                self.skip("hook_failed")
                self.observers.tell("a hook failed", error)

    def skip(self, reason: SkipReason) -> None:
        """Count something that an adapter observed and did not capture."""
        self.observers.counts.add("skipped", reason)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all captures so far are scored and passed to the sinks; False on timeout.

        Returns False at once if called by a judge or a sink, which would wait for itself, and, if captures
        are pending, on the loop that an asynchronous judge needs (`await aflush()` waits there).

        Args:
            timeout: maximum seconds to wait; None means no limit.
        """
        if is_judging():
            return False
        until = self._until(timeout)
        background = self._background
        return self._settled(until) and (
            background is None or done_by(background.sinks.submit(self.observers.end, "flush"), until)
        )

    def close(self, timeout: float | None = None) -> bool:
        """Stop accepting captures, flush, close the sinks and end the threads; False on timeout.

        Remaining captures are counted as skipped, "closed". Does not wait if called by a judge or a sink, or
        on the loop that an asynchronous judge needs; `await aclose()` does.
        """
        self.queue.is_closed = True
        until = self._until(timeout)
        done = self.flush(timeout)
        self.observers.left_unscored(self.queue.give_up(), "the scorer was closed")
        with self._lock:
            background, self._background = self._background, None
        if background is not None:
            closing = background.sinks.submit(self.observers.end, "close")
            self._finalizer()
            if not is_judging():  # a sink would wait for itself
                done = done_by(closing, until) and done
        return done

    def at_exit(self) -> None:
        """Finish pending captures, unless the judge is stuck; called when the interpreter exits."""
        if (background := self._background) is None or self._is_stuck:
            return
        timeout = self._settings.traffic.timeout
        patience = None if timeout is None else timeout + _PATIENCE
        moved = self._moved()
        while not self._settled(self._until(patience)):
            before, moved = moved, self._moved()
            reason = "the judge is stuck"
            if self.breaker.is_open or self.evaluation.is_spent:
                reason = "the judge is down" if self.breaker.is_open else "the budget is spent"
            elif moved != before:
                continue
            self._is_stuck = True
            self.observers.left_unscored(len(self.queue), reason)
            break
        done_by(background.sinks.submit(self.observers.end, "close"), self._until(patience))

    def _until(self, timeout: float | None) -> float | None:
        """Time until which this thread may wait: none on the loop that the judge needs."""
        if self._home is not None and running_loop() is self._home:
            timeout = 0.0
        return None if timeout is None else time.monotonic() + timeout

    def _settled(self, until: float | None) -> bool:
        """Wait for all captures, including those of earlier processes."""
        caught_up = self._caught_up is None or done_by(self._caught_up, until)
        return caught_up and self.queue.settle(seconds_left(until))

    def _moved(self) -> tuple[object, ...]:
        return self.evaluation.tally.get("calls"), self.stats

    def _started(self) -> Background:
        """The threads, started on first use."""
        with self._lock:
            if self.queue.is_closed:
                raise ConfigError("the scorer is closed")
            if self._background is None:
                threads = self._settings.traffic.concurrency + _SPARE_THREADS
                self._background = Background("ragmetrics-live", threads=threads)
                self._finalizer = finalize(self, self._background.stop)
                self._finalizer.atexit = False
                finish_at_exit(self)
                _look_again(self._background, self.observers, ref(self))
                if self.observers.kept is not None:
                    self._caught_up = self._background.begin(self._catch_up)
            return self._background

    def _waited(self, work: Callable[[Ticket], Coroutine[Any, Any, T]], capture: Capture) -> T:
        if self._home is not None and running_loop() is self._home:
            raise ConfigError(
                "the judge is asynchronous and runs on this event loop, which `score` would block: use "
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

    def pump(self) -> None:
        """Start work if possible; runs on the scorer's loop."""
        self._is_woken = False
        if (background := self._background) is None:  # closed meanwhile
            return
        is_spent = self.evaluation.is_spent
        while not is_spent and self.queue.has_next and self.breaker.admits():
            if (ticket := self.queue.begin()) is not None:
                background.begin(self._work, ticket)
        self.observers.note_budget(is_spent=is_spent)
        if self.observers.kept is not None:  # at once: the process may be killed before its turn comes
            for ticket in self.queue.waiting():
                self._sample_of(ticket, background)

    async def _work(self, ticket: Ticket) -> bool:
        """Score a waiting capture; whether it has scores."""
        is_put_back = False
        try:
            await self._scored(ticket)
        except _Unavailable:
            is_put_back = self.queue.put_back(ticket)
            return False
        except Skip:
            return False
        except Exception as error:  # the boundary to translations and other code of the host's
            self.observers.tell("scoring failed", error, *self.evaluation.models.values(), self.evaluation)
            return False
        finally:
            if not is_put_back:
                self.queue.leave(ticket)
            self.breaker.ended()
            self.pump()
        return True

    async def _scored(self, ticket: Ticket) -> LiveResult:
        """Translate and measure a capture, and pass the result on; always counted."""
        background, counts = self._background or self._started(), self.observers.counts
        try:
            sample = await self._sample_of(ticket, background)
            if self.queue.is_begun(ticket):
                await self.evaluation.room()
            result = await self.evaluation.measured(sample, ticket.capture, ticket.scored)
            is_unavailable = self.breaker.is_open or self.evaluation.is_spent
            if is_unavailable and self.queue.is_begun(ticket) and _was_refused(result):
                raise _Unavailable
            await asyncio.wrap_future(background.sinks.submit(self.observers.hear, result))
        except Skip as skip:
            counts.add("skipped", skip.reason)
            if skip.reason == "no_contexts":
                background.sinks.submit(self.observers.hear_without_contexts)
            raise
        except asyncio.CancelledError:
            counts.add("skipped", "closed")
            raise
        except _Unavailable:
            raise
        except Exception:
            counts.add("failed")
            raise
        return result

    def _sample_of(self, ticket: Ticket, background: Background) -> asyncio.Future[Sample]:
        """The sample of a capture, made in a thread if not yet started; runs on a loop."""
        if ticket.making is None:
            capture = ticket.capture
            make = self.evaluation.conversations.in_order(
                capture.session, lambda: self._made_and_kept(capture)
            )
            ticket.making = asyncio.get_running_loop().run_in_executor(
                background.threads, within_judging, make
            )
            # somebody may give the capture up before its sample is made, and then hears of no error
            ticket.making.add_done_callback(lambda making: making.cancelled() or making.exception())
        return ticket.making

    def _made_and_kept(self, capture: Capture) -> Sample:
        sample = self.evaluation.sample(capture)
        self.observers.keep(sample)
        return sample

    def _dropped(self, dropped: Ticket) -> None:
        """Count a dropped capture, and remove it from the stored ones; runs on the scorer's loop."""
        self.observers.dropped()
        if self.observers.kept is None:
            return
        if dropped.making is not None and (background := self._background) is not None:
            forget = self.observers.forget
            dropped.making.add_done_callback(lambda _: background.sinks.submit(forget, dropped.capture.id))

    async def _catch_up(self) -> int:
        """Take over unscored captures of earlier processes, which are pending from now on."""
        loop = asyncio.get_running_loop()
        return await self._take_over(await loop.run_in_executor(None, self.observers.left))

    async def _take_over(self, left: Sequence[Left]) -> int:
        """Wait with these samples behind the application's captures; return their number."""
        loop = asyncio.get_running_loop()
        tickets: list[Ticket] = []
        for sample, scored in left:
            making: asyncio.Future[Sample] = loop.create_future()
            making.set_result(sample)
            tickets.append(Ticket(capture_of(sample), making, scored))
            self.observers.counts.add("captured")
        self.queue.put_left(tickets)
        self.pump()
        return len(tickets)
