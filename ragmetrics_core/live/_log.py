"""Messages for the log and the statistics: one line, without keys and without text that `redact` removes."""

import re
import traceback

from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.texts.wording import visible

__all__ = ["described", "discreet", "one_line", "traced"]

# Escape sequences would act on whoever looks at the log, and a line break would begin a line of its own.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# What is longer fills a log, and hides the lines around it.
_LONGEST = 2000


def one_line(text: str) -> str:
    r"""The text as one short line that cannot forge log lines or control a terminal.

    >>> one_line("first\n2024 ERROR\x1b[31m forged \u202e")
    'first 2024 ERROR [31m forged \ufffd'
    """
    line = visible(_CONTROLS.sub(" ", text[: 2 * _LONGEST]).strip())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def discreet(words: str, redact: Redact | None, *holders: object) -> str:
    """The redacted message of an error, without keys.

    The message may come from a model, a sink or the application's code. Keys are those of the environment and
    those found in the holders.
    """
    try:
        return Redactor(holders, redact).words(words)
    except ConfigError as error:
        return str(error)


def described(error: BaseException) -> str:
    """The error in one line; works even for an error that cannot be printed."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # the boundary to foreign code: `__str__` of an error may raise anything
        return type(error).__name__


def traced(error: BaseException) -> str:
    """The error with its traceback; "" for one that cannot be printed."""
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # the boundary to foreign code: `__str__` of an error may raise anything
        return ""
