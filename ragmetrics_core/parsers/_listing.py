"""Lists of short texts in a reply: from JSON values and from numbered, bulleted or plain lines."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragmetrics_core.parsers._json_text import MISSING, Missing, pick
from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import (
    ListEntry,
    bulleted,
    few,
    has_content,
    is_refusal,
    listed_lines,
    numbered,
    own_lines,
    plain,
    squeeze,
    unmarked,
)
from ragmetrics_core.shapes import Json

__all__ = ["Distinct", "ListedEntries", "distinct", "filled", "is_none_word", "listed", "texts_of"]

_NONE_WORD = lazy(
    r"""\W*(?:(?:there\ (?:are|were)|i\ found|contains?)\s+)?(?:
      none(?:\ (?:found|identified|present|listed|given|here|of\ (?:\w+\ ?){1,3}))?
    | nothing | nil | null | n/a | empty
    | no\ (?:\w+\ ){0,2}
      (?:statements?|claims?|facts?|entities|questions?|sentences?|items?|results?|positives?|negatives?)
      (?:\ (?:found|present|made|available|were\ found|could\ be\ \w+))?
    | (?:the\ )?(?:answer|text|reference)\ (?:does\ not|doesn\W?t)\ (?:contain|make|have)
      \ any\ (?:\w+\ )?
      (?:statements?|claims?|facts?)
    | keine? | keine\ aussagen | aucune?? | aucune\ (?:affirmation|entité)
    | ningun[oa]? | nessun[oa]? | nenhum[a]? | geen | 无 | 没有 | なし | कोई\ नहीं
    )\W*""",
    re.VERBOSE | re.IGNORECASE,
)
_LABEL = lazy(
    r"[\s*_\-•]*(?:statement|claim|fact|aussage|affirmation|enunciado|afirmación|陈述)[*_]*\s*[:：][\s*_]*(?=\S)",
    re.IGNORECASE,
)
_SENTENCE_END = lazy(r"[.!?。！？।؟…][\"'”’)\]*_]*$")


class Distinct(NamedTuple):
    """The texts that count, and what was left out."""

    texts: tuple[str, ...]
    dropped: tuple[str, ...]


class ListedEntries(NamedTuple):
    """The entries that a text rule found, its name, and the lines that are no entries."""

    rule: str
    items: tuple[ListEntry, ...]
    dropped: tuple[str, ...]


def filled(texts: Iterable[str], dropped: Sequence[str] = ()) -> Distinct:
    """Drop blank texts; say which."""
    plain = [squeeze(text) for text in texts]
    blank = [f"entry {position} is blank" for position, text in enumerate(plain, 1) if not has_content(text)]
    return Distinct(tuple(filter(has_content, plain)), few([*dropped, *blank]))


def distinct(texts: Iterable[str], dropped: Sequence[str] = ()) -> Distinct:
    """Drop blank texts and texts that repeat an earlier one (apart from case and spaces); say which."""
    kept: dict[str, str] = {}
    out = list(dropped)
    for position, text in enumerate(texts, 1):
        plain = squeeze(text)
        key = plain.casefold().rstrip(".。 ")
        if not has_content(plain):
            out.append(f"entry {position} is blank")
        elif key in kept:
            out.append(f"entry {position} repeats an earlier one: {plain[:80]}")
        else:
            kept[key] = plain
    return Distinct(tuple(kept.values()), few(out))


def texts_of(value: Json, *names: str) -> list[str] | None:
    """The texts of a JSON list: strings, or objects with a text under a name; None for anything else.

    A null says that there are none; one text alone is a list of one, unless it says "none"; a mapping from
    numbers is a list as well.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [] if is_none_word(value) or not has_content(value) else [plain(value)]
    if isinstance(value, dict) and value and all(re.fullmatch(r"\D{0,12}\d{1,4}\W*", key) for key in value):
        value = list(value.values())
    if not isinstance(value, list):
        return None
    texts: list[str] = []
    for item in value:
        text: Json | Missing = item
        if isinstance(item, dict):
            text = pick(item, *names)
        elif isinstance(item, list) and len(item) == 1:
            text = item[0]
        if text is MISSING or not (text is None or isinstance(text, str)):
            return None
        texts.append("" if text is None else plain(text))
    return texts


def is_none_word(text: str) -> bool:
    """Whether a short text says that there is nothing to list ("None.", "No statements")."""
    return len(text) < 120 and _NONE_WORD.fullmatch(text.strip()) is not None


def listed(reply: str, hints: Hints) -> ListedEntries | None:
    """Read a list from plain text: numbered, else bulleted, else a line for each entry.

    A text of one line is an entry only when it looks like a sentence. None when the reply is empty, a
    refusal of the judge, or no list at all.
    """
    if not has_content(reply):
        return None
    if is_none_word(unmarked(reply)):
        return ListedEntries("none", (), ())
    lines = own_lines(reply, hints)
    for rule, collect in (("numbered", numbered), ("bulleted", bulleted)):
        found = collect(lines)
        if any(has_content(item.text) for item in found.items):
            return ListedEntries(rule, found.items, found.dropped)
    if is_refusal(reply) or reply.lstrip()[:1] in "{[":
        return None
    if rows := _rows(lines):
        return ListedEntries("table", rows, ())
    if labelled := [
        ListEntry(None, unmarked(line[label.end() :]))
        for line in lines
        if (label := _LABEL.match(line[:200]))
    ]:
        return ListedEntries("labelled", tuple(labelled), ())
    plain = listed_lines(lines)
    if len(plain.items) > 1 or (plain.items and _is_sentence(plain.items[0].text)):
        return ListedEntries("lines", plain.items, plain.dropped)
    return None


def _rows(lines: Sequence[str]) -> tuple[ListEntry, ...]:
    """The entries of a markdown table: its column with the most text, below the rule under its head."""
    rows: list[list[str]] = []
    has_rule = False
    for line in lines:
        if line.count("|") < 2:
            continue
        if not has_content(line):
            rows.clear()
            has_rule = True
            continue
        rows.append([unmarked(cell) for cell in line.strip().strip("|").split("|")])
    if not has_rule or not rows:
        return ()
    lengths = [
        sum(len(row[place]) for row in rows if place < len(row))
        for place in range(min(max(map(len, rows)), 50))
    ]
    column = lengths.index(max(lengths))
    return tuple(ListEntry(None, row[column]) for row in rows if column < len(row))


def _is_sentence(text: str) -> bool:
    """Whether one line looks like a sentence: it ends like one and has more than one word."""
    spaced = " " in text.strip() or any(ord(char) > 0x2E80 for char in text)
    return spaced and _SENTENCE_END.search(text.strip()) is not None
