"""Custom metrics, and functions or patterns that redact, from the command line."""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.metrics.catalogue import split_names, with_settings
from ragmetrics_core.metrics.metric import is_metric, is_metric_class
from ragmetrics_core.runs import Run

__all__ = ["OWN_METRIC", "open_run", "own_metric", "redact_of"]

MARK = "[redacted]"
"""Replacement for matches of a regular expression."""

# The text around a mark may match in turn; more rounds than this are never needed.
_ROUNDS = 20
_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
OWN_METRIC = re.compile(rf"(?P<own>{_OWN.pattern})(?:\((?P<settings>.*)\))?", re.DOTALL)


def open_run(folder: Path, metrics: str | None = None) -> Run:
    """The run of a folder, with the custom metrics that `metrics` names.

    Raises:
        ConfigError: there is no run, or a metric cannot be imported.
    """
    return Run.load(folder, metrics=[own_metric(name) for name in split_names(metrics or "")])


def own_metric(name: str) -> Metric[Any]:
    """A custom metric from a user's module: `module:name` or `module:Class(setting=value)`.

    Raises:
        ConfigError: there is no such module, the object is not a metric, or it does not take these settings.
    """
    written = OWN_METRIC.fullmatch(name)
    if written is None:
        raise ConfigError(f"a custom metric is MODULE:NAME or MODULE:CLASS(setting=value), not {name!r}")
    found = _own(written["own"], f"metric {name!r}")
    if is_metric_class(found):
        try:
            return with_settings(found, written["settings"]) if written["settings"] else found()
        except TypeError as error:  # a setting without a default
            raise ConfigError(
                f"{name!r} cannot be created, because every setting needs a default: {error}"
            ) from error
    if not is_metric(found):
        raise ConfigError(f"{name!r} is a {type(found).__name__}, not a metric")
    if written["settings"]:
        raise ConfigError(f"{name!r} already has its settings: name its class to choose others")
    return found


def redact_of(given: Sequence[str] | None) -> Redact | None:
    """The function that applies all patterns and functions in order; None if there are none.

    Raises:
        ConfigError: a text is not a valid regular expression, matches its own mark, or names no function.
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
        raise ConfigError("--redact does not end: its output matches again and again")

    return redact


def _pattern(given: str) -> Redact:
    try:
        pattern = re.compile(given)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"--redact takes a regular expression, not {given!r}: {error}") from None
    if any(found[0] for found in pattern.finditer(MARK)):
        raise ConfigError(f"--redact {given!r} matches its own replacement, {MARK}: make it narrower")
    # an empty match has nothing to remove
    return lambda text: pattern.sub(lambda found: MARK if found[0] else "", text)


def _function(given: str) -> Redact:
    hint = f". To use it as a regular expression, write (?:{given})"
    found = _own(given, f"function {given!r} for --redact", hint)
    if not callable(found):
        raise ConfigError(f"--redact {given!r} is a {type(found).__name__}, not a function")
    return cast("Redact", found)


def _own(name: str, what: str, hint: str = "") -> Any:
    """The object `module:name`, also from the working folder."""
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ConfigError(f"there is no {what}: {error}{hint}") from error
