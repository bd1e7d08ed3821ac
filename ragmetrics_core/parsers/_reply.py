"""Split a raw reply into reasoning, one JSON object, or lines, before its form is checked."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from ragmetrics_core.boundary.shapes import Json

__all__ = [
    "LONGEST",
    "NotRead",
    "bodies",
    "first_object",
    "json_value",
    "lines_of",
    "shortly",
    "without_reasoning",
]

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
# Other such marks of judges. Prompts may show them in documents, so a block with two closings is not read.
_JUDGES_BLOCKS: Final = (
    *(
        (f"<{name}>", f"</{name}>")
        for name in ("seed:think", "analysis", "thoughts", "reflection", "scratchpad")
    ),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)

# What may enclose the JSON object: it holds nothing that could be another answer.
_FENCE: Final = re.compile(r"(?:```|~~~)[A-Za-z0-9]*\s*")
_FENCES: Final = ("```", "~~~")
_ANSWER_TAGS: Final = (
    *((f"<{name}>", f"</{name}>") for name in ("answer", "response", "output", "json")),
    ("<|begin_of_box|>", "<|end_of_box|>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
)
_TURN_ENDS: Final = (
    "<|im_end|>", "<|end|>", "<|return|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>",
    "<|endofturn|>", "<|END_OF_TURN_TOKEN|>", "<|user|>", "<end_of_turn>", "<turn|>", "<eos>", "</s>",
    "<｜end▁of▁sentence｜>", "[EOS]", "[|endofturn|]",
)  # fmt: skip
# How many of these may be nested.
_DEPTH: Final = 5
_BLANK: Final = " \t\r\n\ufeff\u200b"


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

    Some servers put the opening tag of the reasoning into the prompt. Quoted documents cannot end a block:
    `Prompt.render` shows the common tags to no judge, and the others count only in pairs.
    """
    start = text.lstrip(_BLANK).removeprefix("<|start|>assistant")
    for opening, closing in _JUDGES_BLOCKS:
        if start.startswith(opening):
            yield text.partition(closing)[2].strip() if text.count(closing) == 1 else ""
            return
    yield without_reasoning(text).strip()
    for opening, closing in _BLOCKS:
        if closing.startswith("<") and text.count(closing) == 1 and opening not in text:
            yield text.partition(closing)[2].strip()


def json_value(body: str) -> dict[str, Json] | list[Json]:
    """The JSON object or list that is the whole text, alone or enclosed by marks without content.

    Control characters within a text, such as line breaks, are accepted.

    Raises:
        NotRead: there is other text, or no such value, or a repeated name.
    """
    inner = body.strip(_BLANK)
    for _ in range(_DEPTH):
        if inner.startswith("{") and inner.endswith("}"):  # no mark ends like this
            break
        inner = _unwrapped(inner)
    before, brace, _ = inner.partition("{")
    if not inner.startswith(("{", "[")):
        raise NotRead(
            f"text stands before the JSON object: {shortly(before)}" if brace else "it holds no JSON object"
        )
    value, end = _decoded(inner)
    found: dict[str, Json] | list[Json] = value
    if behind := inner[end:].strip():
        raise NotRead(f"text stands behind the JSON object: {shortly(behind)}")
    return found


def first_object(text: str) -> dict[str, Json]:
    """The JSON object at the start of a text.

    Raises:
        NotRead: there is none.
    """
    if not text.startswith("{"):
        raise NotRead("it holds no JSON object")
    found: dict[str, Json] = _decoded(text)[0]
    return found


def shortly(text: str) -> str:
    """The beginning of a text, on one line, for an objection."""
    return " ".join(text[:200].split())[:80]


def _unwrapped(text: str) -> str:
    """The text without one layer of fence, answer tags and tokens that end a turn."""
    for token in _TURN_ENDS:
        text = text.removesuffix(token).rstrip(_BLANK)
    for opening, closing in _ANSWER_TAGS:
        if text.startswith(opening) and text.endswith(closing):
            text = text[len(opening) : -len(closing)].strip(_BLANK)
    for fence in _FENCES:
        text = text.removesuffix(fence).rstrip(_BLANK)
    return _FENCE.sub("", text, count=1) if text.startswith(_FENCES) else text


def _decoded(text: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        raise NotRead(f"it holds no whole JSON object: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise NotRead("its JSON is nested too deeply") from None


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
