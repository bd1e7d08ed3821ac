"""Settings of live scoring, for `LiveScorer` and every adapter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, Unpack, get_args

from ragmetrics_core.boundary.keywords import checked, names_in, refuse_unknown
from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.boundary.shapes import is_series
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._sinks import Sink
from ragmetrics_core.live.places import Rotate, check_rotation
from ragmetrics_core.models import Budget, BudgetArgs, Traffic, TrafficArgs
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.samples import Sample

__all__ = [
    "LIVE_DEFAULTS",
    "Expected",
    "LiveArgs",
    "LiveSettings",
    "Mode",
    "References",
    "SharedLiveArgs",
    "check_alone",
    "check_expected",
]

Mode = Literal["background", "inline"]
"""Whether the application continues at once or waits for the scores."""

Overflow = Literal["drop_oldest", "drop_newest"]
"""Choice of the dropped capture when the queue is full."""

Expected = str | Sequence[str]
"""An expected answer, or several, of which the best match counts."""

References = Mapping[str, Expected] | Callable[[Sample], Expected | None]
"""Expected answers by question or by capture id, or a function from the sample to its answer."""


class SharedLiveArgs(TrafficArgs, BudgetArgs, total=False):
    """Live settings that are plain objects everywhere, including pipelines written as YAML."""

    on_result: Callable[[LiveResult], None] | None
    """Function called with each result, in a scorer's thread."""

    references: References | None
    """Expected answers by question or by capture id, or a function from the sample to its answer."""

    sample_rate: float
    """Share of captures to score, drawn at random."""

    seed: int | None
    """Random seed of that draw."""

    budget_period: Literal["day"] | None
    """Period of `max_calls`, `max_tokens` and `max_cost`: "day" (UTC), or None for the life of the scorer.

    Each process has its own budget. While it is spent, new captures are skipped as `budget_spent`.
    """

    max_pending: int
    """Maximum number of waiting captures."""

    overflow: Overflow
    """Capture to drop when the queue is full: "drop_oldest" or "drop_newest"."""

    redact: Redact | None
    """Function that removes private data from a text.

    Applied to every text of a sample, and to the models' replies and errors, before a model, a sink or the
    log sees it. Sinks then get captures without the application's objects.
    """

    rotate: Rotate | None
    """Start a new folder in `out` each "day" (UTC), or beyond a number of bytes.

    Then `out` holds one run for each, such as `2026-11-24` or `part-000001`.
    """

    keep: int | None
    """Number of newest days or parts to keep in `out`; older ones are removed. None keeps all."""

    strict_shown: bool
    """Whether a sample counts as one without contexts if a context is not in the model's request.

    Then its scores that need contexts have the status `unverified_contexts` and no value.
    """


class LiveArgs(SharedLiveArgs, total=False):
    """The settings of `LiveSettings`, its `Traffic` and its `Budget` as keywords, also for the adapters."""

    mode: Mode
    """"background" does not delay the application; "inline" makes it wait for the scores."""

    out: str | Path | None
    """Run folder for samples and records, which `ragmetrics show`, `audit` and `report` read."""

    sinks: Sequence[Sink]
    """Additional receivers of results, in this order. The newest 1,000 are always kept."""

    prompts: str | Path | Mapping[str, PromptText] | None
    """Folder of prompt files that replace those with the same name."""


