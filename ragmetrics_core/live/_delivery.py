"""Handing results on: counts, means, alarms and sinks, all in one thread."""

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from weakref import finalize

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._background import Threads
from ragmetrics_core.live._capture import Capture, LiveResult
from ragmetrics_core.live._kept import KeptCaptures, Left
from ragmetrics_core.live._lacking import Lacking
from ragmetrics_core.live._measuring import Measuring
from ragmetrics_core.live._opentelemetry_sink import OpenTelemetrySink, current_span_context
from ragmetrics_core.live._run_sink import RunSink
from ragmetrics_core.live._sinks import CallableSink, MemorySink, Sink
from ragmetrics_core.live._statistics import Alarm, Alert, Counts, Means
from ragmetrics_core.live._wording import discreet, one_line
from ragmetrics_core.metrics import ALIASES
from ragmetrics_core.records import FAILED
from ragmetrics_core.samples import Sample

__all__ = ["Delivery", "described"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Messages that were logged already; a host that fails on every request should not fill its log with us.
_MANY_MESSAGES = 200


class Delivery:
    """Gives results to the sinks, one after another, and counts.

    Args:
        measuring: tells what is measured.
        out, sinks, on_result, ways: as for `LiveScorer`.

    Raises:
        ConfigError: the folder holds another run.
    """

    def __init__(
        self,
        measuring: Measuring,
        *,
        out: str | Path | None,
        sinks: Sequence[Sink],
        on_result: Callable[[LiveResult], None] | None,
        ways: Mapping[str, str],
    ) -> None:
        self._ways = ways
        self._measuring = measuring
        self._sinks: list[Sink] = list(sinks)
        own = next((sink for sink in sinks if isinstance(sink, MemorySink)), None)
        self.memory = own or MemorySink()
        if own is None:
            self._sinks.insert(0, self.memory)
        if out is not None:
            self._sinks.append(RunSink(out))
        if on_result is not None:
            self._sinks.append(CallableSink(on_result))
        folder = next((sink.folder for sink in self._sinks if isinstance(sink, RunSink)), None)
        self._kept = None if folder is None else KeptCaptures(folder)
        self._wants_span = any(isinstance(sink, OpenTelemetrySink) for sink in self._sinks)
        self._alarms: list[Alarm] = []
        self._begun = False
        self._begin()
        self._introduce()

    def _begin(self) -> None:
        self.counts = Counts()
        self.lacking = Lacking(self._ways)
        self.means = Means(self._measuring.names.values())
        self._thread: Threads | None = None
        self._failing: set[str] = set()
        self._cannot_keep = False
        self._told: set[str] = set()

    def renew(self) -> None:
        """Begin anew in a forked child."""
        self._begin()
        if self._kept is not None:
            self._kept.renew()
        self.memory.clear()

    def made_thread(self) -> Threads:
        """The thread that writes, to be started by the caller."""
        self._thread = Threads(1, "ragmetrics-live-sinks")
        finalize(self, self._thread.shutdown).atexit = False
        return self._thread

    @property
    def keeps(self) -> bool:
        """Whether captures are written to a folder before they are scored."""
        return self._kept is not None

    def keep(self, sample: Sample) -> None:
        """Write a sample that waits for its scores; called in a thread of the scorer's."""
        if self._kept is None:
            return
        try:
            self._kept.keep(sample)
        except (
            Exception
        ) as error:  # the boundary to the disk: a sink that writes there tells and counts it, too
            if not self._cannot_keep:
                self._cannot_keep = True
                redact = self._measuring.redact
                _LOGGER.warning("captures are not kept: %s", one_line(discreet(described(error), redact)))

    def forget(self, sample_id: str) -> None:
        """Note that a sample is not to be scored any more."""
        if (kept := self._kept) is not None and self._thread is not None:
            self._thread.submit(self._guarded, kept, lambda: kept.done(sample_id))

    def take_over(self) -> "Future[list[Left]]":
        """What earlier processes captured and did not score; it is this one's from now on."""
        kept = self._kept
        assert kept is not None, "asked only where captures are kept"
        assert self._thread is not None, "started before"
        return self._thread.submit(kept.take_over)

    def deliver(self, result: LiveResult) -> "Future[None]":
        """Hand a result on; done when all sinks have it."""
        assert self._thread is not None, "started before"
        return self._thread.submit(self._deliver, result)

    def left_out(self, reason: str) -> None:
        """Count a capture that is none to score."""
        self.counts.skip(reason)
        if reason == "no_contexts" and self._thread is not None:
            self._thread.submit(self.lacking.hear_skipped, list(self._measuring.names.values()))

    def flush(self) -> "Future[None]":
        """Flush the sinks."""
        return self._each("flush")

    def close(self) -> "Future[None]":
        """Close the sinks."""
        return self._each("close")

    def stop(self) -> None:
        """End the thread when it has done what it was given."""
        if self._thread is not None:
            self._thread.shutdown()
        self._thread = None

    def watch(
        self,
        metric: str,
        *,
        below: float | None,
        above: float | None,
        window: int,
        call: Callable[[Alert], None] | None,
    ) -> None:
        """See `LiveScorer.alert`."""
        names = self._measuring.names
        name = ALIASES.get(metric, metric)
        name = names.get(name, name)
        if name not in names.values():
            raise ConfigError(f"{metric!r} is not measured; there is {', '.join(names.values())}")
        self._alarms.append(Alarm(name, below=below, above=above, window=window, call=call or _log_alert))

    def note_span(self, capture: Capture) -> None:
        """Keep the host's current span for a sink that links results to it."""
        if self._wants_span:
            context = current_span_context()
            if context is not None:
                capture.data.setdefault("span_context", context)

    def tell(self, what: str, error: BaseException, *holders: object) -> None:
        """Count an error, and log it with its traceback when it is the first of its kind.

        Keys that `holders` have are not told; looking through them is nothing for a thread of the host.
        """
        redact = self._measuring.redact
        message = one_line(discreet(f"{what}: {described(error)}", redact, *holders))
        self.counts.error(message)
        if message not in self._told:
            if len(self._told) < _MANY_MESSAGES:
                self._told.add(message)
            trace = _traced(error)
            # a traceback repeats the words of the error, and of those that led to it
            if (clean := discreet(trace, redact, *holders)) == trace:
                _LOGGER.error("%s", message, exc_info=error)
            else:
                _LOGGER.error("%s\n%s", message, clean)

    def _deliver(self, result: LiveResult) -> None:
        self._guarded(self, self._introduce)
        self.means.hear(result)
        self.lacking.hear(result)
        self._note_failures(result)
        wrote = [
            self._guarded(sink, partial(sink.write, result))
            for sink in self._sinks
            if not (isinstance(sink, RunSink) and self._measuring.manifest is None)
        ]
        if (kept := self._kept) is not None and all(wrote):
            self._guarded(kept, partial(kept.done, result.sample.id))
        for alarm in self._alarms:
            self._guarded(alarm, partial(alarm.hear, result))
        self.counts.see(result.sample)
        self.counts.add("scored")

    def _introduce(self) -> None:
        """Tell the sinks that write a manifest what is measured, as soon as that is known."""
        manifest = self._measuring.manifest
        if self._begun or manifest is None:
            return
        self._begun = True
        for sink in self._sinks:
            if isinstance(sink, RunSink):
                sink.begin(manifest, tally=lambda: self._measuring.tally)

    def _note_failures(self, result: LiveResult) -> None:
        for record in result.records:
            if record.status not in FAILED:
                self._failing.discard(record.signature)
                continue
            message = one_line(f"{record.signature}: {record.status} ({record.reason})")
            self.counts.error(one_line(f"sample {record.sample_id}: {message}"))
            if record.signature not in self._failing:
                self._failing.add(record.signature)
                _LOGGER.warning("%s; nothing more is logged until this metric succeeds again", message)

    def _each(self, method: str) -> "Future[None]":
        if self._thread is None:
            done: Future[None] = Future()
            done.set_result(None)
            return done
        return self._thread.submit(self._for_each, method)

    def _for_each(self, method: str) -> None:
        self._guarded(self.lacking, self.lacking.tell)
        for sink in self._sinks:
            self._guarded(sink, getattr(sink, method))
        if method == "close" and self._kept is not None:
            self._guarded(self._kept, self._kept.close)

    def _guarded(self, each: object, call: Callable[[], None]) -> bool:
        """Whether the call did not fail."""
        try:
            call()
        except BaseException as error:  # the boundary to sinks and alarms: the others must go on
            self.tell(f"{type(each).__name__} failed", error, each)
            return False
        return True


def described(error: BaseException) -> str:
    """The error in one line; not even an error that cannot be printed breaks this."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # the boundary to foreign code: `__str__` of an error may raise anything
        return type(error).__name__


def _traced(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # the boundary to foreign code: `__str__` of an error may raise anything
        return ""


def _log_alert(alert: Alert) -> None:
    _LOGGER.warning(
        "%s: the mean of the last %d scores is %.3f, %s %g (worst: sample %s)",
        alert.metric,
        alert.window,
        alert.mean,
        alert.side,
        alert.threshold,
        alert.worst,
    )
