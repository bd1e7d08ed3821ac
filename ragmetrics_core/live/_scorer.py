"""The live scorer: takes captures from the hooks of an application and scores them beside it."""

import asyncio
import random
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Any, Self, Unpack

from ragmetrics_core.adapting._judging import is_judging
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.live._capture import Capture, LiveResult, Skip
from ragmetrics_core.live._delivery import Delivery
from ragmetrics_core.live._forking import renew_in_child
from ragmetrics_core.live._measuring import Measuring
from ragmetrics_core.live._reasons import SkipReason
from ragmetrics_core.live._settings import LIVE_DEFAULTS, LiveArgs, LiveSettings, Mode
from ragmetrics_core.live._statistics import Alert, LiveMean, Statistics
from ragmetrics_core.live._worker import Worker
from ragmetrics_core.metrics import Metric
from ragmetrics_core.protocol import Embedder, Judge, Scorer, TextFunction

__all__ = ["LiveScorer"]

# What a forked child must not touch: the parent's loop and its files are shared with it.
_INHERITED: list[object] = []


class LiveScorer:
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
        settings = (settings or LiveSettings()).but(**keywords)
        self._settings = settings
        self._measuring = Measuring(
            metrics,
            judge=judge,
            judge_factory=judge_factory,
            embedder=embedder,
            embedder_factory=embedder_factory,
            scorer=scorer,
            settings=settings,
        )
        self._delivery = Delivery(
            self._measuring, out=settings.out, sinks=settings.sinks, on_result=settings.on_result, ways=ways
        )
        self._make_worker = partial(Worker, self._measuring, self._delivery, settings)
        self._worker = self._make_worker()
        self._chance = random.Random(settings.seed)
        self._pauses = 0
        self._pausing = threading.RLock()
        renew_in_child(self)

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """What is measured; a `Gate` takes them."""
        return self._measuring.metrics

    @property
    def mode(self) -> Mode:
        """Whether `submit` waits for the scores."""
        return self._settings.mode

    def after_fork(self) -> None:
        """Begin anew in a forked child; what was pending is the parent's."""
        _INHERITED.append(self._worker.abandon())
        self._measuring.renew()
        self._delivery.renew()
        self._worker = self._make_worker()
        self._chance = random.Random(self._settings.seed)
        self._pausing = threading.RLock()

    # Taking captures

    def submit(self, capture: Capture) -> bool:
        """Take a capture; from any thread or loop. It never raises and, in the background mode, never waits.

        False when it is not taken: `stats.skipped` counts why. In the inline mode, when it has no scores.
        """
        try:
            return self._take(capture)
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
        if self._measuring.needs_this_loop:
            raise ConfigError(
                "the judge is asynchronous and runs on this event loop, which `score` would hold up: use "
                "`await ascore(capture)`"
            )
        self._delivery.note_span(capture)
        return self._worker.score(capture)

    async def ascore(self, capture: Capture) -> LiveResult:
        """Score a capture on the running loop without blocking it; raises like `score`."""
        self._delivery.note_span(capture)
        return await self._worker.ascore(capture)

    def catch_up(self) -> int:
        """Begin to score what earlier processes captured into the folder and did not score; says how many.

        It also begins by itself with the first capture. 0 without a folder (`out`).

        Raises:
            ConfigError: the scorer is closed.
        """
        return self._worker.catch_up()

    def hook_failed(self, error: BaseException) -> None:
        """For an adapter's boundary: log an error of a hook with its traceback and count it; never raises."""
        with suppress(Exception):  # the boundary to the host: not even a broken log handler may reach it
            if not isinstance(error, Skip):  # that is counted where it is raised
                self._delivery.counts.skip("hook_failed")
                self._delivery.tell("a hook failed", error)

    def skip(self, reason: SkipReason) -> None:
        """Count something that an adapter saw and did not capture."""
        self._delivery.counts.skip(reason)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Take no captures in this block, from no thread; they are counted as skipped, "paused"."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def pause(self) -> None:
        """Take no captures until `resume` was called as often as this."""
        with self._pausing:
            self._pauses += 1

    def resume(self) -> None:
        """Take captures again."""
        with self._pausing:
            self._pauses = max(0, self._pauses - 1)

    # What came of them

    def alert(
        self,
        metric: str,
        *,
        below: float | None = None,
        above: float | None = None,
        window: int = 50,
        call: Callable[[Alert], None] | None = None,
    ) -> None:
        """Tell when the mean of a metric's last scores passes a threshold.

        It is told once, and again only after the mean was back again; not before there are `window` scores.

        Args:
            metric: its name, an alias, or its signature.
            below: the threshold that the mean must not fall below; or
            above: the one that it must not exceed, for metrics where lower is better.
            window: how many scores.
            call: told, in a thread of the scorer's; by default a warning is logged.

        Raises:
            ConfigError: this metric is not measured, or not exactly one threshold is given.
        """
        self._delivery.watch(metric, below=below, above=above, window=window, call=call)

    @property
    def results(self) -> list[LiveResult]:
        """The newest results, oldest first; their captures hold nothing of the host's any more."""
        return self._delivery.memory.results

    @property
    def means(self) -> dict[str, LiveMean]:
        """Mean and number of scores of each metric since the scorer was made, by name."""
        return self._delivery.means.shown()

    @property
    def stats(self) -> Statistics:
        """What was captured, scored and skipped, and what went wrong."""
        return self._delivery.counts.shown(
            pending=self._worker.pending, lacking=self._delivery.lacking.shown()
        )

    # Waiting and ending

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything captured so far is scored and the sinks have it; False when time ran out.

        Called by a judge or a sink, which would wait for itself, it is False at once; and where something is
        left, on the loop that an asynchronous function as judge needs (`await aflush()` waits there).

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.
        """
        return self._worker.flush(self._patience(timeout))

    async def aflush(self, timeout: float | None = None) -> bool:
        """`flush` that does not block the running loop."""
        return await self._worker.aflush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Take nothing more, flush, close the sinks and end the threads; False when time ran out.

        What is not done by then is given up and counted as skipped, "closed". Called by a judge or a sink, or
        on the loop that an asynchronous function as judge needs, it does not wait; `await aclose()` does.
        """
        return self._worker.close(self._patience(timeout))

    def _patience(self, timeout: float | None) -> float | None:
        """How long may be waited here: not at all on the loop that the judge needs."""
        return 0.0 if self._measuring.needs_this_loop else timeout

    async def aclose(self, timeout: float | None = None) -> bool:
        """`close` that does not block the running loop."""
        return await asyncio.to_thread(self.close, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # Working

    def _take(self, capture: Capture) -> bool:
        if is_judging():
            return False
        refusal = self._refusal()
        if refusal is not None:
            self._delivery.counts.skip(refusal)
            return False
        if self._settings.mode == "inline":
            return self._score_quietly(capture)
        self._delivery.note_span(capture)
        with suppress(AttributeError):  # an adapter may be wrong about what it hands over
            capture.hold()
        return self._worker.put(capture)

    def _refusal(self) -> SkipReason | None:
        if self._worker.is_closed:
            return "closed"
        if self._pauses:
            return "paused"
        rate = self._settings.sample_rate
        if rate < 1 and self._chance.random() >= rate:
            return "not_sampled"
        return None

    def _score_quietly(self, capture: Capture) -> bool:
        try:
            self.score(capture)
        except Skip:
            return False
        except Exception as error:  # the boundary to translations and other code of the host's
            self._delivery.tell("scoring failed", error, self._measuring)
            return False
        return True
