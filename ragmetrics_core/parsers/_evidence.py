"""Locate quotes in the contexts."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ConfigDict, with_config

from ragmetrics_core.texts.comparing import Writing

__all__ = ["ELLIPSIS", "Span", "at_words", "comparable", "locate"]

_ENOUGH = re.compile(r"(?:[^\W_][\W_]*+){3}")
_TRIES = 100
_SURE_INSIDE_WORDS = 8
_QUOTES = "\"'`´“”„‟‘’‚‛«»‹›「」『』＂＇"
_KINDS = str.maketrans(dict.fromkeys(_QUOTES, '"') | dict.fromkeys("—―", "-"))
_LETTER = re.compile(r"[A-Z]|[^\0-\x7f]")
_DOTTED_I = re.compile("i\u0307")
_LEADING = re.compile(rf"^(?:[\s{_QUOTES}*_…]|\.{{3}}|\[\d{{1,4}}\]|[-•]\s)+")
# A run of spaces is tried from its beginning only.
_TRAILING = re.compile(rf"(?<![\s{_QUOTES}*_…])(?:[\s{_QUOTES}*_…]|\.{{3}}|\[\d{{1,4}}\])+$")
ELLIPSIS = re.compile(r"(?:(?<!\s)\s+)?(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*")


@with_config(ConfigDict(extra="ignore"))
@dataclass(slots=True, unsafe_hash=True)
class Span:
    """A place in the contexts.

    Attributes:
        chunk: number of the chunk, from 1.
        start: index of the first character within the chunk, from 0.
        end: index after the last character.
        exact: whether the chunk has the quote letter for letter. Otherwise case, spaces, quotation marks,
            dashes or enclosing marks differ, or only the longest part was found.
    """

    chunk: int
    start: int
    end: int
    exact: bool


def locate(quote: str, contexts: Sequence[str]) -> Span | None:
    r"""Find a quote in the chunks: letter for letter, else normalised, else its longest part.

    The first matching chunk counts, and in it preferably a place at whole words. None if the quote has fewer
    than three letters and digits or is not found. A quote with fewer than eight must match whole words.

    >>> locate("“THE cat\n sat”", ["A dog ran.", "Yes: the cat sat."])
    Span(chunk=2, start=5, end=16, exact=False)
    """
    if not _ENOUGH.search(quote):
        return None
    for chunk, context in enumerate(contexts, 1):
        if (start := _find(quote, context)) is not None:
            return Span(chunk, start, start + len(quote), exact=True)
    for wanted in _variants(quote):
        needle = _normal(wanted).text.strip()
        if not _ENOUGH.search(needle):
            continue
        for chunk, context in enumerate(contexts, 1):
            normal = _normal(context)
            if (at := _find(needle, normal.text)) is not None:
                start, end = normal.origin(at, at + len(needle))
                return Span(chunk, start, end, exact=False)
    return None


def _variants(quote: str) -> Iterator[str]:
    """The quote as it is, without enclosing marks, and its longest part between ellipses."""
    yield quote
    inner = _TRAILING.sub("", _LEADING.sub("", quote[:])) if len(quote) < 20_000 else quote.strip()
    yield inner
    yield inner.rstrip(".。 ")
    parts = ELLIPSIS.split(inner)
    if len(parts) > 1:
        yield max(parts, key=len).strip()


def _find(needle: str, text: str) -> int | None:
    """The first place at whole words; for long quotes, else the first place of all."""
    first = None
    at = text.find(needle)
    for _ in range(_TRIES):
        if at == -1:
            break
        end = at + len(needle)
        if not unicodedata.combining(text[end : end + 1] or " "):  # else its last letter is another one
            first = at if first is None else first
            is_between = not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum())
            if is_between or at_words(text, at, end):
                return at
        at = text.find(needle, at + 1)
    return first if sum(map(str.isalnum, needle)) >= _SURE_INSIDE_WORDS else None


def at_words(text: str, start: int, end: int) -> bool:
    """Whether the place cuts no word of a script with spaces."""
    return not (_joins(text, start) or _joins(text, end))


def _joins(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at : at + 1]
    return before.isalnum() and after.isalnum() and not (_is_unspaced(before) or _is_unspaced(after))


def _is_unspaced(char: str) -> bool:
    """Whether the character's script writes no spaces between words (Chinese, Japanese, Thai)."""
    return char > "\u0e00" and unicodedata.category(char) == "Lo"


def comparable(text: str) -> Writing:
    """The plain form with folded case, one kind of quotation mark and one kind of dash."""
    plain = Writing.of(text).plain()
    cased = plain.text.translate(_KINDS)
    lower = cased.casefold()
    if len(lower) == len(cased):
        plain = plain._replace(text=lower)
    else:  # "ß" becomes two characters
        plain = plain._replace(text=cased).rewritten(_LETTER, lambda found: found[0].casefold())
    return plain if lower.isascii() else plain.rewritten(_DOTTED_I, lambda _: "i")


@lru_cache(maxsize=64)
def _normal(text: str) -> Writing:
    return comparable(text).spaced()
