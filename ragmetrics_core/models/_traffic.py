"""Settings for calls of a model: limits, time limits and retries."""

from dataclasses import dataclass, replace
from typing import Self, TypedDict, Unpack

from ragmetrics_core.boundary.keywords import checked, names_in, refuse_unknown
from ragmetrics_core.errors import ConfigError

__all__ = ["Traffic", "TrafficArgs"]


class TrafficArgs(TypedDict, total=False):
    """The settings of `Traffic` as keywords: `evaluate(..., concurrency=64)`."""

    concurrency: int
    """Maximum number of calls of a model in flight.

    Reduced automatically while the server asks to slow down.
    """

    timeout: float | None
    """Seconds for one call, without the wait for its turn; None means no limit."""

    attempts: int
    """Maximum number of attempts of a call that fails for a transient reason.

    A judge that is already a `Line` keeps its own setting.
    """

    form_attempts: int
    """Maximum number of times a reply is requested until it has the requested form.

    The same conversation tells the judge why its reply was rejected; 1 asks only once.
    """

    requests_per_minute: float | None
    """Requests that the judge's server allows per minute; None means no limit."""

    tokens_per_minute: float | None
    """Prompt and completion tokens that the judge's server allows per minute; None means no limit."""


@checked
@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Settings for calls of a model: `evaluate(..., traffic=Traffic(concurrency=64, timeout=30))`.

    Every function that calls models takes a `Traffic` or the same settings as keywords; `TrafficArgs`
    explains them.

    Attributes:
        concurrency, timeout, attempts, form_attempts: see `TrafficArgs`.
        requests_per_minute, tokens_per_minute: see `TrafficArgs`.
        first_delay: maximum seconds before the second attempt.
        longest_delay: maximum seconds between two attempts, unless the server asks for more.
        patience: maximum seconds from the first failure to the start of the last attempt, without waiting for
            a turn.

    Raises:
        ConfigError: a setting is invalid.
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

    def replacing(self, **settings: Unpack[TrafficArgs]) -> Self:
        """A copy with these settings replaced.

        Raises:
            ConfigError: a setting is invalid.
            TypeError: a setting does not exist.
        """
        refuse_unknown(settings, *names_in(TrafficArgs))
        return replace(self, **settings)

    @property
    def keywords(self) -> TrafficArgs:
        """The settings as keywords."""
        return {name: getattr(self, name) for name in names_in(TrafficArgs)}  # type: ignore[return-value]
