"""Receivers of scores, and the errors of their clients."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Protocol

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.records import SentScore

__all__ = ["Receiver", "Refused", "Unreachable", "client_of", "failure_of"]

# Requests that may succeed later; any other status from 400 on is about the scores themselves.
_LATER = {401, 403, 407, 408, 425, 429}


class Refused(Exception):
    """The tool refuses these scores, such as those of a span that it does not have."""


class Unreachable(Exception):
    """The tool takes no scores at the moment, or not with this key."""


class Receiver(Protocol):
    """A tool that takes scores.

    Sending a score again replaces it.
    """

    @property
    def name(self) -> str:
        """The tool's name."""
        ...

    def problem_with(self, score: SentScore) -> str | None:
        """The reason to leave a score out; None if the tool can take it."""
        ...

    def send(self, scores: Sequence[SentScore]) -> None:
        """Send scores, and return when the tool has accepted them.

        Raises:
            Exception: an error of the tool's client.
        """
        ...


@contextmanager
def client_of(extra: str) -> Generator[None]:
    """Import a tool's client in this context.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"sending scores to {extra} needs its client: pip install 'ragmetrics-core[{extra}]'"
        ) from error


def failure_of(error: Exception) -> Refused | Unreachable:
    """A client's error, in words that hold neither a key nor a text of the tool."""
    if isinstance(error, Refused | Unreachable):
        return error
    status = _status_of(error)
    code = getattr(error, "error_code", None)
    what = f"HTTP {status}" if status else code if isinstance(code, str) else type(error).__name__
    is_invalid = status is None and isinstance(error, TypeError | ValueError)
    if not is_invalid and (status is None or status in _LATER or status >= 500):
        return Unreachable(what)
    return Refused(what)


def _status_of(error: Exception) -> int | None:
    """The HTTP status of a client's error; each client keeps it in another place."""
    found = getattr(getattr(error, "response", None), "status_code", None)
    found = found or getattr(error, "status_code", None)
    if callable(of_mlflow := getattr(error, "get_http_status_code", None)):
        found = of_mlflow()
    by_name = {"LangSmithNotFoundError": 404, "LangSmithAuthError": 401, "LangSmithRateLimitError": 429}
    found = found or by_name.get(type(error).__name__)
    return found if isinstance(found, int) else None
