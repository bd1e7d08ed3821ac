"""True positives, false positives and false negatives, as lists of statements."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

from ragmetrics_core.parsers._copies import is_copied
from ragmetrics_core.parsers._exact import JsonAnswer, are_texts
from ragmetrics_core.parsers._form import TEXTS, Schema, Wanted
from ragmetrics_core.parsers._json_text import Fit, fold, read_json
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._listing import distinct, is_none_word, texts_of
from ragmetrics_core.parsers._loose_json import read_loose
from ragmetrics_core.parsers._own_text import own_text
from ragmetrics_core.parsers._reading import Hints, Reading
from ragmetrics_core.parsers._reply_text import (
    CUT_TEXT,
    has_content,
    own_lines,
    squeeze,
    starts_bullet,
    starts_number,
    unfinished,
    unmarked,
)
from ragmetrics_core.shapes import Json, are_dicts

__all__ = ["FactLists"]

Group = Literal["tp", "fp", "fn"]

_GROUPS: tuple[Group, ...] = ("tp", "fp", "fn")
_GROUP_NAMES: dict[Group, str] = {
    "tp": r"tps?|true\s*positives?|richtig\s+positive?|vrais?\s+positifs?|verdaderos?\s+positivos?|真阳性",
    "fp": r"fps?|false\s*positives?|falsch\s+positive?|faux\s+positifs?|falsos?\s+positivos?|假阳性",
    "fn": r"fns?|false\s*negatives?|falsch\s+negative?|faux\s+n[ée]gatifs?|falsos?\s+negativos?|假阴性",
}
_KEYS = {
    group: lazy(rf"(?:{names})(?: \(?(?:tps?|fps?|fns?)\)?)?(?: statements?| facts?)?")
    for group, names in _GROUP_NAMES.items()
}
_HEADING = lazy(
    "[\\s#*_>\"'“\\-•+{,]*+(?:\\d[.)]\\s*+[*_\"'“]*+)?(?:"
    + "|".join(f"(?P<{group}>{names})" for group, names in _GROUP_NAMES.items())
    + ")(?:\\s*(?:statements?|facts?))?\\s*(?:[(（][^()（）\\n]{0,60}[)）])?"
    + "[\\s*_\"'”]*(?:[:：=][\\s*_]*(?P<rest>.*)|[-–—]\\s+(?P<dash>.*)|$)",
    re.IGNORECASE,
)
# "TP": [...], "FP": [...]: several lists on one line.
_BETWEEN_LISTS = lazy(
    rf"(?<=[\],;:：])[ \t,;]{{0,9}}(?=[\"'*]{{0,3}}"
    rf"(?:{'|'.join(_GROUP_NAMES.values())})[\"'*]{{0,3}}\s?[:：])",
    re.IGNORECASE,
)
# "FN": with nothing behind it; of a heading without quotes that is an empty list.
_OPEN_END = lazy(rf"[\"'](?:{'|'.join(_GROUP_NAMES.values())})[\"']?\s*[:：]?\s*$", re.IGNORECASE)
_LETTER = lazy(r"[^\W\d_]")
_TEXT_NAMES = ("statement", "text", "fact", "claim", "sentence")


class FactLists(JsonAnswer):
    """The statements in both answer and reference (tp), only in the answer (fp), only in the reference (fn).

    Repeats within a list do not count; a statement in both tp and fp is an fp, since a contradiction is no
    agreement.
    """

    tp: tuple[str, ...]
    fp: tuple[str, ...]
    fn: tuple[str, ...]

    @classmethod
    def form(cls, wanted: Wanted) -> Mapping[str, Schema]:
        """What the form holds, by name."""
        return {"TP": TEXTS, "FP": TEXTS, "FN": TEXTS}

    @classmethod
    def read_freely(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, else lists under the headings TP, FP and FN; without any heading the reply is unread."""
        reply = own_text(text, hints)
        if (reading := read_json(reply, cls._shape, cls, hints=hints)) is not None:
            return reading
        # an entry may well be a line of the answer, but a heading may not
        own = [line for line in own_lines(reply, hints) if not (_is_heading(line) and is_copied(line, hints))]
        found = _sections(_BETWEEN_LISTS.sub("\n", "\n".join(own)).split("\n"))
        if found is None:
            return Reading(None, "unread")
        lists, dropped, _ = found
        if not _is_said(lists) or any(not _LETTER.search(text) for texts in lists.values() for text in texts):
            return Reading(None, "unread", tuple(dropped))
        # the form ends with the third list
        if not hints.stopped and (
            len(found.given) < len(_GROUPS) or _OPEN_END.search(reply[-80:]) or unfinished(reply, hints)
        ):
            return CUT_TEXT
        fit = cls._settled(lists, dropped)
        return Reading(fit.value if isinstance(fit.value, cls) else None, "headings", fit.dropped)

    @classmethod
    def _shape(cls, value: Json) -> Fit | None:
        if isinstance(value, list) and value and are_dicts(value) and all(len(item) == 1 for item in value):
            value = {key: inner for item in value for key, inner in item.items()}  # [{"TP": []}, {"FP": []}]
        if not isinstance(value, dict):
            return None
        lists: dict[Group, list[str]] = {"tp": [], "fp": [], "fn": []}
        seen = False
        for key, inner in value.items():
            group = _group_of(key)
            if group is None:
                continue
            # {"TP": {"a statement": ""}}: a list behind the wrong bracket
            listed: Json = (
                [*inner] if isinstance(inner, dict) and inner and not any(inner.values()) else inner
            )
            texts = texts_of(listed, *_TEXT_NAMES)
            if texts is None:
                return None
            seen = True
            lists[group] += texts
        if not seen:
            return None
        return cls._settled(lists, []) if _is_said(lists) else None

    @classmethod
    def in_form(cls, value: dict[str, Json]) -> Fit | None:
        """What an object says that is of the prompt's form to the letter."""
        is_form = value.keys() == {"TP", "FP", "FN"} and all(map(are_texts, value.values()))
        return cls._shape(value) if is_form else None

    @classmethod
    def _settled(cls, lists: dict[Group, list[str]], dropped: Sequence[str]) -> Fit:
        out = list(dropped)
        kept: dict[Group, tuple[str, ...]] = {}
        for group in _GROUPS:
            unique = distinct(lists[group])
            out += [f"{group.upper()}: {why}" for why in unique.dropped]
            kept[group] = unique.texts
        wrong = {_key(text) for text in kept["fp"]}
        out += [f"TP: also listed as FP: {text[:80]}" for text in kept["tp"] if _key(text) in wrong]
        agreed = tuple(text for text in kept["tp"] if _key(text) not in wrong)
        return Fit(cls(tp=agreed, fp=kept["fp"], fn=kept["fn"]), tuple(out))


