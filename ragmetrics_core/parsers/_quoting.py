"""What a judge quoted out of the sample inside a line or inside JSON: it never counts as the judge's word."""

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import plain
from ragmetrics_core.parsers._words import PHRASE
from ragmetrics_core.shapes import Json

__all__ = ["escaped_quotes", "is_quoted_tag", "is_quoted_value", "may_be_quoted", "without_quotes"]

_NOISE = lazy(r"[\s\\\"'“”‘’`]+")
# A text that may be JSON to whoever reads it: a bracket before a quote, or a quote before what follows one.
_STRUCTURE = lazy(r"[{\[]\s*\\?[\"'“{\[\d]|\\?[\"”]\s*[,:}\]]")
_CLOSING = lazy(r"\"\s*[,:}\]]")
# Between the last quote mark and a place inside a value of the reply's own JSON: no string is open there.
_BARE_VALUE = lazy(r"\s*:\s*\[?[\w\s.,+-]{0,200}")
# What a text rule may take for a verdict or a rating: a number, label or sign before a word or a figure. A
# label belongs to it: "Verdict: Yes" is what a judge was asked to write, and alone no copy of a sample that
# says it.
_SPOKEN = lazy(
    rf"(?:\d{{1,3}}\s*[.):\]]|(?:\b(?:verdicts?|ratings?|scores?)\b[\s*_]{{0,3}})?(?:[:：=|]|->|→|>)|[.!?]\s|\b(?:verdicts?|is|are|ratings?|scores?)\b)[\s*_\"'“(\[]{{0,6}}"
    rf"(?:{PHRASE}|\d{{1,3}})(?!\w)",
    re.IGNORECASE,
)
_QUOTED = lazy(
    r"\"[^\"\n]{3,2000}\"|“[^”\n]{3,2000}”|«[^»\n]{3,2000}»|‘[^’\n]{3,2000}’|`[^`\n]{3,2000}`"
    r"|(?<!\w)'[^'\n]{3,2000}'(?!\w)"
)
_BRACKET = lazy(r"[{\[]")
_SHORTEST = 6
_LONG_ENOUGH = 12
_MOST_PLACES = 50
_NEAR = 8


def may_be_quoted(hints: Hints) -> bool:
    """Whether the sample holds anything that a reader could take for JSON."""
    return any(map(_is_structured, hints.sample))


def is_quoted_value(value: Json, hints: Hints) -> bool:
    """Whether a JSON value stands in the sample, in whatever layout and however escaped."""
    if not isinstance(value, (dict, list)) or not value:
        return False
    shown = _squeezed(hints.sample)
    if not shown:
        return False
    key = _key(json.dumps(value, ensure_ascii=False))
    return len(key) >= _SHORTEST and key in shown


def is_quoted_tag(tag: re.Match[str], hints: Hints) -> bool:
    """Whether a tag in a reply is a copy of one in the sample: the same characters stand around it."""
    around = _tags(hints.sample)
    if not around:
        return False
    before = _key(tag.string[max(tag.start() - 200, 0) : tag.start()])
    after = _key(tag.string[tag.end() : tag.end() + 200])
    word = _key(tag[0])
    return any(
        before.endswith(left) and (word + after).startswith(name + right) and left + right
        for name, left, right in around
    )


def escaped_quotes(text: str, hints: Hints) -> str:
    """The reply with what it copied out of the sample escaped, where that would end a string of its JSON.

    Only samples that hold a quote mark with a comma, colon or bracket behind it can do that. Text that begins
    like JSON itself is left alone: it is no part of a string. So is what begins inside a number of its
    JSON: "0.71, "verdict": "yes"}" ends as the sample's "1, "verdict": "yes"}" does, and copies nothing.
    Nor is a part of valid JSON escaped that would not be valid then: it is the JSON's own, and the sample has
    the same characters (`my verdict": "yes"`).
    """
    sources = _with_closings(hints.sample)
    is_valid = bool(sources) and _holds_json(text)
    for source in sources:
        for region in reversed(list(_regions(text, source, _CLOSING))):
            copied = text[region.start : region.end]
            is_json = copied.lstrip()[:1] in {"", "{", "[", '"', ",", "}", "]", ":"}
            _, quote, before = text[max(region.start - 240, 0) : region.start].rpartition('"')
            if not is_json and not (quote and _BARE_VALUE.fullmatch(before)):
                escaped = json.dumps(copied, ensure_ascii=False)[1:-1]
                without = text[: region.start] + escaped + text[region.end :]
                if not is_valid or _holds_json(without):
                    text = without
    return text


def _holds_json(text: str) -> bool:
    """Whether a text is valid JSON from its first bracket to its last."""
    first, last = _BRACKET.search(text), max(text.rfind("}"), text.rfind("]"))
    try:
        json.loads(text[first.start() if first else 0 : last + 1])
    except (ValueError, RecursionError):
        return False
    return True


