"""What a user has of their own for the command line: metrics, and functions or patterns that redact."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.metrics._catalogue import split_names, with_settings
from ragmetrics_core.metrics._metric import is_metric, is_metric_class
from ragmetrics_core.redaction import Redact
from ragmetrics_core.runs import Run

__all__ = ["OWN_METRIC", "open_run", "own_metric", "redact_of"]

MARK = "[redacted]"
"""What stands in place of what a regular expression finds."""

# What is left beside a mark may be found in turn; nobody needs more rounds than this.
_ROUNDS = 20
_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
OWN_METRIC = re.compile(rf"(?P<own>{_OWN.pattern})(?:\((?P<settings>.*)\))?", re.DOTALL)


def open_run(folder: Path, metrics: str | None = None) -> Run:
    """The run of a folder, with the user's metrics that `metrics` names.

    Raises:
        ConfigError: there is no run, or no such metric.
    """
    return Run.load(folder, metrics=[own_metric(name) for name in split_names(metrics or "")])


def own_metric(name: str) -> Metric[Any]:
    """The metric that a module of the user has: `module:name`, or `module:Class(setting=value)`.

    Raises:
        ConfigError: there is no such module, what it has there is no metric, or takes no such settings.
    """
    written = OWN_METRIC.fullmatch(name)
    if written is None:
        raise ConfigError(
            f"{name!r} is no metric of your own: write MODULE:NAME or MODULE:CLASS(setting=value)"
        )
    found = _own(written["own"], f"metric {name!r}")
    if is_metric_class(found):
        try:
            return with_settings(found, written["settings"]) if written["settings"] else found()
        except TypeError as error:  # a setting without a default
            raise ConfigError(
                f"{name!r} cannot be made, for every setting needs a default: {error}"
            ) from error
    if not is_metric(found):
        raise ConfigError(f"{name!r} is no metric, but a {type(found).__name__}")
    if written["settings"]:
        raise ConfigError(f"{name!r} is a metric with its settings already: name its class to choose others")
    return found


def redact_of(given: Sequence[str] | None) -> Redact | None:
    """The function that applies all that was given, in order; None where nothing was.

    Raises:
        ConfigError: a text is no regular expression, one that would find its own mark, or names no function.
    """
    if not given:
        return None
    steps = [_function(text) if _OWN.fullmatch(text) else _pattern(text) for text in given]

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
    hint = f". A regular expression that reads so is written (?:{given})"
    found = _own(given, f"function {given!r} for --redact", hint)
    if not callable(found):
        raise ConfigError(f"--redact {given!r} is no function, but a {type(found).__name__}")
    return cast("Redact", found)


def _own(name: str, what: str, hint: str = "") -> Any:
    """What a module of the user has, by `module:name`; the working folder is looked in too."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ConfigError(f"there is no {what}: {error}{hint}") from error
