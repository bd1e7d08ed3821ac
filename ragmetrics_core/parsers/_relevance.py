"""Which context sentences help to answer: by number, or copied out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self, cast

from ragmetrics_core.parsers._copies import is_copied, shown_number
from ragmetrics_core.parsers._exact import JsonAnswer, are_texts
from ragmetrics_core.parsers._form import TEXTS, Schema, Wanted
from ragmetrics_core.parsers._json_text import MISSING, Fit, fits, pick, read_json
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._listing import texts_of
from ragmetrics_core.parsers._numbered_verdict import number_of
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._quoting import without_quotes
from ragmetrics_core.parsers._reading import Hints, Reading
from ragmetrics_core.parsers._reply_text import (
    CUT_TEXT,
    has_content,
    is_refusal,
    marker_number,
    own_lines,
    starts_bullet,
    starts_number,
    unfinished,
    unmarked,
)
from ragmetrics_core.parsers._sentences import split_sentences
from ragmetrics_core.parsers._words import leading_verdict
from ragmetrics_core.shapes import Json

__all__ = ["ExtractedSentences", "RelevantSentences", "says_insufficient"]

_NUMBER_LISTS = (
    "relevant", "relevant sentences", "sentences", "numbers", "relevant numbers",
    "sentence numbers", "relevant sentence numbers",
    "indices", "indexes", "ids", "relevante sätze", "relevante", "oraciones", "phrases", "相关句子",
)  # fmt: skip
_NUMBER_NAMES = ("number", "sentence number", "index", "id", "no", "sentence", "nr")
_INSUFFICIENT = lazy(
    r"[\W_]*(?:there\s+is\s+|answer\s*:\s*)?(?:insufficient|in-sufficient|not\s+enough|unzureichende|informations?)[\s_-]*"
    r"(?:information(?:en)?|info|context|evidence|insuffisantes?|insuficiente|insufficienti?)\b",
    re.IGNORECASE,
)
_INSUFFICIENT_ELSEWHERE = lazy(
    r"[\W_]*(?:信息不足|資訊不足|情報不足|अपर्याप्त जानकारी|"
    r"información insuficiente|informação insuficiente)",
    re.IGNORECASE,
)
# The phrase is the answer when nothing, a reason, or "in the contexts to ..." follows it.
_AFTER_PHRASE = lazy(
    r"[\W_]*$|[\s*_\"'”)\]]*[.:;,!\n–—-]|\s+(?:in|to|for|from|about|available|provided)\b[^\d\n]{0,200}$",
    re.IGNORECASE,
)
_NONE = lazy(
    r"""\W*(?: none(?:\ of\ (?:the|these|them)(?:\ (?:\w+\ )?sentences?)?(?:\ (?:is|are)\ relevant)?)?
    | nothing | n/a
    | (?:there\ are\ )?no\ (?:relevant\ )?(?:sentences?|numbers?)
      (?:\ (?:is|are|were))?(?:\ (?:relevant|found))?
    | keine? | aucune? | ninguna | nessuna | nenhuma | geen | 无 | 没有 | なし )\W*""",
    re.VERBOSE | re.IGNORECASE,
)
_RANGE = lazy(
    r"(\d{1,18})(?!\d)"
    r"(?:[^\S\n]*(?:-|–|—|\bto\b|\bthrough\b|\bbis\b|\bà\b|\ba\b|至|到|〜)[^\S\n]*(\d{1,18})(?!\d))?",
    re.IGNORECASE,
)
_LABELS = lazy(
    r"\b(?:the|most|only|relevant|relevante[ns]?|pertinentes?|sentences?|numbers?|indices|index|ids?|answer|are|is|sind|sont|son|and|und|et|y|e|en|no|nos|nr|"
    r"to|through|bis|sätze|satz|phrases?|oraci[oó]n(?:es)?|frases?|frasi|zinnen|zin)\b|相关|句子|句|文|第|和|与|と|、|是|为|以及|：|。",
    re.IGNORECASE,
)
_SAYS_SOMETHING = lazy(r"\W*(?:is|are|has|have|does|was|may|might|could)\b|.*\[\d{1,4}\]", re.IGNORECASE)
_WIDEST_RANGE = 1000


class RelevantSentences(JsonAnswer):
    """The numbers of the context sentences that help to answer the question.

    Attributes:
        numbers: in the judge's order, without repeats; not checked against the sentences that exist.
        insufficient: the judge says that nothing in the contexts helps ("Insufficient Information", "none").
    """

    numbers: tuple[int, ...]
    insufficient: bool

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        numbers = {"type": "array", "items": {"type": "integer"}}
        return {"relevant": {"anyOf": [numbers, {"type": "string", "enum": ["Insufficient Information"]}]}}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, the phrase, a text that is nothing but numbers, or lines that begin with numbers."""
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints, arrays=False)) is not None:
            if reading.value is None or reading.rule == "json":
                return reading
            lists = {frozenset(each.numbers) for each in fits(reply, cls._shape, cls, hints, arrays=False)}
            if len(lists) == 1:
                return reading
            return Reading(None, "unread", ("several different lists of sentences",))
        lines = without_quotes("\n".join(_naming(reply, hints)), hints).split("\n")
        if unfinished(reply, hints):
            return CUT_TEXT
        # a reply of one line is what was asked for, even when the sample has the same line
        said = "\n".join(lines) if "\n" in reply else reply
        if says_insufficient(said):
            return Reading(cls(numbers=(), insufficient=True), "insufficient")
        if _NONE.fullmatch(said):
            return Reading(cls(numbers=(), insufficient=True), "none")
        if is_refusal(reply):
            return Reading(None, "unread")
        if (found := _only_numbers("\n".join(lines)) or _first_line(lines)) is not None:
            return Reading(cls(numbers=found.numbers, insufficient=False), "numbers", found.dropped)
        if marked := _marked(lines):
            return Reading(cls(numbers=marked.numbers, insufficient=not marked.numbers), "numbered")
        return Reading(None, "unread")

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        said_insufficient = False
        if isinstance(value, dict):
            flag = pick(value, "insufficient", "insufficient information")
            said_insufficient = flag is True or (isinstance(flag, str) and flag.casefold() in {"yes", "true"})
            inner = pick(value, *_NUMBER_LISTS)
            if inner is MISSING:
                said = any(isinstance(one, str) and says_insufficient(one) for one in value.values())
                return Fit(cls(numbers=(), insufficient=True)) if said or said_insufficient else None
            value = inner
            if value is None:
                value = []
            if isinstance(value, int) and not isinstance(value, bool):
                value = [value]
        if isinstance(value, str):
            if says_insufficient(value) or _NONE.fullmatch(value):
                return Fit(cls(numbers=(), insufficient=True))
            found = _only_numbers(value)
            return (
                None
                if found is None
                else Fit(cls(numbers=found.numbers, insufficient=said_insufficient), found.dropped)
            )
        if not isinstance(value, list):
            return None
        read = _numbers(value)
        if read is None:
            return None
        return Fit(
            cls(numbers=read.numbers, insufficient=said_insufficient or not value or read.insufficient),
            read.dropped,
        )

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        said = value.get("relevant")
        if len(value) != 1:
            return None
        if isinstance(said, list) and all(type(each) is int and 0 <= each < 10_000 for each in said):
            numbers = cast("list[int]", said)
            return Fit(cls.exactly(numbers=tuple(dict.fromkeys(numbers)), insufficient=not numbers))
        # a text may hold characters that nobody sees, which are taken out before it is read
        return cls._shape(value) if isinstance(said, str) and said.isascii() else None


