"""How a model is asked, as settings."""

from dataclasses import dataclass, replace
from typing import Self, TypedDict, Unpack

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import checked, names_in, refuse_unknown

__all__ = ["Traffic", "TrafficArgs"]


class TrafficArgs(TypedDict, total=False):
    """The settings of `Traffic` as keywords, as every door takes them: `evaluate(..., concurrency=64)`."""

    concurrency: int
    """How many calls of a model may be in flight.

    It goes down by itself while the server asks to slow down.
    """

    timeout: float | None
    """Seconds for one call, not counting the time that it waits for its turn; None for no limit."""

    attempts: int
    """How often a call is made at most when it fails for reasons that may pass.

    A judge that is a `Line` already keeps its own number.
    """

    form_attempts: int
    """How often a reply is asked for at most, until it is in the form that was asked for.

    It is one conversation, in which the judge is told why its reply could not be read; 1 asks once.
    """

    requests_per_minute: float | None
    """How many requests the judge's server allows in a minute; None for no limit."""

    tokens_per_minute: float | None
    """How many tokens the judge's server allows in a minute, of prompt and completion; None for no limit."""


@checked
@dataclass(frozen=True, kw_only=True)
class Traffic:
    """How a model is asked: `evaluate(..., traffic=Traffic(concurrency=64, timeout=30))`.

    Every door that asks models takes one, or the same settings as keywords; `TrafficArgs` says what each of
    them means.

    Attributes:
        concurrency, timeout, attempts, form_attempts: see `TrafficArgs`.
        requests_per_minute, tokens_per_minute: see `TrafficArgs`.
        first_delay: seconds before the second attempt, at most.
        longest_delay: seconds between two attempts, at most, when the server did not ask for more.
        patience: seconds from the first failure to the start of the last attempt, at most. Time in which an
            attempt waits for its turn does not count.

    Raises:
        ConfigError: a setting cannot be used.
    """

    concurrency: int = 16
    timeout: float | None = 120.0
    attempts: int = 4
    form_attempts: int = 2
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    first_delay: float = 0.5
    longest_delay: float = 30.0
    patience: float = 300.0

    def __post_init__(self) -> None:
        for name in ("concurrency", "attempts", "form_attempts"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigError(f"timeout must be above 0 seconds, or None, not {self.timeout:g}")
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name} must be above 0, or None for no limit, not {value}")
        for name in ("first_delay", "longest_delay", "patience"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} must not be negative, not {getattr(self, name)}")

    def but(self, **settings: Unpack[TrafficArgs]) -> Self:
        """The same with these settings in place of its own.

        Raises:
            ConfigError: one cannot be used.
            TypeError: there is none of such a name.
        """
        refuse_unknown(settings, *names_in(TrafficArgs))
        return replace(self, **settings)

    @property
    def keywords(self) -> TrafficArgs:
        """Its settings as keywords."""
        return {name: getattr(self, name) for name in names_in(TrafficArgs)}  # type: ignore[return-value]
