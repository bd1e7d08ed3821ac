"""Counts, tokens, cost and scores as metrics of OpenTelemetry."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._sinks import Direct
from ragmetrics_core.package.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

__all__ = ["LiveNumbers", "OpenTelemetryMetrics"]

LiveNumbers = Callable[[], Mapping[str, float]]
"""Returns numbers by name: those of a manifest (`skipped.overflow`), of the tally, `pending` and `cost`."""

_BOUNDARIES = [tenth / 10 for tenth in range(11)]


class OpenTelemetryMetrics(Direct):
    """Report a live scorer's numbers through OpenTelemetry's Metrics API; any exporter takes them.

    ====================================== ====================== =====================================
    metric                                 kind                   attributes
    ====================================== ====================== =====================================
    `ragmetrics.live.pending`              observable gauge
    `ragmetrics.live.captured`             observable counter
    `ragmetrics.live.scored`               observable counter
    `ragmetrics.live.failed`               observable counter
    `ragmetrics.live.dropped`              observable counter     `reason`, such as "overflow"
    `ragmetrics.live.lost`                 observable counter     `sink`
    `ragmetrics.live.calls`                observable counter
    `ragmetrics.live.tokens`               observable counter     `type`: "prompt" or "completion"
    `ragmetrics.live.cost`                 observable counter     with `prices` only
    `ragmetrics.live.score`                histogram              `metric`
    `ragmetrics.live.scores`               counter                `metric`, `status`
    ====================================== ====================== =====================================

    Only the API is used: without a meter provider in the process, nothing is reported.
    Metrics hold no text of a sample.

    Args:
        meter_provider: replaces the process's meter provider.

    Raises:
        ConfigError: opentelemetry-api is not installed.
    """

    def __init__(self, meter_provider: "MeterProvider | None" = None) -> None:
        try:
            from opentelemetry.metrics import get_meter
        except ImportError as error:
            raise ConfigError(
                "OpenTelemetryMetrics needs opentelemetry-api: install ragmetrics-core[otel]"
            ) from error
        self._meter = get_meter("ragmetrics", VERSION, meter_provider)
        self._scores = self._meter.create_histogram(
            "ragmetrics.live.score",
            description="Scores, by metric",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )
        self._statuses = self._meter.create_counter(
            "ragmetrics.live.scores", description="Measured scores, by metric and status"
        )
        self._numbers: LiveNumbers | None = None

    def watch(self, numbers: LiveNumbers) -> None:
        """Report these numbers; called by a scorer, and for one scorer only.

        Raises:
            ConfigError: the sink belongs to another scorer.
        """
        if self._numbers is not None:
            raise ConfigError("an OpenTelemetryMetrics belongs to one scorer: make another one")
        self._numbers = numbers
        counter, gauge = self._meter.create_observable_counter, self._meter.create_observable_gauge
        gauge("ragmetrics.live.pending", [self._reader("pending")], description="Captures that wait")
        for name in ("captured", "scored", "failed"):
            counter(f"ragmetrics.live.{name}", [self._reader(name)], description=f"Captures that were {name}")
        counter(
            "ragmetrics.live.dropped",
            [self._reader("skipped.", "reason")],
            description="Answers that were not scored, by reason",
        )
        counter(
            "ragmetrics.live.lost",
            [self._reader("lost.", "sink")],
            description="Results that a sink did not take",
        )
        counter("ragmetrics.live.calls", [self._reader("calls")], description="Calls of the judge")
        counter(
            "ragmetrics.live.tokens",
            [self._reader("tokens.", "type")],
            description="Tokens of the judge, by type",
        )
        counter("ragmetrics.live.cost", [self._reader("cost")], description="Cost of the judge")

    def write(self, result: LiveResult) -> None:
        """Count the result's scores."""
        for record in result.records:
            self._statuses.add(1, {"metric": record.metric, "status": record.status})
            if record.value is not None:
                self._scores.record(record.value, {"metric": record.metric})

    def _reader(self, name: str, attribute: str = "") -> Callable[[Any], Iterator[Any]]:
        """A callback that reads one number, or one for each name that begins with it."""
        from opentelemetry.metrics import Observation

        def read(_: object) -> Iterator[Any]:
            numbers: Mapping[str, float] = {} if self._numbers is None else self._numbers()
            for each, number in numbers.items():
                if each == name:
                    yield Observation(number)
                elif attribute and each.startswith(name):
                    yield Observation(number, {attribute: each.removeprefix(name)})

        return read
