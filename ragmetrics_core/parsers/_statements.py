"""The statements of a text, as a judge listed them."""

import re
from collections.abc import Mapping, Sequence
from typing import Self

from ragmetrics_core.parsers._exact import JsonAnswer, are_texts
from ragmetrics_core.parsers._form import TEXT, TEXTS, Schema, Wanted
from ragmetrics_core.parsers._json_text import MISSING, Fit, fold, pick, read_json
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._listing import distinct, is_none_word, listed, texts_of
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._reading import Declined, Hints, Reading
from ragmetrics_core.parsers._reply_text import CUT_TEXT, plain, unfinished
from ragmetrics_core.parsers._sentences import split_sentences
from ragmetrics_core.parsers._words import verdict_value, verdict_word
from ragmetrics_core.shapes import Json, are_dicts

__all__ = ["StatementList"]

_LIST_NAMES = (
    "statements", "claims", "facts", "simpler statements", "simple statements", "sentences",
    "propositions", "statement list",
    "aussagen", "affirmations", "énoncés", "afirmaciones", "declaraciones", "enunciados",
    "affermazioni", "afirmações", "陈述",
)  # fmt: skip
_SENTENCE_NAMES = ("sentence", "sentence index", "original sentence", "index", "id")
_TEXT_NAMES = ("statement", "text", "claim", "fact", "sentence", "proposition", "content", "value")
_DECLINED_NAMES = ("declined", "declines", "abstained", "refused", "refusal", "noncommittal")
_REASON_NAMES = ("declined reason", "reason", "why")
_NOT_DECLINED = lazy(
    r"(?:\b(?:not|never)|n['’]t)\s+(?:(?:really|actually|explicitly|clearly|being|seem|appear|have|been|to)\s+){0,3}"
    r"(?:declin|refus|abstain|noncommittal|evasive)\w*",
    re.IGNORECASE,
)
_ANSWERS = lazy(
    r"\W*(?:(?:it|the\s+(?:answer|response|text))\s+)?(?:(?:directly|fully|clearly)\s+)?(?:answers|responds)"
    r"(?:\s+(?:to|the|question|it|directly|fully|completely|clearly))*\W*",
    re.IGNORECASE,
)
_LACKS = lazy(
    r"\W*(?:not\s+(?:found|mentioned|stated|present|covered|inferable)|absent|uncovered|can\W?not|can\s+not)\b",
    re.IGNORECASE,
)


class StatementList(JsonAnswer):
    """Short sentences that can each be true or false alone.

    Attributes:
        statements: in the judge's order, without blank and repeated ones; empty when there are none.
        declined: whether the split text declines to answer; None when the judge does not say.
        declined_reason: in the judge's words, when it gives them.
    """

    statements: tuple[str, ...]
    declined: bool | None = None
    declined_reason: str | None = None

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        return {"statements": TEXTS, "declined": {"anyOf": [{"type": "boolean", "enum": [False]}, TEXT]}}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, a numbered or bulleted list, one statement a line or sentence."""
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints)) is not None:
            return reading
        # a statement may well be a line of the answer, so the sample's lines count here
        found = listed(reply, Hints())
        if found is None:
            return Reading(None, "unread")
        texts, rule = [item.text for item in found.items], found.rule
        if rule == "lines" and len(texts) == 1 and len(sentences := split_sentences(texts[0])) > 1:
            texts, rule = list(sentences), "sentences"
        kept = distinct(texts, found.dropped)
        if not kept.texts and found.items:
            return Reading(None, "unread", kept.dropped)
        if unfinished(reply, hints, len(found.items)):
            return CUT_TEXT
        return Reading(cls(statements=kept.texts), rule, kept.dropped)

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        declined, why = None, None
        if isinstance(value, dict):
            declined, why = _declined(value)
            inner = pick(value, *_LIST_NAMES)
            if inner is MISSING:
                return None
            value = inner
        elif not isinstance(value, list):
            return None
        texts = texts_of(_flat(value), *_TEXT_NAMES)
        if texts is None:
            return None
        return cls._fit(texts, declined, why)

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        texts = value.get("statements")
        if not are_texts(texts) or not value.keys() <= {"statements", "declined"}:
            return None
        declined, why = (False, None) if value.get("declined") is False else _declined(value)
        return cls._fit([plain(text) for text in texts], declined, why)

    @classmethod
    def _fit(cls, texts: Sequence[str], declined: bool | None, why: str | None) -> Fit | None:
        kept = distinct(texts)
        if texts and not kept.texts:
            return None  # {"statements": ["..."]} is the prompt's example, not an empty list
        return Fit(cls.exactly(statements=kept.texts, declined=declined, declined_reason=why), kept.dropped)

    def abstention(self) -> Declined | None:
        """Whether the split text declines to answer, when the judge said so or denied it."""
        return None if self.declined is None else Declined(self.declined, self.declined_reason)


def _flat(value: Json) -> Json:
    """The entries of lists that are grouped by sentence: [{"sentence": 1, "statements": [...]}, ...]."""
    items = value
    if not isinstance(items, list) or not are_dicts(items):
        return value
    groups = [pick(item, *_LIST_NAMES) for item in items]
    is_by_sentence = all(pick(item, *_SENTENCE_NAMES) is not MISSING for item in items)
    if is_by_sentence and groups and all(isinstance(group, list) for group in groups):
        return [entry for group in groups if isinstance(group, list) for entry in group]
    return value


def _declined(value: dict[str, Json]) -> tuple[bool | None, str | None]:
    said = pick(value, *_DECLINED_NAMES)
    if said is MISSING:
        return None, None
    if said is None or said is False or said in (0, ""):
        return False, None
    reason = pick(value, *_REASON_NAMES)
    why = plain(reason) or None if isinstance(reason, str) else None
    if not isinstance(said, str):
        return (True, why) if said is True or said == 1 else (None, None)
    said = plain(said)
    if fold(said) in {"null", "none", "n/a", ""} or is_none_word(said) or _denies(said):
        return False, None
    return (True, why) if verdict_word(said) else (True, said)


def _denies(said: str) -> bool:
    """Whether words in the place of a reason say that the answer does not decline."""
    if _NOT_DECLINED.search(said) or _ANSWERS.fullmatch(said):
        return True
    # "Not mentioned in the contexts" is no "no": it is why the answer declines
    return verdict_value(said) is False and not _LACKS.match(said)
