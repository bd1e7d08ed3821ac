"""Text from data, fit for a page: what could mislead a reader is shown, what is too long is cut."""

import json
import re
from typing import Any, NamedTuple

__all__ = ["Cut", "as_json", "cut", "one_line", "units", "visible"]

# Controls that are no line break, direction overrides (they make text read other than it is), and halves of
# characters, which have no UTF-8 form. Every one is replaced by one character, so that places stay valid.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BLANK = frozenset("\r\u2028\u2029")


class Cut(NamedTuple):
    """The first part of a text, and how many characters are left out."""

    text: str
    left_out: int


def visible(text: str) -> str:
    r"""The text with each character that a page hides, or that turns the reading order, shown as another.

    Its length stays the same, so that places in the text stay valid; line breaks and tabs stay.

    >>> visible("a\x00b\u202ec")
    'a␀b�c'
    """
    return _UNSAFE.sub(_shown, text)


def one_line(text: object, limit: int = 200) -> str:
    r"""A name or a short text: without line breaks, and cut with an ellipsis.

    >>> one_line("a\nlong name", 6)
    'a long…'
    """
    words = " ".join(str(text)[: 4 * limit].split())
    return visible(words if len(words) <= limit else f"{words[:limit]}…")


def cut(text: str, limit: int) -> Cut:
    """The text as far as the report shows it."""
    return Cut(visible(text[:limit]), max(0, len(text) - limit))


def units(text: str, position: int) -> int:
    """A place in a text as a browser counts it: characters beyond the basic plane take two units."""
    before = text[:position]
    return len(before) + sum(char > "\uffff" for char in before)


def as_json(value: Any) -> bytes:
    """Plain data as compact JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _shown(found: re.Match[str]) -> str:
    char = found[0]
    if char in _BLANK:
        return " "
    if char < " ":
        return chr(0x2400 + ord(char))
    return "␡" if char == "\x7f" else "\N{REPLACEMENT CHARACTER}"