@checked
@dataclass(frozen=True, kw_only=True)
class LiveSettings:
    """Settings of live scoring: `LiveScorer(..., settings=LiveSettings(sample_rate=0.1))`.

    `LiveScorer` and the adapters take one, or the same settings as keywords; `LiveArgs` explains them.

    Attributes:
        traffic: settings for model calls. `concurrency` also limits the captures in progress. Without
            `timeout`, exiting the interpreter may take as long as a call.
        budget: limits on spending on the judge, for each `budget_period`.
        mode, out, sinks, on_result, references, sample_rate, seed: see `LiveArgs`.
        budget_period, max_pending, overflow, redact, rotate, keep, strict_shown, prompts: see `LiveArgs`.

    Raises:
        ConfigError: a setting is invalid.
    """

    traffic: Traffic = field(default_factory=Traffic)
    budget: Budget = field(default_factory=Budget)
    mode: Mode = "background"
    out: str | Path | None = None
    sinks: Sequence[Sink] = ()
    on_result: Callable[[LiveResult], None] | None = None
    references: References | None = None
    sample_rate: float = 1.0
    seed: int | None = None
    budget_period: Literal["day"] | None = None
    max_pending: int = 1000
    overflow: Overflow = "drop_oldest"
    redact: Redact | None = None
    rotate: Rotate | None = None
    keep: int | None = None
    strict_shown: bool = False
    prompts: str | Path | Mapping[str, PromptText] | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("mode", get_args(Mode)), ("overflow", get_args(Overflow))):
            if getattr(self, name) not in allowed:
                words = " or ".join(map(repr, allowed))
                raise ConfigError(f"{name} must be {words}, not {getattr(self, name)!r}")
        if self.references is not None and not callable(self.references):
            for question, expected in self.references.items():
                check_expected(expected, f"references[{question!r}]")
        if not 0 <= self.sample_rate <= 1:
            raise ConfigError(f"sample_rate must be between 0 and 1, not {self.sample_rate}")
        check_rotation(self.rotate, self.keep)
        if self.rotate is not None and self.out is None:
            raise ConfigError("rotate needs a folder for records: pass out=..., too")
        if self.budget_period not in (None, "day"):
            raise ConfigError(f'budget_period must be "day" or None, not {self.budget_period!r}')
        if self.budget_period is not None and not self.budget.has_limit:
            raise ConfigError("budget_period needs a limit: pass max_calls, max_tokens or max_cost, too")
        if self.max_pending < 1:
            raise ConfigError(f"max_pending must be at least 1, not {self.max_pending}")

    def replacing(self, **settings: Unpack[LiveArgs]) -> Self:
        """A copy with these settings replaced.

        Raises:
            ConfigError: a setting is invalid.
            TypeError: a setting does not exist.
        """
        refuse_unknown(settings, *names_in(LiveArgs))
        given: dict[str, Any] = dict(settings)
        how: TrafficArgs = {name: given.pop(name) for name in names_in(TrafficArgs) if name in given}  # type: ignore[assignment]
        limits: BudgetArgs = {name: given.pop(name) for name in names_in(BudgetArgs) if name in given}  # type: ignore[assignment]
        return replace(
            self, traffic=self.traffic.replacing(**how), budget=self.budget.replacing(**limits), **given
        )

    @property
    def keywords(self) -> LiveArgs:
        """The settings, including those of its traffic and its budget, as keywords."""
        shared = {**self.traffic.keywords, **self.budget.keywords}
        own = {name: getattr(self, name) for name in names_in(LiveArgs) if name not in shared}
        return {**shared, **own}  # type: ignore[typeddict-item]


def check_expected(expected: object, what: str) -> None:
    """Raise `ConfigError` unless the value is an expected answer, several, or None."""
    several = expected if is_series(expected) else [expected or ""]
    if not all(isinstance(answer, str) for answer in several):
        raise ConfigError(f"{what} must be an answer or a list of answers, not {expected!r}")


LIVE_DEFAULTS: Mapping[str, Any] = LiveSettings().keywords
"""Default values of these settings."""


def check_alone(*owned: object, **keywords: Unpack[LiveArgs]) -> None:
    """Raise `ConfigError` if a caller passes both a live scorer and something the scorer has itself."""
    if keywords or any(thing is not None and thing != () for thing in owned):
        raise ConfigError(
            "a live scorer has its own metrics, models and settings: pass those, or live=..., not both"
        )
