"""Passages: a document cut at its headings, paragraphs and sentences."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.questions._model import Document, Passage
from ragmetrics_core.texts.comparing import WORD

__all__ = ["passages_of"]

_SENTENCE, _LINE, _PARAGRAPH, _HEADING = range(4)

_HASHES: Final = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_UNDERLINE: Final = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:[-*+•‣▪◦●|]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s|\s*\|")
_LAST_MARK: Final = re.compile(r"[.!?:;,。！？：；、।؟۔…][\W_]*$")
_LINE_BREAKS: Final = dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
_WORDS_OF_HEADING: Final = 12


class _Piece(NamedTuple):
    """A sentence, a line of a list or a heading.

    Attributes:
        start, end: its range of characters.
        before: what begins with it: `_SENTENCE`, `_LINE`, `_PARAGRAPH` or `_HEADING`.
        words: number of its words.
    """

    start: int
    end: int
    before: int
    words: int


class _Lines(NamedTuple):
    """Lines that may share a sentence."""

    start: int
    end: int
    before: int


def passages_of(document: Document, words: int) -> list[Passage]:
    """Cut a document into passages of about as many words.

    A passage ends at a heading, else a paragraph, else a sentence. A sentence is cut only if it is longer
    than two passages, at a line break or between words. All that is not blank belongs to one passage.
    """
    pieces = [
        part
        for block in _blocks(document.text)
        for piece in _sentences(document.text, block)
        for part in _shortened(document.text, piece, words)
    ]
    return [
        Passage(document=document.id, start=start, end=end, text=document.text[start:end])
        for start, end in _packed(pieces, words)
    ]


def _packed(pieces: Iterable[_Piece], words: int) -> list[tuple[int, int]]:
    """The ranges of the passages."""
    groups: list[list[_Piece]] = [[]]
    size = 0
    for piece in pieces:
        group = groups[-1]
        is_full = 2 * size + piece.words > 2 * words
        ends_section = piece.before == _HEADING and 3 * size >= words
        ends_paragraph = piece.before == _PARAGRAPH and 3 * size >= 2 * words
        if group and (is_full or ends_section or ends_paragraph):
            groups.append(_split_off_headings(group))
            size = sum(heading.words for heading in groups[-1])
        groups[-1].append(piece)
        size += piece.words
    last = groups[-1]
    if len(groups) > 1 and last[0].before != _HEADING and 4 * size < words:
        del groups[-1]
        groups[-1] += last
    return [(group[0].start, group[-1].end) for group in groups if group]


def _split_off_headings(group: list[_Piece]) -> list[_Piece]:
    """Remove the headings at the end of a group, unless it has nothing else; they belong to the next one."""
    size = len(group)
    while size and group[size - 1].before == _HEADING:
        size -= 1
    headings = group[size:] if size else []
    del group[len(group) - len(headings) :]
    return headings


def _blocks(text: str) -> Iterator[_Lines]:
    """Headings, items of lists, lines of tables and code, and paragraphs."""
    at, in_code, before = 0, False, _PARAGRAPH
    block: list[tuple[int, int]] = []
    lines = [*text.splitlines(keepends=True), ""]
    for line in lines:
        start, at = at, at + len(line)
        is_fence = _FENCE.match(line) is not None
        is_underline = len(block) == 1 and not in_code and _UNDERLINE.match(line) is not None
        is_apart = in_code or is_fence or _ITEM.match(line) or _HASHES.match(line)
        if block and (not line.strip() or (is_apart and not is_underline)):
            yield _block(text, block, before, is_alone=before == _PARAGRAPH and not line.strip())
            block, before = [], _LINE
        if not line.strip():
            before = _PARAGRAPH
        elif is_underline:
            yield _Lines(block[0][0], at, _HEADING)
            block, before = [], _PARAGRAPH
        elif _HASHES.match(line) and not in_code:
            yield _Lines(start, at, _HEADING)
            before = _PARAGRAPH
        else:
            block.append((start, at))
        in_code ^= is_fence


def _block(text: str, lines: list[tuple[int, int]], before: int, *, is_alone: bool) -> _Lines:
    """A block of lines; a short line between blank lines that does not end like a sentence is a heading."""
    start, end = lines[0][0], lines[-1][1]
    line = text[start:end].strip()
    is_phrase = is_alone and len(lines) == 1 and not _LAST_MARK.search(line[-8:]) and not _ITEM.match(line)
    if is_phrase and 0 < _count(line) <= _WORDS_OF_HEADING:
        before = _HEADING
    return _Lines(start, end, before)


def _sentences(text: str, block: _Lines) -> Iterator[_Piece]:
    """The sentences of a block; of what is between two, marks that touch the first belong to it."""
    flat = text[block.start : block.end].translate(_LINE_BREAKS)
    starts, at = [0], 0
    for sentence in split_sentences(flat) if block.before != _HEADING else ():
        start = flat.index(sentence, at)
        if at:
            while at < start and not flat[at].isspace():
                at += 1
            starts.append(at)
        at = start + len(sentence)
    before = block.before
    for start, end in zip(starts, [*starts[1:], len(flat)], strict=True):
        part = flat[start:end]
        first, last = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
        if first < last:
            yield _Piece(block.start + first, block.start + last, before, _count(part))
            before = _SENTENCE


def _shortened(text: str, piece: _Piece, words: int) -> Iterator[_Piece]:
    """The piece, or its parts of at most `words` words if it is longer than two passages."""
    if piece.words <= 2 * words:
        yield piece
        return
    places = [found.start() for found in WORD.finditer(text, piece.start, piece.end)]
    start, before, first = piece.start, piece.before, 0
    while start < piece.end:
        end = piece.end
        if first + words < len(places):
            limit = places[first + words]
            end = text.rfind("\n", places[first + words // 2], limit) + 1 or limit
        following = bisect_left(places, end)
        part = text[start:end]
        begin = start + len(part) - len(part.lstrip())
        yield _Piece(begin, start + len(part.rstrip()), before, following - first)
        start, before, first = end, _SENTENCE, following


def _count(text: str) -> int:
    return sum(1 for _ in WORD.finditer(text))
