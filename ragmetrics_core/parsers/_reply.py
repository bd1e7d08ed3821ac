"""What a reply is taken apart into before its form is looked at: reasoning, one JSON object, lines."""

import json
import re
from collections.abc import Iterator
from typing import Final, NoReturn

from ragmetrics_core.shapes import Json

__all__ = ["LONGEST", "NotRead", "bodies", "json_object", "lines_of", "without_reasoning"]

LONGEST: Final = 200_000
"""Characters of the longest reply that is read."""

# No answer has more fields in one object, or more characters in lines of text; to look at them costs time.
_MOST_FIELDS: Final = 100
_LONGEST_LINES: Final = 40_000

# How models mark what they think aloud before they reply.
_BLOCKS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)


_OPENING = re.compile(r"[\[{]")


class NotRead(ValueError):
    """A reply is not of the form that was asked for; the message says why, as the judge is told it."""


def without_reasoning(text: str) -> str:
    """The text behind the reasoning block that it begins with; nothing where that block does not end.

    >>> without_reasoning("<think>Paris, I believe.</think>It is Paris.")
    'It is Paris.'
    >>> without_reasoning("Write <think> before and </think> behind it.")
    'Write <think> before and </think> behind it.'
    """
    start = text.lstrip()
    for opening, closing in _BLOCKS:
        if start.startswith(opening):
            return start.partition(closing)[2].lstrip()
    return text


def bodies(text: str) -> Iterator[str]:
    """The text without its reasoning; then, where only the end of a block stands in it, what is behind that.

    Some servers put the tag that opens the reasoning into the prompt. No quoted document ends a block: the
    judge is shown no such tag (`Prompt.render`).
    """
    yield without_reasoning(text).strip()
    for opening, closing in _BLOCKS:
        if closing.startswith("<") and text.count(closing) == 1 and opening not in text:
            yield text.partition(closing)[2].strip()


def json_object(body: str, *, is_last: bool = True) -> dict[str, Json]:
    """The one JSON object of a text: before it stands no bracket, behind it at most a closing fence.

    One deviation from JSON is read, for it changes no value: a control character, such as a line break,
    within a text.

    Args:
        body: the text.
        is_last: nothing may stand behind it.

    Raises:
        NotRead: there is no such object, or a name stands in it twice.
    """
    opening = _OPENING.search(body)
    if opening is None or "{" not in body:
        raise NotRead("it holds no JSON object")
    if opening[0] == "[":
        raise NotRead("a bracket stands before the JSON object")
    try:
        value, end = _DECODER.raw_decode(body, opening.start())
    except json.JSONDecodeError as error:
        raise NotRead(f"it holds no whole JSON object: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise NotRead("its JSON is nested too deeply") from None
    if is_last and body[end:].strip() not in {"", "```"}:
        raise NotRead("something stands behind the first JSON object")
    found: dict[str, Json] = value
    return found


def lines_of(body: str) -> list[str]:
    """The lines that are not blank, without the space around them.

    Raises:
        NotRead: there is more text than any answer has.
    """
    if len(body) > _LONGEST_LINES:
        raise NotRead(f"it has more than {_LONGEST_LINES:,} characters")
    return [line for line in map(str.strip, body.split("\n")) if line]


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(pairs) > _MOST_FIELDS:
        raise NotRead(f"an object in it has more than {_MOST_FIELDS} fields")
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise NotRead(f'"{twice[:80]}" stands twice in one object')
    return value


def _refuse(constant: str) -> NoReturn:
    raise NotRead(f"{constant} is no number")


def _integer(digits: str) -> int:
    """An integer; one of so many digits that no number here has them is refused."""
    if len(digits) > 20:
        raise NotRead("it holds a number of more than 20 digits")
    return int(digits)


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique, parse_constant=_refuse, parse_int=_integer
)
