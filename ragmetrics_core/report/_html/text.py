"""Text from data, fit for a page: what could mislead a reader is shown, what is too long is cut."""

import json
from typing import Any, NamedTuple

from ragmetrics_core.wording import visible

__all__ = ["Cut", "as_json", "cut", "one_line", "units"]


class Cut(NamedTuple):
    """The first part of a text, and how many characters are left out."""

    text: str
    left_out: int


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
