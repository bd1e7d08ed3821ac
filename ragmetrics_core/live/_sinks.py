"""Receivers of results: memory, a log, any function."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult, released
from ragmetrics_core.live._log import one_line
from ragmetrics_core.records import FAILED

__all__ = ["CallableSink", "Direct", "LoggingSink", "MemorySink", "Sink"]


@runtime_checkable
class Sink(Protocol):
    """A receiver of results, called in order in a scorer's thread; its errors are logged."""

    def write(self, result: LiveResult) -> None:
        """Write a result."""
        ...

    def flush(self) -> None:
        """Write out buffered results."""
        ...

    def close(self) -> None:
        """Close files and connections; a later `write` may open them again."""
        ...


class Direct:
    """A sink without a buffer."""

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing: the sink does not own its target."""


class MemorySink(Direct):
    """Keep the newest results, without the host's objects.

    Args:
        limit: maximum number of results.

    Raises:
        ConfigError: the limit is less than 1.
    """

    def __init__(self, limit: int = 1000) -> None:
        if limit < 1:
            raise ConfigError(f"limit must be at least 1, not {limit}")
        self._results: deque[LiveResult] = deque(maxlen=limit)

    @property
    def results(self) -> list[LiveResult]:
        """The results, oldest first."""
        return list(self._results)

    def clear(self) -> None:
        """Remove all results."""
        self._results.clear()

    def write(self, result: LiveResult) -> None:
        """Add a result; remove the oldest beyond the limit."""
        self._results.append(result._replace(capture=released(result.capture)))


class LoggingSink(Direct):
    """Write a log line for each score: id, metric and outcome, but no text of the sample.

    Scores are logged at INFO, failed ones at WARNING.

    Args:
        logger: the logger. Default: "ragmetrics.live".
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger or logging.getLogger("ragmetrics.live")

    def write(self, result: LiveResult) -> None:
        """Log the result's scores."""
        for record in result.records:
            level = logging.WARNING if record.status in FAILED else logging.INFO
            line = f"{result.capture.name or 'app'} {record.sample_id}: {record.signature}: {record.headline}"
            self._logger.log(level, "%s", one_line(line))


class CallableSink(Direct):
    """Call a function with each result.

    Args:
        function: takes the result; its return value is ignored.
    """

    def __init__(self, function: Callable[[LiveResult], object]) -> None:
        self._function = function

    def write(self, result: LiveResult) -> None:
        """Call the function."""
        self._function(result)
