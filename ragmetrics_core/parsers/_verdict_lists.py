"""Lists of verdicts and nothing else: under the heading of a final list, or the words that end a reply."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import marker_number, starts_bullet, starts_number
from ragmetrics_core.parsers._verdict_blocks import LINE, STATEMENT, CutReply, TextVerdict, blocks, notes
from ragmetrics_core.parsers._verdict_digits import may_be_numbers
from ragmetrics_core.parsers._words import PHRASE, leading_verdict, verdict_word

__all__ = ["FINAL_HEADING", "final_list", "line_entries"]

FINAL_HEADING = lazy(
    r"""[\s\#*_>\-]*(?:\d{1,2}[.)]\s*)?(?:(?:so|thus|therefore|hence),?\ )?
    (?:here\ (?:are|is)\ the\ |(?:die\ |les\ |los\ |the\ |i\ |as\ |os\ |de\ )?)
    (?: final\ (?:verdicts?|answers?|list|judg(?:e)?ments?) | verdicts?\ in\ order | verdicts
      | (?:endgültige[sn]?|abschließende[sn]?|finale[sn]?)\ (?:urteile?|bewertung(?:en)?|liste) | endurteile?
      | verdicts?\ fina(?:l|ls|ux) | veredictos?\ fina(?:l|les|is) | vereditos?\ fina(?:l|is)
      | (?:verdett[oi]|giudizi?o?)\ final[ei]
      | (?:eindoordeel|eindoordelen|(?:definitieve|finale)\ oordelen)
      | 最终(?:判断|裁决|结论|判定|判决|结果) | 最終(?:判定|判断|評決|結論) | अंतिम\ (?:निर्णय|फ़?ैसला|फैसले) )
    [^:：\n]{0,80} (?: [:：][\s*_]* | [\s*_]*$ )""",
    re.VERBOSE | re.IGNORECASE,
)
_ENTRY = lazy(
    rf"(?:[(\[]?(?:{STATEMENT}|s)?\s*\#?(?P<number>\d{{1,3}})\s*(?:[.):\]：、=\-–—]|->|→)+\s*)?(?P<phrase>{PHRASE})(?!\w)[\s.,;|、，；。)\]\"']*",
    re.IGNORECASE,
)
_DECIMAL = lazy(r"\d[.]\d")
_OTHER_NUMBERED = lazy(r"\W*\d")
# The verdicts of 200 statements on one line.
_LONGEST_LIST = 1200


def final_list(reply: CutReply, hints: Hints) -> list[TextVerdict] | None:
    """The entries under the last heading of a final list, or the verdict words that end the reply."""
    lines = reply.lines
    for place in range(len(lines) - 1, -1, -1):
        heading = FINAL_HEADING.match(lines[place][:LINE])
        if heading is None:
            continue
        said = _entries([lines[place][heading.end() :], *lines[place + 1 :]])
        if said and _is_certain(said, hints):
            return _reasoned(said, lines[:place], hints)
        break
    most = max(200, 3 * len(hints.numbers))
    ending = _word_lines(reversed(lines), most)
    # Lines of a number and a word are the numbered rule's.
    if ending and all(len(got) == 1 and starts_number(line) for line, got in ending):
        return None
    rows = ending[::-1] or _word_lines(lines, most)
    if _are_numbers(rows, lines):
        return None
    said = [one for _, got in rows for one in got]
    if not said or not _is_certain(said, hints) or (not ending and len(said) == 1):
        return None
    digits = [int(one.shown) for one in said if one.shown in {"0", "1"}]
    if len(digits) == len(said) and may_be_numbers(digits, hints):
        return None
    return None if len(said) == 1 and _disagrees(lines, said[0]) else said


def _are_numbers(rows: Sequence[tuple[str, list[TextVerdict]]], lines: Sequence[str]) -> bool:
    """Whether rows of 1 and 0 may be numbers with a verdict each: "1. 0", or "1 0" above "2 1"."""
    digits = [line for line, got in rows if len(got) > 1 and all(one.shown in {"0", "1"} for one in got)]
    below = [line for line in lines if line.strip()][len(rows) :] if digits else []
    return any(map(starts_number, digits)) or any(map(_OTHER_NUMBERED.match, below))


def _word_lines(lines: Iterable[str], most: int) -> list[tuple[str, list[TextVerdict]]]:
    """The first lines that hold nothing but verdicts, with these; none when there are too many."""
    rows: list[tuple[str, list[TextVerdict]]] = []
    total = 0
    for line in lines:
        if not line.strip():
            continue
        got = line_entries(line)
        total += len(got)
        if not got:
            break
        if total > most:
            return []
        rows.append((line, got))
    return rows


def _reasoned(said: Sequence[TextVerdict], lines: Sequence[str], hints: Hints) -> list[TextVerdict]:
    """The entries of a final list with the explanations that stand before it under the same numbers."""
    reasons = {block.number: notes(block) for block in blocks(lines) if block.number is not None}
    numbers = [one.number for one in said]
    placed = hints.numbers if None in numbers else numbers
    found = [reasons.get(number) for number in placed if number is not None]
    return [
        one
        if note is None or one.reason
        else one._replace(reason=note.reason or None, evidence=note.evidence)
        for one, note in zip(said, found, strict=True)
    ]


def _disagrees(lines: Sequence[str], last: TextVerdict) -> bool:
    """Whether a reply on one statement begins with another verdict than it ends with, or is just one."""
    first = leading_verdict("\n".join(lines)[:LINE])
    return first is not None and (
        first.supported != last.supported or len([line for line in lines if line.strip()]) == 1
    )


def _is_certain(said: Sequence[TextVerdict], hints: Hints) -> bool:
    numbers = sum(one.number is not None for one in said)
    return numbers == len(said) or (numbers == 0 and len(said) == len(hints.numbers))


def _entries(lines: Sequence[str]) -> list[TextVerdict]:
    """The verdicts of a list that may be on one line or on many; what follows the list is no part of it."""
    said: list[TextVerdict] = []
    for line in lines:
        if not line.strip(" \t*_`>#-|="):
            continue
        got = line_entries(line) or _reasoned_entry(line)
        if not got:
            break
        said += got
    return said


@lru_cache(maxsize=1024)
def _phrase_verdict(phrase: str) -> bool | None:
    return verdict_word(phrase)


def line_entries(line: str) -> list[TextVerdict]:
    """The verdicts of a line that holds nothing but verdicts and their numbers; none of any other line."""
    if not line or line.isspace():
        return []
    text = re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", line).strip().strip("|[]()>").strip()
    if len(text) > _LONGEST_LIST:
        return []
    if (bullet := starts_bullet(text)) is not None:
        text = text[bullet.end() :]
    words = [word for word in re.split(r"[\s.,;|、，；。]+", text) if word]
    binary = len(words) > 0 and all(word in {"0", "1"} for word in words)
    if binary and not _DECIMAL.search(text):
        return [TextVerdict(None, word == "1", shown=word) for word in words]
    said: list[TextVerdict] = []
    position = 0
    while position < len(text):
        entry = _ENTRY.match(text, position)
        if entry is None:
            return []
        number = int(entry["number"]) if entry["number"] else None
        said.append(TextVerdict(number, _phrase_verdict(entry["phrase"]), shown=entry["phrase"]))
        position = entry.end()
    return said


def _reasoned_entry(line: str) -> list[TextVerdict]:
    marker = starts_number(line)
    if marker is None or (led := leading_verdict(line[marker.end() :])) is None:
        return []
    return [TextVerdict(marker_number(marker), led.supported, led.rest or None, shown=line[marker.end() :])]
