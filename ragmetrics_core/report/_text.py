"""Text from data, fit for a page: misleading characters become visible, long texts are cut."""

from typing import Any, NamedTuple

from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.texts.wording import visible

__all__ = ["Cut", "cut", "fit_to_show", "flat", "one_line", "words"]

LONG_WORDS = 2_000


class Cut(NamedTuple):
    """The first part of a text, and the number of characters left out."""

    text: str
    left_out: int


def flat(text: object) -> str:
    """Text from the data for use within a line: line breaks and runs of spaces become one space."""
    return " ".join(visible(str(text)).split())


def one_line(text: object, limit: int = 200) -> str:
    r"""A name or a short text: without line breaks, and cut with an ellipsis.

    >>> one_line("a\nlong name", 6)
    'a long…'
    """
    words = " ".join(str(text)[: 4 * limit].split())
    return visible(words if len(words) <= limit else f"{words[:limit]}…")


def fit_to_show(value: object, limit: int = 300) -> Any:
    """Plain data in which every text, including names, is a short line."""
    if isinstance(value, str):
        return one_line(value, limit)
    if is_mapping(value):
        return {fit_to_show(name, limit): fit_to_show(each, limit) for name, each in value.items()}
    return [fit_to_show(each, limit) for each in value] if is_series(value) else value


def words(text: str) -> str:
    """A statement, reason or message, cut for a page."""
    return visible(text if len(text) <= LONG_WORDS else f"{text[:LONG_WORDS]}… ({len(text):,} characters)")


def cut(text: str, limit: int) -> Cut:
    """The text, cut for a page."""
    return Cut(visible(text[:limit]), max(0, len(text) - limit))
