"""`--redact`: what is private, as regular expressions or functions of one's own."""

import re
from collections.abc import Callable, Sequence
from typing import Annotated, cast

import typer

from ragmetrics_core.cli._arguments import OWN, own
from ragmetrics_core.cli._grouped import MEASURED
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.redaction import Redact

__all__ = ["MARK", "Redactions", "redact_of"]

MARK = "[redacted]"
"""What stands in place of what a regular expression finds."""

# What is left beside a mark may be found in turn; nobody needs more rounds than this.
_ROUNDS = 20

Redactions = Annotated[
    list[str] | None,
    typer.Option(
        "--redact",
        metavar="PATTERN",
        help="Put [redacted] in place of what this regular expression finds, before anything is asked or "
        "written; or MODULE:FUNCTION, from text to text. May be given several times.",
        rich_help_panel=MEASURED,
    ),
]


def redact_of(given: Sequence[str] | None) -> Redact | None:
    """The function that applies all that was given, in order; None where nothing was.

    Raises:
        ConfigError: a text is no regular expression, one that would find its own mark, or names no function.
    """
    if not given:
        return None
    steps = [_function(each) if OWN.fullmatch(each) else _pattern(each) for each in given]

    def redact(text: str) -> str:
        for _ in range(_ROUNDS):
            before = text
            for step in steps:
                text = step(text)
            if text == before:
                return text
        raise ConfigError("what --redact leaves is found again and again")

    return redact


def _pattern(given: str) -> Redact:
    try:
        pattern = re.compile(given)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"--redact {given!r} is no regular expression: {error}") from None
    if any(found[0] for found in pattern.finditer(MARK)):
        raise ConfigError(
            f"--redact {given!r} would find {MARK}, which is put in place of what it finds; make it narrower"
        )
    # where it finds nothing but a place between two characters there is nothing to take out
    return lambda text: pattern.sub(lambda found: MARK if found[0] else "", text)


def _function(given: str) -> Redact:
    try:
        found = own(given)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ConfigError(
            f"there is no function {given!r} for --redact: {error}. A regular expression that reads so is "
            f"written (?:{given})"
        ) from error
    if not callable(found):
        raise ConfigError(f"--redact {given!r} is no function, but a {type(found).__name__}")
    return cast("Callable[[str], str]", found)
