"""Settings of a judge as a command line gives them: `temperature=none`, `seed=7`."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._secrets import secrets_in
from ragmetrics_core.shapes import Json

__all__ = ["TIMEOUT", "read_options"]

TIMEOUT: Final = "timeout"
"""The one option that is no setting of the judge, but of who asks it; it changes no reply."""

_NONE = "none"


def read_options(texts: Sequence[str]) -> dict[str, Any]:
    """The options by name, each of its type; `none` is None: the parameter is not sent.

    Raises:
        ConfigError: one is not NAME=VALUE, has a name that no judge knows, is there twice, or its value is of
            another type, or holds a key.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise ConfigError(f"a judge's option is NAME=VALUE, such as temperature=none, not {text!r}")
        if name not in _READERS:
            raise ConfigError(
                f"no judge has an option {name!r}; the options are {', '.join(sorted(_READERS))}"
            )
        if name in options:
            raise ConfigError(f"the judge's option {name} is given twice")
        kind, reader = _READERS[name]
        try:
            options[name] = None if value.casefold() == _NONE else reader(value)
        except (ValueError, RecursionError):
            raise ConfigError(f"the judge's option {name} takes {kind} or none, not {value!r}") from None
        if secrets_in({name: options[name]}):
            raise ConfigError(
                f"the judge's option {name} holds a key, and everybody on the machine sees the words of a "
                "command: set OPENAI_API_KEY, or make the judge in Python"
            )
    if (limit := options.get(TIMEOUT)) is not None and limit <= 0:
        raise ConfigError(f"the judge's option timeout takes seconds above 0 or none, not {limit:g}")
    return options


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _whole(text: str) -> int:
    if len(text) > 20:
        raise ValueError(text)
    return int(text)


def _truth(text: str) -> bool:
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.casefold() not in known:
        raise ValueError(text)
    return known[text.casefold()]


def _object(text: str) -> dict[str, Any]:
    value: Json = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(text)
    return dict(value)


_READERS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "context": ("a whole number", _whole),
    "extra_body": ("a JSON object", _object),
    "json_schema": ("true, false", _truth),
    "max_tokens": ("a whole number", _whole),
    "response_format": ("text, json_object, json_schema", str),
    "seed": ("a whole number", _whole),
    "temperature": ("a number", _number),
    "threads": ("a whole number", _whole),
    TIMEOUT: ("a number of seconds", _number),
}
