"""How an application is scored while it runs, as settings: for `LiveScorer` and for every adapter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, Unpack, get_args

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import checked, names_in, refuse_unknown
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._places import Rotate, check_rotation
from ragmetrics_core.live._sinks import Sink
from ragmetrics_core.models import Traffic, TrafficArgs
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.redaction import Redact
from ragmetrics_core.samples import Sample
from ragmetrics_core.shapes import is_series

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
"""Whether the application goes on at once, or waits for the scores."""

Overflow = Literal["drop_oldest", "drop_newest"]
"""Which capture goes when one more comes than may wait."""

Expected = str | Sequence[str]
"""An expected answer, or several, of which the best one counts."""

References = Mapping[str, Expected] | Callable[[Sample], Expected | None]
"""The expected answers, by question or by capture id, or a function from the sample to its own."""


class SharedLiveArgs(TrafficArgs, total=False):
    """The live settings that are the same objects everywhere, also where a pipeline is written as YAML."""

    on_result: Callable[[LiveResult], None] | None
    """Called with each result, in a thread of the scorer's."""

    references: References | None
    """The expected answers, by question or by capture id, or a function from the sample to its own."""

    sample_rate: float
    """The share of captures that is scored, drawn at random."""

    seed: int | None
    """Makes that draw repeatable."""

    max_pending: int
    """How many captures may wait to be scored."""

    overflow: Overflow
    """Which one goes when one more comes: "drop_oldest" or "drop_newest"."""

    redact: Redact | None
    """Takes what is private out of a text.

    It is applied to every text of a sample, and to replies and errors of the models, before a model, a sink
    or the log sees it. Captures go to sinks without the application's objects then.
    """

    rotate: Rotate | None
    """When the next folder in `out` begins: with each "day" (UTC), or beyond a number of bytes.

    The folder `out` holds a run for each then, such as `2026-11-24` or `part-000001`.
    """

    keep: int | None
    """How many of the newest days or parts stay in `out`; the others are removed. None: all."""

    strict_shown: bool
    """Whether a sample of which a context is not in what the model was sent has no contexts.

    Its scores that need them have the status `unverified_contexts` then, and no value.
    """


class LiveArgs(SharedLiveArgs, total=False):
    """The settings of `LiveSettings` and its `Traffic` as keywords, for `LiveScorer` and the adapters."""

    mode: Mode
    """"background" scores beside the application, "inline" makes it wait for the scores."""

    out: str | Path | None
    """A run folder for samples and records, which `ragmetrics show`, `audit` and `report` read."""

    sinks: Sequence[Sink]
    """Where results go besides, in this order. The newest 1,000 are kept in any case."""

    prompts: str | Path | Mapping[str, PromptText] | None
    """A folder of prompt files that replace those of the same name."""


@checked
@dataclass(frozen=True, kw_only=True)
class LiveSettings:
    """How an application is scored while it runs: `LiveScorer(..., settings=LiveSettings(sample_rate=0.1))`.

    `LiveScorer` and the adapters take one, or the same settings as keywords; `LiveArgs` says what each of
    them means.

    Attributes:
        traffic: how the models are asked. As many captures are worked on as calls may be in flight. Without a
            limit of time for a call the interpreter waits at its end for as long as one takes.
        mode, out, sinks, on_result, references, sample_rate, seed: see `LiveArgs`.
        max_pending, overflow, redact, rotate, keep, strict_shown, prompts: see `LiveArgs`.

    Raises:
        ConfigError: a setting cannot be used.
    """

    traffic: Traffic = field(default_factory=Traffic)
    mode: Mode = "background"
    out: str | Path | None = None
    sinks: Sequence[Sink] = ()
    on_result: Callable[[LiveResult], None] | None = None
    references: References | None = None
    sample_rate: float = 1.0
    seed: int | None = None
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
            raise ConfigError("rotate is about the folder that records go to: give out, too")
        if self.max_pending < 1:
            raise ConfigError(f"max_pending must be at least 1, not {self.max_pending}")

    def but(self, **settings: Unpack[LiveArgs]) -> Self:
        """The same with these settings in place of its own.

        Raises:
            ConfigError: one cannot be used.
            TypeError: there is none of such a name.
        """
        refuse_unknown(settings, *names_in(LiveArgs))
        given: dict[str, Any] = dict(settings)
        how: TrafficArgs = {name: given.pop(name) for name in names_in(TrafficArgs) if name in given}  # type: ignore[assignment]
        return replace(self, traffic=self.traffic.but(**how), **given)

    @property
    def keywords(self) -> LiveArgs:
        """Its settings, with those of its traffic, as keywords."""
        own = {name: getattr(self, name) for name in names_in(LiveArgs) if name not in names_in(TrafficArgs)}
        return {**self.traffic.keywords, **own}  # type: ignore[typeddict-item]


def check_expected(expected: object, what: str) -> None:
    """Raise `ConfigError` unless it is an expected answer, or several, or none."""
    several = expected if is_series(expected) else [expected or ""]
    if not all(isinstance(answer, str) for answer in several):
        raise ConfigError(f"{what} must be an answer or a list of answers, not {expected!r}")


LIVE_DEFAULTS: Mapping[str, Any] = LiveSettings().keywords
"""What these settings are when they are not given."""


def check_alone(*owned: object, **keywords: Unpack[LiveArgs]) -> None:
    """Raise `ConfigError` when somebody who hands in a live scorer gives something that it has itself."""
    if keywords or any(thing is not None and thing != () for thing in owned):
        raise ConfigError(
            "a live scorer has its own metrics, models and settings: pass those, or live=..., not both"
        )