class ExtractedSentences(JsonAnswer):
    """The context sentences that the judge copied out, in its order, as Es et al. (2023) ask for them.

    Attributes:
        sentences: one entry a sentence; repeats stay, since the paper counts them.
        insufficient: the judge says that nothing in the contexts helps.
        insufficient_exactly: it says so in one spelling only, "Insufficient Information." with its full stop
            and nothing else (case does not matter): what ragas 0.1 takes for a refusal.
    """

    sentences: tuple[str, ...]
    insufficient: bool
    insufficient_exactly: bool = False

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        return {"sentences": TEXTS}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, else split the text into sentences, without list markers and an introduction.

        The sample's own lines count here: copying them is what was asked for.
        """
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints)) is not None:
            return reading
        if says_insufficient(reply) and not ("\n" in reply and is_copied(reply.partition("\n")[0], hints)):
            exactly = reply.casefold() == "insufficient information."
            return Reading(cls(sentences=(), insufficient=True, insufficient_exactly=exactly), "insufficient")
        if _NONE.fullmatch(reply):
            return Reading(cls(sentences=(), insufficient=True), "none")
        if not has_content(reply) or is_refusal(reply):
            return Reading(None, "unread")
        if unfinished(reply, hints):
            return CUT_TEXT
        lines = [line for line in reply.split("\n") if has_content(line) and not line.startswith("```")]
        dropped: tuple[str, ...] = ()
        if len(lines) > 1 and lines[0].rstrip(" *_").endswith((":", "：")):
            dropped = (f"an introduction: {lines[0].strip()[:80]}",)
            lines = lines[1:]
        sentences = split_sentences("\n".join(_unlisted(lines)))
        return (
            Reading(cls(sentences=sentences, insufficient=False), "sentences", dropped)
            if sentences
            else Reading(None, "unread")
        )

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        if isinstance(value, dict):
            inner = pick(
                value,
                "sentences",
                "relevant sentences",
                "relevant",
                "extracted sentences",
                "extracted",
                "candidates",
            )
            value = None if inner is MISSING else inner
        if isinstance(value, str) and says_insufficient(value):
            return Fit(cls(sentences=(), insufficient=True))
        texts = texts_of(value, "sentence", "text", "content") if isinstance(value, list) else None
        if texts is None:
            return None
        if len(texts) == 1 and says_insufficient(texts[0]):
            return Fit(cls(sentences=(), insufficient=True))
        kept = tuple(text for text in texts if has_content(text))
        if texts and not kept:
            return None
        return Fit(cls(sentences=kept, insufficient=not kept))

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        return cls._shape(value) if len(value) == 1 and are_texts(value.get("sentences")) else None


def says_insufficient(text: str) -> bool:
    """Whether a reply is, or begins with, the phrase "Insufficient Information" in any spelling.

    >>> says_insufficient('"insufficient_information".')
    True
    >>> says_insufficient("[2] has insufficient information")
    False
    """
    found = _INSUFFICIENT.match(text) or _INSUFFICIENT_ELSEWHERE.match(text)
    return found is not None and _AFTER_PHRASE.match(text, found.end()) is not None


def _naming(reply: str, hints: Hints) -> list[str]:
    """The judge's own lines; of a sentence that it copied as it was shown, the number, which names it."""
    numbered = [(line, shown_number(line, hints)) for line in own_lines(reply, hints)]
    return [
        line if number is None else f"[{number}]"
        for line, number in numbered
        if number is not None or not is_copied(line, hints)
    ]


