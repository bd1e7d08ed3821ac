"""A rating on a scale, with its reason."""

import math
import re
from collections.abc import Mapping
from typing import Self

from ragmetrics_core.parsers._copies import judged_lines
from ragmetrics_core.parsers._exact import JsonAnswer
from ragmetrics_core.parsers._form import TEXT, Schema, Wanted
from ragmetrics_core.parsers._json_text import MISSING, Fit, fits, outside_json, pick, read_json
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._quoting import without_quotes
from ragmetrics_core.parsers._reading import Hints, Reading
from ragmetrics_core.parsers._reply_text import (
    CUT_TEXT,
    has_content,
    is_refusal,
    plain,
    squeeze,
    unfinished,
    unmarked,
)
from ragmetrics_core.shapes import Json

__all__ = ["Rating"]

_RATING_NAMES = (
    "rating",
    "score",
    "grade",
    "mark",
    "value",
    "overall rating",
    "bewertung",
    "note",
    "puntuación",
    "评分",
    "分数",
)
_REASON_NAMES = (
    "reason",
    "explanation",
    "rationale",
    "reasoning",
    "justification",
    "feedback",
    "begründung",
    "理由",
)
_FIGURE = r"[-+−]?\d{1,12}(?:[.,]\d{1,12})?"
_SCALE = r"(?:\s*(?:/|out\s+of|of|von|sur|de|su)\s*\d{1,6}(?:\.\d{1,3})?)?"
_AFTER = rf"(?![\w%])(?![.,]\d){_SCALE}"
_LABELLED = lazy(
    rf"(?<!\w)(?:(?:final|overall|total|my)\s+)?(?:rating|score|grade|bewertung|note|puntuaci[oó]n|punteggio|nota|beoordeling|评分|分数|得分)"
    rf"(?:\s*\([^()]{{0,20}}\))?[\s*_\"']*(?:[:：=]|\s(?:is|of|ist|est|es)\s|-\s)[\s*_\[(\"']*(?P<figure>{_FIGURE}){_AFTER}",
    re.IGNORECASE,
)
_UNIT = r"(?:\s*(?:points?|stars?|punkten?|分))?"
_WHOLE = lazy(
    rf"[\s*_\"'`(\[]*(?:(?:rating|score|grade)\s+)?(?P<figure>{_FIGURE}){_SCALE}{_UNIT}[\s*_\"'`)\].!]*",
    re.IGNORECASE,
)
# Where a rating ends and its reason begins: not in "3, 4 and 5 are right", "2-4" or the list number "1.".
_END = (
    r"[*_\"'`)\]]*(?:\s*[:;(–—]|,\s(?!\s*(?:and\b|or\b))|\s*-\s"
    r"|\s+(?:because|since|as|weil|da|denn)\b)(?!\s*\d)"
)
_LEADING = lazy(rf"[\s*_\"'`(\[]*(?P<figure>{_FIGURE}){_AFTER}{_UNIT}{_END}", re.IGNORECASE)
_GIVEN = lazy(
    rf"(?<!\w)(?:i(?:\W?d|\W?ll|\s+would|\s+will)?\s+(?:give|rate|score|award|assign)|ich\s+(?:ver)?gebe|ich\s+bewerte"
    rf"|je\s+(?:lui\s+)?(?:donne|mets)|(?:le\s+)?doy)"
    rf"(?:\s+(?:it|this|that|the|answer|response|contexts?|chunk|sentence|an?|with|as|at|ihr|der|die|antwort|mit|eine?)){{0,5}}"
    rf"\s+[*_\"'`(\[]*(?P<figure>{_FIGURE}){_AFTER}{_UNIT}(?:{_END}|[*_\"'`)\]]*\s*(?:[.!?,\n]|$))",
    re.IGNORECASE,
)
_REASON = lazy(
    r"(?:^|\n)(?:[^\S\n]|[*_])*(?:reason(?:ing)?|explanation|rationale|begründung|理由)[\s*_]*[:：][\s*_]*(.+)",
    re.IGNORECASE,
)


class Rating(JsonAnswer):
    """A finite number; whether it lies on the scale is for the caller to check.

    Attributes:
        rating: the number that the judge gives.
        reason: in its words, when it gives one.
    """

    rating: float
    reason: str | None = None

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        return {"rating": {"type": "number"}, "reason": TEXT}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, a labelled number ("Rating: 7"), or one that stands where a rating does.

        That is: alone, alone in the first or last line, before its reason ("7 - it says most of it"), or
        given ("I would give it a 7"); of "7/10" the 7 counts. No other number of a text is one. Different
        ratings are unread, and so is a model that declines to rate.
        """
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints, arrays=False)) is not None:
            if reading.value is None or reading.rule == "json":
                return reading
            said = {each.rating for each in fits(reply, cls._shape, cls, hints, arrays=False)}
            beside = without_quotes("\n".join(judged_lines(outside_json(reply), hints)), hints)
            said |= {_number(found["figure"]) for found in _LABELLED.finditer(beside)}
            if said <= {reading.value.rating}:
                return reading
            return Reading(None, "unread", ("several different ratings",))
        if unfinished(reply, hints):
            return CUT_TEXT
        body = without_quotes("\n".join(judged_lines(reply, hints)), hints)
        if whole := _WHOLE.fullmatch(reply[:200]) if len(reply) <= 200 else None:
            return cls._reading(whole["figure"], "number", None)
        reason = _REASON.search(body)
        why = squeeze(reason[1]) if reason else None
        labelled: set[str] = {found["figure"] for found in _LABELLED.finditer(body)}
        stated: set[str] = set() if labelled or is_refusal(body) else _stated(body)
        for rule, figures in (("labelled", labelled), ("number", stated)):
            if len(figures) == 1:
                return cls._reading(figures.pop(), rule, why)
            if figures:
                return Reading(
                    None, "unread", (f"several different numbers: {', '.join(sorted(figures)[:5])}",)
                )
        return Reading(None, "unread")

    @classmethod
    def _reading(cls, figure: str, rule: str, reason: str | None) -> Reading[Self]:
        return Reading(cls(rating=_number(figure), reason=reason), rule)

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        reason: object = None
        if isinstance(value, dict):
            reason = pick(value, *_REASON_NAMES)
            rated = pick(value, *_RATING_NAMES)
            if rated is MISSING:
                return None
            value = rated
        if isinstance(value, str) and (found := _WHOLE.fullmatch(unmarked(value[:200]))):
            value = _number(found["figure"])
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        try:
            rating = float(value)
        except OverflowError:
            return None
        why = plain(reason) or None if isinstance(reason, str) else None
        return Fit(cls(rating=rating, reason=why)) if math.isfinite(rating) else None

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        is_form = type(value.get("rating")) in {int, float} and value.keys() <= {"rating", "reason"}
        return cls._shape(value) if is_form else None


def _number(figure: str) -> float:
    return float(figure.replace("−", "-").replace(",", "."))


def _stated(body: str) -> set[str]:
    """The numbers without a label that stand where a rating does."""
    lines = [line for line in body.split("\n") if has_content(line)]
    ends = [_WHOLE.fullmatch(line[:200]) for line in (*lines[:1], *lines[-1:]) if len(line) <= 200]
    # when the first line begins with a number, so may others: then it is a list
    leads = [_LEADING.match(line) for line in lines] if lines and _LEADING.match(lines[0]) else []
    return {found["figure"] for found in (*ends, *leads, *_GIVEN.finditer(body)) if found}
