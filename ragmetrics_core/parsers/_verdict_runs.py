"""Several verdicts on one line, each with its number: "Verdict 1: yes, it says so. Verdict 2: no."."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._verdict_blocks import LINE, NUMBER_NAME, VERDICT_LABEL
from ragmetrics_core.parsers._words import PHRASE, verdict_word

__all__ = ["hides_number", "one_each"]

_MARK = lazy(
    r"(?<![\w.,/\-–])(?P<number>\d{1,3})(?P<end>条?[)\]*_\"'”]*\s*(?:[.:：、=→]|->|=>|[-–—](?=\s))|[)\]]"
    r"|\s+(?:is|was|are|can\s+be|ist|wird|est|es|está|è|é)\s)[\s*_]*|(?<=[^\W\d_])(?P<glued>\d{1,3})条?[*_]*\s*[:：]",
    re.IGNORECASE,
)
_LED = lazy(
    rf"[\s*_\"'“(\[]*(?:{VERDICT_LABEL}[\s*_]*[:：=][\s*_]*)?{PHRASE}(?!\w)",
    re.IGNORECASE,
)
_NAMED = lazy(rf"(?:{VERDICT_LABEL}|{NUMBER_NAME}|s)", re.IGNORECASE)
_FOR = frozenset(("for", "on", "of", "the", "zu", "für", "über", "pour", "sur", "para", "per", "voor"))
_LAST_WORD = lazy(r"(?P<word>[^\W\d_]+)(?P<dot>\.?)[\s*_#(\[°º]*$")
_LAST_TOKEN = lazy(r"[^\s*_]+$")
_JOINING = {
    "and",
    "but",
    "while",
    "whereas",
    "und",
    "aber",
    "während",
    "et",
    "mais",
    "y",
    "e",
    "pero",
    "ma",
    "mas",
    "en",
    "maar",
    "および",
    "और",
}
_STOPS = frozenset(".;,!?。；，、！？।|/)]）】")
_QUOTES = frozenset("\"”»'’」")
_ANNOUNCES = lazy(
    rf"[\s*_>#-]*(?:.{{0,60}}\b)?(?:{VERDICT_LABEL}s?|here)\b[^.;。；\d]{{0,40}}[:：][\s*_]*", re.IGNORECASE
)
_NEXT_NUMBER = lazy(r"[.!?;。；]\s+[(\[]?\d{1,3}[.):\]]+\s")
_OPENING = lazy(r"[\"“«(]")
_MOST = 250
_TAIL = 40


class _Place(NamedTuple):
    """Where a numbered verdict may begin.

    Attributes:
        start: where its number, with the name before it, begins.
        number: the number.
        is_named: whether it says what it numbers: "Statement 2", "Verdict 2".
        is_led: whether a verdict follows at once.
        is_apart: whether the line begins here, or what stands before has come to its end.
    """

    start: int
    number: int
    is_named: bool
    is_led: bool
    is_apart: bool


def one_each(lines: Sequence[str], numbers: Sequence[int]) -> list[str]:
    """The lines, with those cut that hold several numbered verdicts: each begins a line then.

    A line is cut where a number has a name ("Verdict 2: no", "Statement 2 is") and what stands before it has
    ended. Numbers alone count in their turn only: they are asked about, one after the other, each with
    its verdict behind it, or they are all that were asked about. Nothing is cut inside of quotes and
    brackets, and nothing where the numbers leave a doubt.
    """
    return [part for line in lines for part in (_parts(line, tuple(numbers)) if _is_long(line) else (line,))]


def hides_number(line: str) -> bool:
    """Whether another number begins in the middle of a line, so that its end may be on that one."""
    return _NEXT_NUMBER.search(line[:LINE]) is not None


def _is_long(line: str) -> bool:
    # "1 ✅ 2 ❌" has as many characters
    return 7 < len(line) <= LINE and not line.isalpha()


# The lines of a reply say the same few words over and over.
@lru_cache(maxsize=256)
def _parts(line: str, numbers: tuple[int, ...]) -> tuple[str, ...]:
    marks = list(islice(_MARK.finditer(line), _MOST + 1))
    if len(marks) < 2 or len(marks) > _MOST:
        return (line,)
    starts = _starts(line, tuple(_places(line, marks)), numbers)
    if not starts:
        return (line,)
    ends = [*starts[1:], len(line)]
    parts = [line[: starts[0]], *(line[start:end] for start, end in zip(starts, ends, strict=True))]
    return tuple(_trimmed(part) for part in parts if part.strip(" \t*_>#-"))


def _starts(line: str, places: Sequence[_Place], numbers: tuple[int, ...]) -> list[int]:
    """Where the verdicts of a line begin; none where that is in doubt."""
    apart = [place for place in places if place.is_apart]
    if apart and not places[0].is_apart and _ANNOUNCES.fullmatch(line[: places[0].start]):
        places = [places[0]._replace(is_apart=True), *places[1:]]
        apart = [places[0], *apart]
    named = [place for place in apart if place.is_named]
    if len(named) > 1 and not any(place.is_led and not place.is_named for place in apart):
        return [place.start for place in named]
    if any(place.is_led and not place.is_apart and place.number in numbers for place in places):
        return []  # "it lists 1: no, 2: yes"
    led = [place for place in apart if place.is_led or place.is_named]
    if len(led) > 1 and _is_in_turn(line, led, numbers):
        return [place.start for place in led]
    return [place.start for place in apart] if _is_all(line, apart, numbers) else []


def _is_all(line: str, places: Sequence[_Place], numbers: tuple[int, ...]) -> bool:
    """Whether these are all numbers that were asked about, in their order, from the line's beginning on."""
    is_first = bool(places) and not line[: places[0].start].strip(" \t*_>#-([")
    return is_first and len(numbers) > 1 and tuple(place.number for place in places) == numbers


