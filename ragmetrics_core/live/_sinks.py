"""Where results go: memory, a log, any function."""

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
    """Takes results, one at a time, in a thread of the scorer's; an error is logged and counted there."""

    def write(self, result: LiveResult) -> None:
        """Take a result."""
        ...

    def flush(self) -> None:
        """Bring what was taken to where it belongs."""
        ...

    def close(self) -> None:
        """Let go of files and connections; a later `write` may open them again."""
        ...


class Direct:
    """A sink that brings results where they belong at once."""

    def flush(self) -> None:
        """There is nothing to do."""

    def close(self) -> None:
        """There is nothing to do: what is written to is somebody else's."""


class MemorySink(Direct):
    """Keeps the newest results, without the host's objects.

    Args:
        limit: how many.

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
        """Forget all of them."""
        self._results.clear()

    def write(self, result: LiveResult) -> None:
        """Keep it; the oldest one leaves."""
        self._results.append(result._replace(capture=released(result.capture)))


class LoggingSink(Direct):
    """Writes a line for each score: id, metric and outcome, no text of the sample.

    Scores are logged at INFO, failed ones at WARNING.

    Args:
        logger: where to; by default the logger "ragmetrics.live".
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger or logging.getLogger("ragmetrics.live")

    def write(self, result: LiveResult) -> None:
        """Log its scores."""
        for record in result.records:
            level = logging.WARNING if record.status in FAILED else logging.INFO
            line = f"{result.capture.name or 'app'} {record.sample_id}: {record.signature}: {record.headline}"
            self._logger.log(level, "%s", one_line(line))


class CallableSink(Direct):
    """Calls a function with each result.

    Args:
        function: takes the result; what it returns is ignored.
    """

    def __init__(self, function: Callable[[LiveResult], object]) -> None:
        self._function = function

    def write(self, result: LiveResult) -> None:
        """Call the function."""
        self._function(result)
