"""A rating on a scale, with its reason."""

import math
import re
from typing import Self

from ragmetrics_core.parsers.copies import judged_lines
from ragmetrics_core.parsers.json_text import MISSING, Fit, pick, read_json
from ragmetrics_core.parsers.lazy_pattern import lazy
from ragmetrics_core.parsers.reading import Answer, Hints, Reading
from ragmetrics_core.parsers.reply_text import clean, squeeze, unmarked
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
_ANY = lazy(rf"(?<![\w.,/\-−])(?P<figure>{_FIGURE}){_AFTER}")
_WHOLE = lazy(
    rf"[\s*_\"'`(\[]*(?P<figure>{_FIGURE}){_SCALE}(?:\s*(?:points?|stars?|punkte|分))?[\s*_\"'`)\].!]*",
    re.IGNORECASE,
)
_REASON = lazy(
    r"(?:^|\n)[\s*_]*(?:reason(?:ing)?|explanation|rationale|begründung|理由)[\s*_]*[:：][\s*_]*(.+)",
    re.IGNORECASE,
)


class Rating(Answer):
    """A finite number; whether it lies on the scale is for the caller to check.

    Attributes:
        rating: the number that the judge gives.
        reason: in its words, when it gives one.
    """

    rating: float
    reason: str | None = None

    @classmethod
    def read(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, a labelled number ("Rating: 7"), or the only number there is; of "7/10" the 7 counts.

        Several different numbers without a label are unread, and so are different ratings with one.
        """
        reply = clean(text)
        if (reading := read_json(reply, cls._shape, cls, arrays=False)) is not None:
            return reading
        body = "\n".join(judged_lines(reply, hints))
        if whole := _WHOLE.fullmatch(reply[:200]) if len(reply) <= 200 else None:
            return cls._reading(whole["figure"], "number", None)
        reason = _REASON.search(body)
        why = squeeze(reason[1]) if reason else None
        for rule, pattern in (("labelled", _LABELLED), ("number", _ANY)):
            figures = {found["figure"] for found in pattern.finditer(body)}
            if len(figures) == 1:
                return cls._reading(figures.pop(), rule, why)
            if figures:
                return Reading(
                    None, "unread", (f"several different numbers: {', '.join(sorted(figures)[:5])}",)
                )
        return Reading(None, "unread")

    @classmethod
    def _reading(cls, figure: str, rule: str, reason: str | None) -> Reading[Self]:
        return Reading(cls(rating=float(figure.replace("−", "-").replace(",", ".")), reason=reason), rule)

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
            value = float(found["figure"].replace("−", "-").replace(",", "."))
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        try:
            rating = float(value)
        except OverflowError:
            return None
        why = clean(reason) or None if isinstance(reason, str) else None
        return Fit(cls(rating=rating, reason=why)) if math.isfinite(rating) else None
