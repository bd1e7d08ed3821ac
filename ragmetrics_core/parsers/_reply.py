"""Split a raw reply into reasoning, one JSON object, or lines, before its form is checked."""

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
    """The reply does not have the requested form; the message is the objection shown to the judge."""


def without_reasoning(text: str) -> str:
    """The text after its initial reasoning block; empty if the block does not end.

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
    """The text without its reasoning; then, if it has only a closing tag, the text after that tag.

    Some servers put the opening tag of the reasoning into the prompt. Quoted documents cannot end a block,
    because `Prompt.render` shows no such tag to the judge.
    """
    yield without_reasoning(text).strip()
    for opening, closing in _BLOCKS:
        if closing.startswith("<") and text.count(closing) == 1 and opening not in text:
            yield text.partition(closing)[2].strip()


def json_object(body: str, *, is_last: bool = True) -> dict[str, Json]:
    """The single JSON object of a text, with no bracket before it and at most a closing fence after it.

    One harmless deviation from JSON is accepted: control characters within a text, such as line breaks.

    Args:
        body: the text.
        is_last: whether the object must end the text.

    Raises:
        NotRead: there is no such object, or it has a repeated name.
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
    """The stripped lines that are not blank.

    Raises:
        NotRead: the text is longer than any answer.
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
    """Parse an integer; reject one with too many digits."""
    if len(digits) > 20:
        raise NotRead("it holds a number of more than 20 digits")
    return int(digits)


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique, parse_constant=_refuse, parse_int=_integer
)