class _Numbers(NamedTuple):
    numbers: tuple[int, ...]
    dropped: tuple[str, ...]
    insufficient: bool = False


def _unlisted(lines: Iterable[str]) -> Iterable[str]:
    """The lines without list markers and the numbers that the prompt gave the sentences."""
    for line in lines:
        marker = starts_number(line[:400]) or starts_bullet(line[:400])
        yield unmarked(line[marker.end() :] if marker else line)


def _marked(lines: Sequence[str]) -> _Numbers | None:
    """The numbers at the start of lines, with their sentence or a yes or no behind; None without any."""
    numbers: list[int] = []
    found = False
    for line in lines:
        marker = starts_number(line[:400])
        if marker is None:
            continue
        rest = line[marker.end() :]
        led = leading_verdict(rest)
        if (led is not None and led.supported is None) or _SAYS_SOMETHING.match(rest[:400]):
            return None  # "[2] has ..., [3] does not" speaks of the sentences and does not list them
        found = True
        if led is None or led.supported:
            numbers.append(marker_number(marker))
    return _Numbers(tuple(dict.fromkeys(numbers)), ()) if found else None


def _first_line(lines: Sequence[str]) -> _Numbers | None:
    """The numbers of a first line that has only numbers, when the explanation below it names none."""
    filled = [line for line in lines if has_content(line)]
    if len(filled) < 2 or any(char.isdigit() for line in filled[1:] for char in line):
        return None
    return _only_numbers(filled[0])


def _only_numbers(text: str) -> _Numbers | None:
    """The numbers of a text that holds only numbers, ranges and words like "sentences"; else None."""
    if len(text) > 20_000:
        return None
    rest = _LABELS.sub(" ", _RANGE.sub(" ", text))
    if (
        any(char.isalnum() for char in rest)
        or re.search(r"\d\s*[./%]\s*\d", text)
        or re.search(r"(?<!\d)[-−]\d", text)
    ):
        return None
    return _expanded([(int(first), int(last or first)) for first, last in _RANGE.findall(text)])


def _expanded(ranges: Iterable[tuple[int, int]]) -> _Numbers | None:
    numbers: list[int] = []
    dropped: list[str] = []
    for first, last in ranges:
        if not first <= last < first + _WIDEST_RANGE or len(numbers) > 10 * _WIDEST_RANGE:
            dropped.append(f"{first}-{last} is no range of sentences")
        else:
            numbers += range(first, last + 1)
    return _Numbers(tuple(dict.fromkeys(numbers)), tuple(dropped)) if numbers else None


def _numbers(items: list[Json]) -> _Numbers | None:
    """The numbers of a JSON list; None when none of its entries is one."""
    numbers: list[int] = []
    dropped: list[str] = []
    for item in items:
        said = pick(item, *_NUMBER_NAMES) if isinstance(item, dict) else item
        number = number_of(said)
        found = _only_numbers(said) if isinstance(said, str) and number is None else None
        if isinstance(said, str) and says_insufficient(said):
            return _Numbers((), (), insufficient=True) if len(items) == 1 else None
        if number is not None:
            numbers.append(number)
        elif found is not None:
            numbers += found.numbers
        else:
            dropped.append(f"{repr(said)[:60].encode('utf-8', 'replace').decode()} is no sentence number")
    return _Numbers(tuple(dict.fromkeys(numbers)), tuple(dropped)) if numbers or not items else None