def _is_said(lists: dict[Group, list[str]]) -> bool:
    """Whether the lists are more than the dots of the prompt's example."""
    every = [text for texts in lists.values() for text in texts]
    return not every or any(has_content(text) for text in every)


class _Sections(NamedTuple):
    lists: dict[Group, list[str]]
    dropped: list[str]
    given: frozenset[Group]


def _key(text: str) -> str:
    return squeeze(text).casefold().rstrip(".。 ")


def _group_of(key: str) -> Group | None:
    plain = fold(key).strip(" :\"'*")
    return next((group for group in _GROUPS if _KEYS[group].fullmatch(plain)), None)


def _sections(lines: Sequence[str]) -> _Sections | None:
    """The lines under each heading."""
    parts: dict[Group, list[str]] = {}
    dropped: list[str] = []
    current: Group | None = None
    for line in lines:
        heading = _HEADING.match(line[:2000])
        if heading is not None:
            group: Group = next(group for group in _GROUPS if heading[group])
            rest = (heading["rest"] or heading["dash"] or "") + line[2000:]
            if group in parts:
                # A second heading of a kind begins a corrected version of the list.
                dropped.append(f"{group.upper()}: listed again further down; the later list counts")
            parts[group] = [rest] if rest.strip() else []
            current = group
        elif current is not None:
            parts[current].append(line)
        elif has_content(line):
            dropped.append(f"before the first heading: {squeeze(line[:80])}")
    if not parts:
        return None
    lists: dict[Group, list[str]] = {"tp": [], "fp": [], "fn": []}
    for group, section in parts.items():
        lists[group] = _entries(section, dropped)
    return _Sections(lists, dropped, frozenset(parts))


def _is_heading(line: str) -> bool:
    return _HEADING.match(line[:2000]) is not None


def _entries(section: Sequence[str], dropped: list[str]) -> list[str]:
    text = "\n".join(section).strip().rstrip(",;} \n")
    inline = text.startswith("[")
    if inline:
        read = read_loose(text, 0)
        texts = None if read.failed else texts_of(read.value, *_TEXT_NAMES)
        if texts is not None:
            rest = text[read.end :]
            dropped += [f"after the list: {squeeze(rest[:80])}"] if has_content(rest) else []
            return texts
        # [Einstein was born in 1879, ...]: without quotes a semicolon or line break ends an entry, a comma
        # may not.
        closing = text.find("]")
        inside = text[1:closing] if closing != -1 else text[1:]
        return [
            unmarked(part)
            for part in re.split(r"[;\n]", inside)
            if has_content(part) and not is_none_word(part)
        ]
    entries: list[str] = []
    blank = False
    for line in section:
        if not has_content(line):
            blank = blank or bool(entries)
            continue
        marker = starts_number(line[:400]) or starts_bullet(line[:400])
        entry = unmarked(line[marker.end() :] if marker else line)
        if blank and marker is None and not line[0].isspace():
            dropped.append(f"after the list: {squeeze(line[:80])}")
        elif not is_none_word(entry):
            entries.append(entry)
    return entries
