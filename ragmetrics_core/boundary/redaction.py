"""Redaction of private texts with a user's `redact` function.

`redact` takes a text and returns it without its private parts. It must not change its own replacements,
because it may see a text twice.
"""

import json
import re
from collections.abc import Callable
from typing import cast

from ragmetrics_core.errors import ConfigError

__all__ = ["Redact", "Renamed", "redacted", "redacted_reply"]

Redact = Callable[[str], str]

# To the closing quote or, where there is none, to the end: so that no text makes the search slow.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def redacted(redact: Redact, text: str) -> str:
    """Apply `redact` to a text.

    Raises:
        ConfigError: `redact` raised an error or did not return text. Its message is not repeated, because it
            may contain the text.
    """
    try:
        found = cast("object", redact(text))
    except Exception as error:  # the boundary to the user's code, which may raise anything
        problem = f"raised {type(error).__name__}"
    else:
        if isinstance(found, str):
            return found
        problem = f"returned {type(found).__name__}, not text"
    # outside the handler: the error must not carry the one that may hold the text
    raise ConfigError(f"redact {problem}")


def redacted_reply(redact: Redact, text: str) -> str:
    r"""Apply `redact` to a model's reply, including text behind JSON escapes.

    >>> redacted_reply(lambda text: text.replace("Ann", "[name]"), '{"reason": "\\u0041nn said so"}')
    '{"reason": "[name] said so"}'

    Raises:
        ConfigError: `redact` raised an error or did not return text.
    """
    text = redacted(redact, text)
    if "\\" not in text:
        return text
    text = _STRING.sub(lambda found: _redacted_string(redact, found[0]), text)
    plain = _ESCAPE.sub(_unescaped, text)
    without = redacted(redact, plain)
    # not in a string as JSON has it: then it need not stay JSON, but it must go
    return text if without == plain else without


def _redacted_string(redact: Redact, written: str) -> str:
    if "\\" not in written:
        return written
    try:
        value = json.loads(written, strict=False)
    except ValueError:
        return written
    without = redacted(redact, value)
    return written if without == value else json.dumps(without, ensure_ascii=False)


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[2])


class Renamed:
    """Redacts names so that equal ones stay equal and different ones stay different.

    >>> renamed = Renamed(lambda text: "[name]" if text in {"Ann", "Bob"} else text)
    >>> [renamed.of(name) for name in ["Ann", "tea", "Bob", "Ann"]]
    ['[name]', 'tea', '[name] 2', '[name]']
    """

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._names: dict[str, str] = {}
        self._used: set[str] = set()

    def of(self, name: str) -> str:
        """The redacted name.

        Raises:
            ConfigError: `redact` raised an error or did not return text.
        """
        if name not in self._names:
            without = renamed = redacted(self._redact, name)
            number = 1
            while renamed in self._used:
                number += 1
                renamed = f"{without} {number}"
            self._names[name] = renamed
            self._used.add(renamed)
        return self._names[name]