def _is_in_turn(line: str, places: Sequence[_Place], numbers: tuple[int, ...]) -> bool:
    """Whether these are numbers that were asked about, one after the other, from the line's beginning on."""
    before = line[: places[0].start]
    if before.strip(" \t*_>#-([") and not _ANNOUNCES.fullmatch(before):
        return False
    said = tuple(place.number for place in places)
    first = numbers.index(said[0]) if said[0] in numbers else len(numbers)
    return said == numbers[first : first + len(said)]


def _places(line: str, marks: Sequence[re.Match[str]]) -> Iterator[_Place]:
    """The numbers of a line that stand in no quotes or brackets."""
    may_open = _OPENING.search(line) is not None
    for mark in marks:
        number = mark.start()
        name = _name_start(line, number)
        start = len(line[:name].rstrip("#([*_"))
        if may_open and _is_inside(line[:start]):
            continue
        is_named = name < number
        is_led = _is_led(line[mark.end() : mark.end() + 60])
        is_apart = _has_ended(line[:start], at_verdict=is_led or is_named)
        yield _Place(start, int(mark["number"] or mark["glued"]), is_named, is_led, is_apart)


def _name_start(line: str, number: int) -> int:
    """Where the name of a number begins: "Verdict for statement" 2; the number's own place without one."""
    start = end = number
    if not line[max(number - _TAIL, 0) : number].rstrip(" \t*_#([°º.")[-1:].isalpha():
        return number
    for _ in range(4):
        word = _LAST_WORD.search(line, max(end - _TAIL, 0), end)
        kind = _kind_of(word["word"]) if word else ""
        # a full stop ends what stands before, but for "No. 2"
        if word is None or not kind or (word["dot"] and end < number):
            break
        end = word.start()
        before = line[:end].rstrip()
        if kind == "name" or (kind == "no" and (not before or before[-1] in ",;|")):
            start = end
        elif kind == "no":
            # "Statement no. 2", but "1. no 2. yes"
            word = _LAST_WORD.search(line, max(end - _TAIL, 0), end)
            if word is None or word["dot"] or _kind_of(word["word"]) != "name":
                break
    return start


@lru_cache(maxsize=1024)
def _kind_of(word: str) -> str:
    """Whether a word names what is numbered ("name"), may do so ("no"), or joins two names ("for")."""
    if word.casefold() in _FOR:
        return "for"
    if word.casefold() == "no":
        return "no"
    return "name" if _NAMED.fullmatch(word) else ""


@lru_cache(maxsize=1024)
def _is_led(text: str) -> bool:
    return _LED.match(text) is not None


def _is_inside(before: str) -> bool:
    """Whether a quote or bracket is open behind a text."""
    return (
        before.count('"') % 2 == 1
        or before.count("“") > before.count("”")
        or before.count("«") > before.count("»")
        or before.count("(") > before.count(")")
    )


def _has_ended(before: str, *, at_verdict: bool) -> bool:
    """Whether a text has come to its end: at a stop, at a joining word, or with a verdict as well."""
    text = before.rstrip(" \t*_#([")
    if not text:
        return True
    if text[-1] in _STOPS or (text[-1] in _QUOTES and text != before):
        return True
    last = _LAST_TOKEN.search(text, max(len(text) - _TAIL, 0))
    word = last[0].casefold() if last else ""
    return word in _JOINING or (at_verdict and not word.isdigit() and verdict_word(word) is not None)


def _trimmed(part: str) -> str:
    """A part without what only joins it to the next one."""
    text = part.rstrip(" \t,;|/、，；")
    head, _, last = text.rpartition(" ")
    return head.rstrip(" \t,;|/、，；") if last.casefold() in _JOINING else text
