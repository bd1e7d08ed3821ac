"""Receivers of results: counts, means, alerts and sinks, in order."""

import logging
from collections.abc import Callable, Mapping
from typing import Literal

from ragmetrics_core.live._capture import Capture, LiveResult
from ragmetrics_core.live._delivery import Delivery
from ragmetrics_core.live._evaluation import LiveEvaluation
from ragmetrics_core.live._kept_captures import KeptCaptures
from ragmetrics_core.live._log import described, discreet, one_line, traced
from ragmetrics_core.live._missing_fields import MissingFields
from ragmetrics_core.live._opentelemetry_metrics import OpenTelemetryMetrics
from ragmetrics_core.live._opentelemetry_sink import OpenTelemetrySink, current_span_context
from ragmetrics_core.live._run_sink import Left, RunSink
from ragmetrics_core.live._settings import LiveSettings
from ragmetrics_core.live._sinks import CallableSink, MemorySink, Sink
from ragmetrics_core.live._statistics import Alarm, Counts, Means, Statistics
from ragmetrics_core.records import FAILED
from ragmetrics_core.samples import Sample

__all__ = ["Observers"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Messages that were logged already; a host that fails on every request should not fill its log with us.
_MANY_MESSAGES = 200


class Observers:
    """Pass results to all receivers, in one thread; an error in one does not affect the others.

    Args:
        evaluation: the measurement.
        settings, ways: as for `LiveScorer`.

    Attributes:
        kept: the captures on disk, if there is a folder.

    Raises:
        ConfigError: the folder holds another run.
    """

    def __init__(self, evaluation: LiveEvaluation, settings: LiveSettings, ways: Mapping[str, str]) -> None:
        self._evaluation = evaluation
        self._redact = settings.redact
        self._ways = ways
        self._sinks: list[Sink] = list(settings.sinks)
        memory = next((sink for sink in self._sinks if isinstance(sink, MemorySink)), None)
        if memory is None:
            self._sinks.insert(0, memory := MemorySink())
        self.memory = memory
        if settings.out is not None:
            self._sinks.append(RunSink(settings.out, rotate=settings.rotate, keep=settings.keep))
        if settings.on_result is not None:
            self._sinks.append(CallableSink(settings.on_result))
        places = next((sink.places for sink in self._sinks if isinstance(sink, RunSink)), None)
        self.kept = None if places is None else KeptCaptures(places)
        self._deliveries = [Delivery(sink, fails=self._tell_of, loses=self._lost) for sink in self._sinks]
        self._sample_rate = settings.sample_rate
        self._wants_span = any(isinstance(sink, OpenTelemetrySink) for sink in self._sinks)
        self.alarms: list[Alarm] = []
        self._introduced = False
        self.renew()
        self._introduce()

    def watch(self, pending: Callable[[], int]) -> None:
        """Let sinks that report numbers read them."""

        def numbers() -> dict[str, float]:
            tally = self._evaluation.tally
            tokens = {kind: tally.get(f"{kind}_tokens", 0) for kind in ("prompt", "completion")}
            found: dict[str, float] = {
                "pending": pending(),
                "calls": tally.get("calls", 0),
                **self.counts.flat(),
            }
            found |= {f"tokens.{kind}": count for kind, count in tokens.items()}
            if (price := self._evaluation.price) is not None:
                found["cost"] = (
                    tokens["prompt"] * price.prompt + tokens["completion"] * price.completion
                ) / 1e6
            return found

        for sink in self._sinks:
            if isinstance(sink, OpenTelemetryMetrics):
                sink.watch(numbers)

    def renew(self) -> None:
        """Reset in a forked child."""
        self.counts = Counts()
        self.missing = MissingFields(self._ways)
        self.means = Means(self._evaluation.names.values())
        self.memory.clear()
        self._failing: set[str] = set()
        self._is_spent = False
        self._told: set[str] = set()

    def stats(self, *, pending: int) -> Statistics:
        """Counts of captured, scored and skipped samples, and the newest errors."""
        return self.counts.shown(pending=pending, lacking=self.missing.shown())

    def captured(self, capture: Capture) -> Capture:
        """Count a capture, and keep the host's current span for a sink that links results to it."""
        if self._wants_span and (context := current_span_context()) is not None:
            capture.data.setdefault("span_context", context)
        self.counts.add("captured")
        return capture

    def keep(self, sample: Sample) -> None:
        """Write a waiting sample if there is a folder."""
        try:
            if self.kept is not None:
                self.kept.keep(sample)
        except Exception as error:  # the boundary to the disk
            if self.counts.add("not_kept"):
                words = one_line(discreet(described(error), self._redact))
                _LOGGER.warning("captures are not kept, and lost if the process is killed: %s", words)

    def dropped(self) -> None:
        """Count a dropped capture, and log the first one."""
        if self.counts.add("skipped", "overflow"):
            _LOGGER.warning(
                "captures are dropped, because more arrive than are scored (stats.skipped counts them as "
                "overflow): lower sample_rate, or raise max_pending or concurrency"
            )

    def left_unscored(self, count: int, why: str) -> None:
        """Count captures that are given up because the scorer ends, and log their number."""
        if not count:
            return
        for _ in range(count):
            self.counts.add("skipped", "closed")
        later = "; ragmetrics catch-up scores those in the folder" if self.kept is not None else ""
        _LOGGER.warning("%d captures are not scored, because %s%s", count, why, later)

    def note_budget(self, *, is_spent: bool) -> None:
        """Log once that the budget is spent."""
        if is_spent and not self._is_spent:
            _LOGGER.warning("the budget is spent: captures are skipped, and counted as budget_spent")
        self._is_spent = is_spent

    def judge_is_down(self, failure: str) -> None:
        """Log that captures wait until the judge answers again."""
        words = one_line(discreet(failure, self._redact))
        self.counts.errors.append(one_line(f"the judge is down: {words}"))
        _LOGGER.warning("the judge is down, and captures wait until it answers again: %s", words)

    def forget(self, sample_id: str) -> None:
        """Write that a sample is no longer waiting."""
        if self.kept is not None:
            self._guarded(self.kept, self.kept.done, sample_id)

    def left(self) -> list[Left]:
        """Take over the unscored captures of earlier processes, if there is a folder."""
        try:
            return [] if self.kept is None else self.kept.take_over(frozenset(self._evaluation.names))
        except Exception as error:  # the boundary to the disk
            self.tell("captures of earlier processes cannot be read", error)
            return []

    def holds(self, sample_id: str) -> bool:
        """Whether the folder has a sample's scores, or the sample because it waits for them."""
        if self.kept is not None and self.kept.holds(sample_id):  # first: it leaves once its scores are there
            return True
        sinks = [sink for sink in self._sinks if isinstance(sink, RunSink)]
        return any(sink.holds(sample_id, self._evaluation.names.keys()) for sink in sinks)

    def failed(self) -> list[Left]:
        """The samples of the run that is written whose scores failed; [] without a folder."""
        sinks = [sink for sink in self._sinks if isinstance(sink, RunSink)]
        return sinks[0].failed() if sinks else []

    def hear(self, result: LiveResult) -> None:
        """Take a result."""
        self._guarded(self, self._introduce)
        self.means.hear(result)
        self.missing.hear(result)
        self._note_failures(result)
        for delivery in self._deliveries:
            self._taken(delivery, delivery.write(result))
        for alarm in self.alarms:
            self._guarded(alarm, alarm.hear, result)
        sample = result.sample
        states: tuple[str, ...] = sample.shown or ("unknown" if sample.contexts is None else "nothing",)
        if sample.unaccounted:
            states = (*states, "unaccounted")
        self.counts.add("shown", *states)
        self.counts.add("scored")

    def hear_without_contexts(self) -> None:
        """Count a capture that is skipped because it has no contexts."""
        self.missing.count(dict.fromkeys(self._evaluation.names.values(), "contexts"))

    def save(self) -> None:
        """Try again what a sink did not take, and save the counts."""
        for delivery in self._deliveries:
            self._taken(delivery, delivery.retry())
            if isinstance(delivery.sink, RunSink):
                self._guarded(delivery.sink, delivery.sink.flush)

    def end(self, how: Literal["flush", "close"]) -> None:
        """Flush the sinks, or close them and the stored captures."""
        self.missing.tell()
        for delivery in self._deliveries:
            self._taken(delivery, delivery.retry())
            if how == "close":
                delivery.give_up()
        for sink in self._sinks:
            self._guarded(sink, getattr(sink, how))
        if how == "close" and self.kept is not None:
            self._guarded(self.kept, self.kept.close)

    def tell(self, what: str, error: BaseException, *holders: object) -> None:
        """Count an error, and log it with its traceback if it is the first of its kind.

        Keys in `holders` are removed; do not call it in a thread of the host, because the search is slow.
        """
        message = one_line(discreet(f"{what}: {described(error)}", self._redact, *holders))
        self.counts.errors.append(message)
        if message in self._told:
            return
        if len(self._told) < _MANY_MESSAGES:
            self._told.add(message)
        trace = traced(error)
        # a traceback repeats the words of the error, and of those that led to it
        if (clean := discreet(trace, self._redact, *holders)) == trace:
            _LOGGER.error("%s", message, exc_info=error)
        else:
            _LOGGER.error("%s\n%s", message, clean)

    def _introduce(self) -> None:
        """Pass the metrics and models to sinks that write a manifest, as soon as they are known."""
        manifest = self._evaluation.manifest
        if self._introduced or manifest is None:
            return
        self._introduced = True
        for sink in self._sinks:
            if isinstance(sink, RunSink):
                sink.begin(
                    manifest,
                    tally=lambda: self._evaluation.tally,
                    counts=self._flat_counts,
                    sample_rate=self._sample_rate,
                )

    def _flat_counts(self) -> dict[str, int]:
        return self.counts.flat()  # of this process: they are others in a forked child

    def _taken(self, delivery: Delivery, samples: list[str]) -> None:
        """Forget the captures of samples that are in the run, or in all sinks if there is no run."""
        if self.kept is not None and isinstance(delivery.sink, RunSink):
            for sample_id in samples:
                self.forget(sample_id)

    def _tell_of(self, sink: Sink, error: BaseException) -> None:
        self.tell(f"{type(sink).__name__} failed", error, sink)

    def _lost(self, sink: Sink) -> None:
        name = type(sink).__name__
        if self.counts.add("lost", name):
            _LOGGER.warning("results are lost, because %s did not take them (stats.lost counts them)", name)

    def _note_failures(self, result: LiveResult) -> None:
        for record in result.records:
            if record.status not in FAILED:
                self._failing.discard(record.signature)
                continue
            message = one_line(f"{record.signature}: {record.status} ({record.reason})")
            self.counts.errors.append(one_line(f"sample {record.sample_id}: {message}"))
            if record.signature not in self._failing:
                self._failing.add(record.signature)
                _LOGGER.warning("%s; nothing more is logged until this metric succeeds again", message)

    def _guarded(self, observer: object, call: Callable[..., None], *args: object) -> bool:
        """Whether the call succeeded."""
        try:
            call(*args)
        except BaseException as error:  # the boundary to sinks and alarms: the others must go on
            self.tell(f"{type(observer).__name__} failed", error, observer)
            return False
        return True