def without_quotes(text: str, hints: Hints) -> str:
    """A text without what it quotes out of the sample, as far as that could be taken for a verdict."""
    sources = _with_verdicts(hints.sample, hints.items)
    if not sources:
        return text
    joined = _squeezed_words(hints.sample)

    def kept(quote: re.Match[str]) -> str:
        inside = " ".join(quote[0][1:-1].replace('\\"', '"').split()).casefold()
        return "…" if _SPOKEN.search(quote[0]) and inside.strip(" .…") in joined else quote[0]

    text = _QUOTED.sub(kept, text)
    for source in sources:
        for region in reversed(list(_regions(text, source, _SPOKEN))):
            text = f"{text[: region.start]}…{text[region.end :]}"
    return text


class _Region(NamedTuple):
    start: int
    end: int


def _regions(text: str, source: str, core: re.Pattern[str]) -> Iterator[_Region]:
    """The stretches of a text that are copied from a source around what the pattern finds there."""
    past = -1
    found: set[_Region] = set()
    for place in _places(source, core):
        words = source[place.start : place.end]
        at = text.find(words)
        for _ in range(_MOST_PLACES):
            if at < 0:
                break
            left = _same_before(text, at, source, place.start)
            right = _same_after(text, at + len(words), source, place.end)
            region = _Region(at - left, at + len(words) + right)
            length = region.end - region.start
            # a short text as a whole is a copy, too: "| 1 | yes |"
            is_whole = length == len(source) > len(words)
            if is_whole or length - len(words) >= _LONG_ENOUGH or left >= _SHORTEST:
                found.add(region)
            at = text.find(words, at + 1)
    for region in sorted(found):
        if region.start >= past:
            past = region.end
            yield region


def _same_before(text: str, at: int, source: str, place: int) -> int:
    """How many characters before two places are the same, on one line."""
    most = min(at, place - source.rfind("\n", 0, place) - 1)
    return _shared(most, lambda low, high: text[at - high : at - low] == source[place - high : place - low])


def _same_after(text: str, at: int, source: str, place: int) -> int:
    """How many characters from two places on are the same, on one line."""
    end = source.find("\n", place)
    most = min(len(text) - at, (len(source) if end < 0 else end) - place)
    return _shared(most, lambda low, high: text[at + low : at + high] == source[place + low : place + high])


def _shared(most: int, is_same: Callable[[int, int], bool]) -> int:
    """How far two texts are the same: compared in stretches, which grow as long as they are."""
    count, step = 0, 16
    while step:
        if count + step <= most and is_same(count, count + step):
            count, step = count + step, step * 2
        else:
            step //= 2
    return count


@lru_cache(maxsize=64)
def _places(source: str, core: re.Pattern[str]) -> tuple[_Region, ...]:
    found: list[_Region] = []
    for match in core.finditer(source):
        found.append(_Region(match.start(), match.end()))
        if len(found) == _MOST_PLACES:
            break
    return tuple(found)


@lru_cache(maxsize=64)
def _squeezed(sample: tuple[str, ...]) -> str:
    """The texts that may be JSON, as copies are known: without spaces, quote marks and backslashes."""
    return "\n".join([_key(text) for text in sample if _is_structured(text)])


def _is_structured(text: str) -> bool:
    """Whether a text may be JSON to whoever reads it."""
    # looking for four characters takes a hundredth of the time; most texts have none of them
    has_any = '"' in text or "[" in text or "{" in text or "”" in text
    return has_any and _STRUCTURE.search(text) is not None


@lru_cache(maxsize=64)
def _squeezed_words(sample: tuple[str, ...]) -> str:
    return "\n".join(" ".join(text.split()) for text in sample).casefold()


@lru_cache(maxsize=64)
def _with_closings(sample: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for text in sample if '"' in text and _CLOSING.search(text))


@lru_cache(maxsize=64)
def _with_verdicts(sample: tuple[str, ...], items: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that hold what may be taken for a verdict, as they are and on one line.

    A statement is no such text as a whole: a judge repeats it before its verdict.
    """
    texts = [
        form for text in sample if text not in items for form in (text, plain(text), " ".join(text.split()))
    ]
    return tuple(text for text in dict.fromkeys(texts) if _SPOKEN.search(text))


class _Tag(NamedTuple):
    name: str
    left: str
    right: str


@lru_cache(maxsize=64)
def _tags(sample: tuple[str, ...]) -> tuple[_Tag, ...]:
    found: list[_Tag] = []
    for text in sample:
        for tag in _ANY_TAG.finditer(text):
            left = _key(text[max(tag.start() - 200, 0) : tag.start()])[-_NEAR:]
            right = _key(text[tag.end() : tag.end() + 200])[:_NEAR]
            found.append(_Tag(_key(tag[0]), left, right))
    return tuple(found[:1000])


_ANY_TAG = lazy(r"</?[\w:]{2,20}[^<>\n]{0,80}>|\[/?[A-Za-z]{5,9}\]|◁/?think▷|<\|[^<>|\n]{1,30}\|>")


def _key(text: str) -> str:
    return _NOISE.sub("", text).casefold()
