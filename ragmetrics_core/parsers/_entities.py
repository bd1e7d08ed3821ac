"""Named entities of a text, as a judge listed them."""

import re
from collections.abc import Mapping
from typing import Self

from ragmetrics_core.parsers._exact import JsonAnswer, are_texts
from ragmetrics_core.parsers._form import TEXTS, Schema, Wanted
from ragmetrics_core.parsers._json_text import MISSING, Fit, pick, read_json
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._listing import Distinct, filled, is_none_word, listed, texts_of
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._reading import Hints, Reading
from ragmetrics_core.parsers._reply_text import (
    CUT_TEXT,
    has_content,
    is_refusal,
    own_lines,
    plain,
    unfinished,
    unmarked,
)
from ragmetrics_core.shapes import Json

__all__ = ["EntityList"]

_LIST_NAMES = (
    "entities",
    "named entities",
    "entity list",
    "names",
    "items",
    "entitäten",
    "entités",
    "entidades",
    "entità",
    "实体",
)
_TEXT_NAMES = ("name", "text", "entity", "value", "mention")
_PREFIX = lazy(
    r"[\s*_#]*(?:the\s+)?(?:named\s+|key\s+|extracted\s+)?(?:entities|entitäten|entités|entidades|entità|entiteiten|实体)(?:\s+(?:are|sind|sont|son))?[\s*_]*[:：][\s*_]*",
    re.IGNORECASE,
)
_COMMA = lazy(r",(?!\d{3}\b)|[;、，；]")
# "**Persons:** Ada Lovelace" names a kind first; "2001: A Space Odyssey" is a name.
_BOLD_LABEL = lazy(r"^[\s\-*•]*\*\*[^*]{1,40}(?:[:：]\*\*|\*\*[:：])\s*")
_AND = lazy(r"^(?:and|und|et|y|e|en)\s+")
# "A, B and C". Not "en", which is "in" in French and Spanish.
_LAST_AND = lazy(r"\s+(?:and|und|et|y|e)\s+")
_LONGEST = 120


class EntityList(JsonAnswer):
    """Entities in the judge's order, without blank ones; repeats stay, for the metric to decide on."""

    entities: tuple[str, ...]

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        return {"entities": TEXTS}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, else a numbered or bulleted list, else names separated by commas or line breaks."""
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints)) is not None:
            return reading
        if not has_content(reply) or reply[:1] in "{[" or is_refusal(reply):
            return Reading(None, "unread")
        # an entity may well be a line of the text, so the sample's lines count here
        found = listed(reply, Hints())
        if unfinished(reply, hints, len(found.items) if found is not None else None):
            return CUT_TEXT
        if found is not None and found.rule in {"none", "numbered", "bulleted"}:
            return cls._reading(filled((item.text for item in found.items), found.dropped), found.rule)
        return cls._from_lines(own_lines(reply, Hints()))

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        if isinstance(value, dict):
            inner = pick(value, *_LIST_NAMES)
            if inner is MISSING:
                return None
            value = inner
            if isinstance(value, dict):
                # {"PERSON": ["Ada Lovelace"], "PLACE": []}: grouped by kind
                groups = list(value.values())
                value = [name for group in groups if isinstance(group, list) for name in group]
                if not all(isinstance(group, list) for group in groups):
                    return None
        elif not isinstance(value, list):
            return None
        if isinstance(value, str):
            value = [part for part in _parted(value) if not is_none_word(part)]
        texts = texts_of(value, *_TEXT_NAMES)
        if texts is None:
            return None
        return cls._fit(texts)

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        texts = value.get("entities")
        return cls._fit([plain(text) for text in texts]) if len(value) == 1 and are_texts(texts) else None

    @classmethod
    def _fit(cls, texts: list[str]) -> Fit | None:
        kept = filled(texts)
        return None if texts and not kept.texts else Fit(cls(entities=kept.texts), kept.dropped)

    @classmethod
    def _from_lines(cls, lines: list[str]) -> Reading[Self]:
        names: list[str] = []
        dropped: list[str] = []
        labelled = False
        for line in lines:
            if not has_content(line) or line.lstrip().startswith("```"):
                continue
            prefix = _PREFIX.match(line[:200])
            labelled = labelled or prefix is not None
            rest = line[prefix.end() :] if prefix else line
            if prefix is not None and not has_content(rest):
                continue
            if prefix is None and not names and unmarked(rest).endswith((":", "：")):
                dropped.append(f"an introduction: {unmarked(rest)[:80]}")
                continue
            rest = _BOLD_LABEL.sub("", rest)
            parts = _parted(rest)
            # A name is short; a line with a long part is prose.
            if any(len(part) > _LONGEST or len(part.split()) > 10 for part in parts):
                return Reading(None, "unread")
            names += [part for part in parts if not is_none_word(part)]
        if not names and not labelled:
            return Reading(None, "unread", tuple(dropped))
        return cls._reading(filled(names, dropped), "names")

    @classmethod
    def _reading(cls, kept: Distinct, rule: str) -> Reading[Self]:
        return Reading(cls(entities=kept.texts), rule, kept.dropped)


def _parted(text: str) -> list[str]:
    """The names in a text; an "and" parts the last two where commas part the others ("A, B and C")."""
    parts = [unmarked(part) for part in _COMMA.split(text)]
    last = parts[-1]
    if "," in text and ";" not in text and len(parts) > 1 and not _AND.match(last):
        parts[-1:] = _LAST_AND.split(last) if len(_LAST_AND.findall(last)) == 1 else [last]
    return [_AND.sub("", part).rstrip(".。") for part in parts]
