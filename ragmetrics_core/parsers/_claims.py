"""Sentences of a text that can state something, and whether a statement can come from its sentence."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ragmetrics_core.comparing import folded, plain_form
from ragmetrics_core.parsers._sentences import RULES

__all__ = ["is_tied", "stating_sentences"]

Places = Sequence[tuple[int, int]]

_HEADING = re.compile(
    r"^ {0,3}#{1,6}\s[^\n]*|^[^\n]*[^\s.!?。！？][^\S\n]*\n {0,3}(?:=+|-{3,})[^\S\n]*$", re.MULTILINE
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
# Scripts without spaces between words: pairs of letters stand for words there.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SHORTEST = 4
# Words of this length that say nothing by themselves.
_FUNCTION_WORDS = frozenset(RULES["function_words"])


def stating_sentences(text: str, places: Places) -> tuple[tuple[int, int], ...]:
    """The places of the sentences outside headings and blocks of code, or of all if no others exist.

    Args:
        text: the text, perhaps in Markdown.
        places: start and end of each of its sentences.
    """
    outside = sorted([*(heading.span() for heading in _HEADING.finditer(text)), *_code_blocks(text)])
    ends = [*accumulate([end for _, end in outside], max)]
    starts = [start for start, _ in outside]
    kept = [
        place for place in places if not ((at := bisect_right(starts, place[0])) and place[0] < ends[at - 1])
    ]
    return tuple(kept or places)


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Places of the blocks of code that end."""
    first: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if first is None:
            first = fence
        elif fence[1].startswith(first[1]) and not fence[2].strip():
            yield first.start(), fence.end()
            first = None


def is_tied(statement: str, sentence: str, around: Sequence[str]) -> bool:
    """Whether a statement can have been taken from a sentence.

    It shares a content word with the sentence. The statement of a sentence such as "Absolutely." has the
    words of the question, and no other. Words are content words from four letters on, as are numbers and
    names in capitals; of longer words the first four letters count, so that their endings may differ.

    Args:
        statement: the statement.
        sentence: the sentence.
        around: the other texts that the statement may take words from.

    >>> is_tied("The tower is in Rome.", "It stands in Paris.", ["Where is the tower?"])
    False
    >>> is_tied("The tower is open.", "Absolutely.", ["Is the tower open?"])
    True
    """
    said, own = set(_content(statement)), set(_content(sentence))
    if not said or said & own:
        return True
    known = {word for text in around for word in _content(text)}
    return said <= known if own else bool(said & known)


def _content(text: str) -> Iterator[str]:
    for found in _WORD.finditer(plain_form(text)):
        word = found[0]
        plain = folded(word)
        if _UNSPACED.match(word):
            yield from (plain[place : place + 2] for place in range(max(len(plain) - 1, 1)))
        elif word[0].isdigit() or (len(word) > 1 and word.isupper()):
            yield plain
        elif len(plain) >= _SHORTEST and plain not in _FUNCTION_WORDS:
            yield plain[:_SHORTEST]
