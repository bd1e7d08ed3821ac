"""Counts of a live scorer, and the alert when scores fall."""

import logging
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Literal, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult, by_name

__all__ = ["Alarm", "Alert", "Counts", "LiveMean", "Means", "Statistics", "log_alert"]

_LOGGER = logging.getLogger("ragmetrics.live")
_KEPT_ERRORS = 20


class Statistics(NamedTuple):
    """Counts since the scorer was made (or since this process was forked).

    `captured` is `scored` + `failed` + `pending` + the submitted ones of `skipped`.

    Attributes:
        captured: captures submitted and chosen for scoring.
        scored: captures with records, whatever their status.
        failed: captures without records because of an error.
        pending: captures waiting or in progress.
        skipped: number not scored, by reason: a `SkipReason`, or a custom reason from a `Skip`.
        errors: newest error messages, oldest first, from hooks, translations, models and sinks.
        lacking: number of scores missing because the sample lacks a field, by metric and field:
            {"faithfulness: contexts": 5}.
        shown: contexts of the scored samples, by whether they are in the model's request: {"verified": 12,
            "absent": 1}. "nothing" counts samples whose model got no contexts, "unknown" those without known
            contexts, and "unaccounted" those whose request has text of unknown origin.
        lost: results that a sink did not take, by sink: {"RunSink": 3}.
    """

    captured: int
    scored: int
    failed: int
    pending: int
    skipped: Mapping[str, int]
    errors: Sequence[str]
    lacking: Mapping[str, int]
    shown: Mapping[str, int] = {}
    lost: Mapping[str, int] = {}


class Counts:
    """The numbers of `Statistics`; thread-safe."""

    def __init__(self) -> None:
        # A collected generator may come here while this thread is in here already.
        self._lock = threading.RLock()
        self._numbers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.errors: deque[str] = deque(maxlen=_KEPT_ERRORS)

    def add(self, name: str, *kinds: str) -> bool:
        """Increment a number of `Statistics`, or one for each kind; whether it was the first of its kind."""
        with self._lock:
            numbers, kinds = self._numbers[name], kinds or ("",)
            numbers.update(kinds)
            return any(numbers[kind] == 1 for kind in kinds)

    def shown(self, *, pending: int, lacking: Mapping[str, int]) -> Statistics:
        """The current numbers."""
        numbers = self._numbers
        with self._lock:
            captured, scored, failed = (numbers[name].total() for name in ("captured", "scored", "failed"))
            skipped, shown, lost = (dict(numbers[name]) for name in ("skipped", "shown", "lost"))
        return Statistics(captured, scored, failed, pending, skipped, list(self.errors), lacking, shown, lost)

    def flat(self) -> dict[str, int]:
        """The numbers for a manifest, by name or `name.kind`."""
        with self._lock:
            return {
                f"{name}.{kind}" if kind else name: count
                for name, kinds in self._numbers.items()
                if name != "shown"
                for kind, count in kinds.items()
            }


class LiveMean(NamedTuple):
    """Mean and number of all scores with a value so far; the mean is None if there are none."""

    mean: float | None
    n: int


class Alert(NamedTuple):
    """The mean of a metric's latest scores has passed a threshold.

    Attributes:
        metric: the watched name.
        mean: mean of the latest `window` scores.
        threshold: the threshold.
        side: side of the threshold on which the mean is now.
        window: number of scores.
        worst: id of the sample furthest on that side.
    """

    metric: str
    mean: float
    threshold: float
    side: Literal["below", "above"]
    window: int
    worst: str


class Alarm:
    """Watch a metric's latest scores; alert once, and again only after the mean has recovered.

    Args:
        metric: its name, or its signature if several share the name.
        below: lowest acceptable mean; or
        above: highest acceptable mean.
        window: number of scores; with fewer there is no alert.
        call: function called with the alert.

    Raises:
        ConfigError: the window is less than 1, or not exactly one threshold is given.
    """

    def __init__(
        self,
        metric: str,
        below: float | None,
        above: float | None,
        window: int,
        call: Callable[[Alert], None],
    ) -> None:
        if window < 1:
            raise ConfigError(f"window must be at least 1, not {window}")
        given = [threshold for threshold in (below, above) if threshold is not None]
        if len(given) != 1:
            raise ConfigError("an alert takes one threshold: below=..., or above=... if lower is better")
        if not isfinite(given[0]):  # no mean is below or above NaN
            raise ConfigError(f"a threshold must be a finite number, not {given[0]}")
        self._metric = metric
        self._threshold = given[0]
        self._sign = -1 if below is None else 1
        self._call = call
        self._last: deque[tuple[float, str]] = deque(maxlen=window)
        self._is_off = False

    def hear(self, result: LiveResult) -> None:
        """Take a result; alert if the mean is beyond the threshold now and was not before."""
        record = by_name(result.records).get(self._metric)
        if record is None or record.value is None:
            return
        self._last.append((record.value, record.sample_id))
        window = self._last.maxlen or 0
        if len(self._last) < window:
            return
        # exact until the end: 0.7, 0.7 and 0.7 have no mean below 0.7
        mean = float(sum(Fraction(value) for value, _ in self._last) / window)
        was_off, self._is_off = self._is_off, self._sign * mean < self._sign * self._threshold
        if self._is_off and not was_off:
            side: Literal["below", "above"] = "below" if self._sign > 0 else "above"
            _, worst = min(self._last, key=lambda score: self._sign * score[0])
            self._call(Alert(self._metric, mean, self._threshold, side, window, worst))


def log_alert(alert: Alert) -> None:
    """Log a warning."""
    _LOGGER.warning(
        "%(metric)s: the mean of the last %(window)d scores is %(mean).3f, %(side)s %(threshold)g "
        "(worst: sample %(worst)s)",
        alert._asdict(),
    )


class Means:
    """Means of all metrics since the start.

    Args:
        names: names of the metrics; more may follow.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._sums: dict[str, tuple[float, int]] = dict.fromkeys(names, (0.0, 0))

    def hear(self, result: LiveResult) -> None:
        """Take a result; only scores with a value count."""
        for name, record in by_name(result.records).items():
            total, n = self._sums.get(name, (0.0, 0))
            if record.value is not None:
                total, n = total + record.value, n + 1
            self._sums[name] = total, n

    def shown(self) -> dict[str, LiveMean]:
        """The current means."""
        return {name: LiveMean(total / n if n else None, n) for name, (total, n) in dict(self._sums).items()}
