"""Questions that a judge made up for an answer."""

import re
from collections.abc import Mapping
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.parsers._exact import JsonAnswer
from ragmetrics_core.parsers._form import TEXT, Schema, Wanted, items_of, object_of
from ragmetrics_core.parsers._json_text import MISSING, Fit, Missing, pick, read_json
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._listing import listed
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._reading import Declined, Hints, Reading
from ragmetrics_core.parsers._reply_text import (
    CUT_TEXT,
    ListEntry,
    has_content,
    is_refusal,
    listed_lines,
    own_lines,
    plain,
    squeeze,
    unfinished,
    unmarked,
)
from ragmetrics_core.parsers._words import verdict_value
from ragmetrics_core.shapes import Json

__all__ = ["GeneratedQuestion", "QuestionList"]

_LIST_NAMES = ("questions", "generated questions", "results", "fragen", "preguntas", "问题")
_QUESTION_NAMES = ("question", "generated question", "text", "query", "frage", "pregunta", "问题")
_FLAG_NAMES = ("noncommittal", "non committal", "is noncommittal", "evasive", "declined")
_MARK = lazy(r"[?？؟;][\"'”’)\]*_`]*$")
_PREFIX = lazy(
    r"[\s*_#>]*(?:(?=[^:：?？\n]{0,60}\bquestion\b)[^:：?？\n]{0,80}[:：]\s*(?=\S)|(?:generated\s+)?(?:questions?|frage|pregunta|domanda|pergunta|vraag|问题|質問|प्रश्न|q)\s*(?:#?\d{1,3})?\s*[*_]*[:：.])[\s*_]*",
    re.IGNORECASE,
)
_ASKS = lazy(
    r"(?:what|who|whom|whose|which|when|where|why|how|was|wer|wen|welche[rsn]?|wann|wo|warum|wie|qui|que|quel(?:le)?s?|quand|où|pourquoi|"
    r"comment|combien|qué|quién|cuál|cuándo|dónde|por\s+qué|cómo|cosa|chi|quale|quando|dove|perché|come|wat|wie|welke|wanneer|waar|waarom|hoe)\s",
    re.IGNORECASE,
)
_LABELS = lazy(
    r"[\s*_]*(?:noncommittal|non-committal|answer|reason|explanation|antwort)[\s*_]*[:：]", re.IGNORECASE
)


class GeneratedQuestion(BaseModel):
    """A question that the answer would answer, and whether the judge calls that answer noncommittal."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    question: str
    noncommittal: bool = False


class QuestionList(JsonAnswer):
    """The questions of one reply.

    Attributes:
        questions: in the judge's order; repeats stay, since each is one draw.
        flagged: whether the reply said of any question if its answer is noncommittal.
    """

    questions: tuple[GeneratedQuestion, ...]
    flagged: bool = False

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        question = object_of(wanted, {"question": TEXT, "noncommittal": {"type": "boolean"}})
        return {"questions": items_of(question, wanted.size)}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, else a numbered or bulleted list, else the lines that end in a question mark."""
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints)) is not None:
            return reading
        found = _texts(reply, hints)
        if found is None:
            return Reading(None, "unread")
        rule, items, dropped = found
        if unfinished(reply, hints, len(items)):
            return CUT_TEXT
        kept = tuple(GeneratedQuestion(question=item) for item in items)
        return Reading(cls(questions=kept), rule, dropped) if kept else Reading(None, "unread", dropped)

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        if isinstance(value, dict):
            inner: Json | Missing = pick(value, *_LIST_NAMES)
            if inner is MISSING:
                inner = [value] if pick(value, *_QUESTION_NAMES) is not MISSING else None
            elif isinstance(inner, list) and (flag := pick(value, *_FLAG_NAMES)) is not MISSING:
                # One flag beside the list speaks of all of them.
                inner = [
                    {"noncommittal": flag, **(item if isinstance(item, dict) else {"question": item})}
                    for item in inner
                ]
            value = inner
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            return None
        return cls._from_items(value)

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        items = value.get("questions")
        if len(value) != 1 or type(items) is not list or not all(map(_is_exact, items)):
            return None
        return cls._from_items(items)

    @classmethod
    def _from_items(cls, items: list[Json]) -> Fit | None:
        questions: list[GeneratedQuestion] = []
        dropped: list[str] = []
        flagged = False
        for place, item in enumerate(items, 1):
            text = pick(item, *_QUESTION_NAMES) if isinstance(item, dict) else item
            if text is MISSING or not (text is None or isinstance(text, str)):
                return None
            said = pick(item, *_FLAG_NAMES) if isinstance(item, dict) else MISSING
            flag = None if said is MISSING else verdict_value(said)
            if text is None or not has_content(text):
                dropped.append(
                    f"question {place} is empty"
                    + ("" if said is MISSING else f" (noncommittal: {bool(flag)})")
                )
                continue
            if said is not MISSING and flag is None:
                dropped.append(f"question {place}: its flag is neither true nor false")
            flagged = flagged or flag is not None
            questions.append(GeneratedQuestion(question=squeeze(plain(text)), noncommittal=bool(flag)))
        return Fit(cls(questions=tuple(questions), flagged=flagged), tuple(dropped))

    def abstention(self) -> Declined | None:
        """Declined when every question is flagged noncommittal; None when the reply carried no flag."""
        if not self.flagged:
            return None
        return Declined(all(question.noncommittal for question in self.questions))


def _is_exact(item: Json) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("question"), str)
        and item.keys() <= {"question", "noncommittal"}
    )


class _Texts(NamedTuple):
    rule: str
    texts: list[str]
    dropped: tuple[str, ...]


def _texts(reply: str, hints: Hints) -> _Texts | None:
    if not has_content(reply) or reply[:1] in "{[":
        return None
    prefixed = [
        (line, found) for line in own_lines(reply, hints) if (found := _PREFIX.match(line[:400])) is not None
    ]
    if prefixed:
        texts = [unmarked(line[found.end() :]) for line, found in prefixed]
        return _Texts("labelled", [text for text in texts if has_content(text)], ())
    entries = listed(reply, hints)
    if entries is not None and entries.rule in {"numbered", "bulleted"}:
        texts = [_unprefixed(item) for item in entries.items if has_content(item.text)]
        asked = [text for text in texts if _MARK.search(text)]
        left = tuple(f"no question: {text[:80]}" for text in texts if text not in asked) if asked else ()
        return _Texts(entries.rule, asked or texts, entries.dropped + left)
    if is_refusal(reply):
        return None
    lines = listed_lines(own_lines(reply, hints))
    asked = [_unprefixed(item) for item in lines.items if _MARK.search(item.text)]
    if not asked and len(lines.items) == 1 and _ASKS.match(lines.items[0].text):
        return _Texts("lines", [lines.items[0].text], lines.dropped)  # a question without its mark
    left = tuple(f"no question: {item.text[:80]}" for item in lines.items if not _MARK.search(item.text))
    return _Texts("lines", asked, lines.dropped + left) if asked else None


def _unprefixed(item: ListEntry) -> str:
    found = _PREFIX.match(item.text[:400])
    return unmarked(item.text[found.end() :] if found else item.text)
