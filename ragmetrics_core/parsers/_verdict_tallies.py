"""Tallies: "2 supported, 1 not supported" says how many statements are supported, not which."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import ITEM_LABEL
from ragmetrics_core.parsers._verdict_blocks import STATEMENT
from ragmetrics_core.parsers._words import PHRASE

__all__ = ["without_tallies"]

# "2 yes", "2 - yes", "2 | yes", "2x yes", "2 statements are supported"
_NUMBER_FIRST = lazy(
    rf"""(?P<number>\d{{1,3}})[*_`]*(?:\s*[|–—-]\s*|\s*[x×]\s*|\s+)[*_`]*
    (?:(?:{ITEM_LABEL}|{STATEMENT})\s+(?:(?:is|are|was|were|ist|sind|wird|werden|est|sont|es|son|è|sono|é|são|zijn)\s+)?)?
    (?P<word>{PHRASE})(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
# "Yes: 2", "Yes (2)", "Yes x2"; alone on its line "Yes (2)" is a verdict with the number of its source.
_WORD_FIRST = lazy(
    rf"(?P<word>{PHRASE})(?!\w)[*_`]*\s*(?P<mark>[:：=(\[x×|–—-]?)[\s*_`]*(?P<number>\d{{1,3}})(?![\w%]|[.,]\d)[)\]]?",
    re.IGNORECASE,
)
_LEAD = lazy(r"[\s>*_`|•+#-]*(?:[^:：\d]{1,80}[:：][\s*_`]*)?(?=\d)")
_WORD_LEAD = lazy(r"[\s>*_`|•+#-]*(?:\d{1,3}[.)]\s+)?[*_`]*(?:[^:：\d,;/]{1,80}[:：][\s*_`]+(?=\D))?")
_BETWEEN = lazy(r"[\s,;/|&+.!、，；。*_`)\]]*(?:(?:and|und|et|y|e|en|ed|和|および|और)\s+)?")
_DIGIT = lazy(r"\d")
_LONGEST = 400


class _Count(NamedTuple):
    """A number beside a verdict: how many statements it is on, or the number of one."""

    number: int
    word: str


class _Line(NamedTuple):
    """What a line counts, when it does nothing else."""

    counts: tuple[_Count, ...]
    is_word_first: bool


def without_tallies(lines: Sequence[str], hints: Hints) -> list[str]:
    """The lines without those that only say on how many statements a verdict is.

    A number with only a space, a dash or a bar before its verdict ("2 yes") may be a count or the number
    of a statement. It is a statement's when these numbers are all that were asked about, when a verdict comes
    with two of them (a tally has each verdict once), or when one that was asked about is too large for a
    count. Otherwise it says nothing, and the statement is asked about again. "Yes: 2" is a count, unless 2
    alone was asked about.
    """
    read = [
        _counted(line.strip()) if line and len(line) <= _LONGEST and _DIGIT.search(line) else None
        for line in lines
    ]
    rows = {count for row in read if row and not row.is_word_first for count in row.counts}
    words = {count for row in read if row and row.is_word_first for count in row.counts}
    is_tally = _is_tally(rows, hints)
    is_word_tally = {count.number for count in words} != {*hints.numbers}
    return [
        line
        for line, row in zip(lines, read, strict=True)
        if row is None or not (is_word_tally if row.is_word_first else is_tally)
    ]


def _is_tally(rows: set[_Count], hints: Hints) -> bool:
    numbers = {row.number for row in rows}
    most = len(hints.numbers)
    return (
        numbers != {*hints.numbers}
        and len({row.word for row in rows}) == len(rows)
        and not any(number > most and number in hints.numbers for number in numbers)
    )


# The lines of a reply say the same few words over and over.
@lru_cache(maxsize=1024)
def _counted(line: str) -> _Line | None:
    """The counts that a line is made of; None where it holds anything else."""
    if (lead := _LEAD.match(line)) and (counts := _all(_NUMBER_FIRST, line, lead.end())):
        return _Line(tuple(_count(found) for found in counts), False)
    if lead := _WORD_LEAD.match(line):
        counts = _all(_WORD_FIRST, line, lead.end()) or _all(
            _WORD_FIRST, line, len(line) - len(line.lstrip(" *_`|>-"))
        )
        if len(counts) > 1 or (counts and counts[0]["mark"] in {":", "：", "="}):
            return _Line(tuple(_count(found) for found in counts), True)
    return None


def _all(pattern: re.Pattern[str], line: str, place: int) -> list[re.Match[str]]:
    """The counts from a place on, when there is nothing else up to the end of the line."""
    counts: list[re.Match[str]] = []
    while place < len(line):
        found = pattern.match(line, place)
        if found is None:
            return []
        counts.append(found)
        between = _BETWEEN.match(line, found.end())
        place = between.end() if between else found.end()
    return counts


def _count(found: re.Match[str]) -> _Count:
    return _Count(int(found["number"]), " ".join(found["word"].casefold().split()))
