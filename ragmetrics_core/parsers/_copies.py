"""What a judge copied out of the sample: in its place nothing is read as the judge's own word."""

import html
from functools import lru_cache
from typing import NamedTuple

from ragmetrics_core.parsers._reading import Hints
from ragmetrics_core.parsers._reply_text import (
    clean,
    line_key,
    marker_number,
    own_lines,
    sample_lines,
    starts_number,
)
from ragmetrics_core.parsers._words import verdict_word

__all__ = ["is_copied", "judged_lines", "shown_number"]

# Marks that a judge puts around what it quotes; a number is none of them, since it may place a verdict.
_QUOTING = " >*_#-–—•+|\"'“”„‘’«»`~"


class _CopyKeys(NamedTuple):
    """The keys of what a copy may look like.

    Attributes:
        lines: lines that are copies with any marks around them.
        items: the numbered items as they are shown, as one line each.
    """

    lines: frozenset[str]
    items: frozenset[str]


def judged_lines(text: str, hints: Hints) -> list[str]:
    """The lines in which a judge may have given its verdict: all of a reply but what it copied.

    A copy is a line of the sample, an item, or a line of the contexts as the prompt showed it ("[3] a
    sentence"), with or without quote marks, bullets or emphasis around it. Of a numbered item the number
    stays, for a judge may repeat a statement before its verdict. One word alone ("Yes.") is a copy only where
    the sample has it as a line of its own.
    """
    copies = _copies(hints)
    kept: list[str] = []
    for line in own_lines(text, hints):
        if not line:
            kept.append(line)
            continue
        key = _unquoted(line)
        if key in copies.items:
            kept += [line[: marker.end()]] if (marker := starts_number(line)) is not None else []
        elif key not in copies.lines:
            kept.append(line)
    return kept


def is_copied(line: str, hints: Hints) -> bool:
    """Whether a line of a reply is a copy, as `judged_lines` tells it."""
    if not line:
        return False
    return line_key(line) in sample_lines(hints.sample) or _unquoted(line) in _copies(hints).lines


def shown_number(line: str, hints: Hints) -> int | None:
    """The number of the context sentence that a line copies as it was shown ("[3] a sentence"), or None."""
    marker = starts_number(line)
    is_shown = marker is not None and line_key(line) in sample_lines(hints.shown)
    return marker_number(marker) if marker is not None and is_shown else None


@lru_cache(maxsize=64)
def _copies(hints: Hints) -> _CopyKeys:
    shown = sample_lines(hints.shown)
    whole = {line_key(text) for text in hints.items}
    sentences = {key.partition("] ")[2] for key in shown if key.startswith("[")}
    said = {key for key in sample_lines(hints.sample) | whole | sentences if verdict_word(key) is None}
    items = {
        _unquoted(f"{number}. {text}")
        for number, text in zip(hints.numbers, hints.items, strict=False)
        if verdict_word(html.unescape(clean(text))) is None
    }
    return _CopyKeys(frozenset(map(_unquoted, said | shown)) - {""}, frozenset(items))


def _unquoted(line: str) -> str:
    return line_key(line).strip(_QUOTING)
