"""Normalization of texts for comparison."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNSPACED", "WORD", "Writing", "canonical_form", "folded", "plain_form", "spaced_form"]

# Nobody sees them (soft hyphens, zero-width spaces and joiners, marks of direction, variation selectors), or
# they only stretch a word or name its owner (tatweel, signs of a trade mark).
_UNSEEN: Final = re.compile(
    "[\xad\u034f\u061c\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\u2122\u2120\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]+"
)
_POWERS: Final = "²³¹⁰⁴-⁾"
_FRACTIONS: Final = "¼-¾⅐-⅟↉"
_SUBSCRIPTS: Final = "₀-₎"
# Numbers in circles, brackets or with a full stop, and signs that hold a digit ("㎡", "㏠").
_DIGIT: Final = "(?:[①-⒛⓪㉈-㉏㉑-㉟㊱-㊿㋀-㋋㍘-㍰㎟-㎦㎨㎯㏠-㏾]|[\U0001f100-\U0001f10a])"
_NUMBER: Final = re.compile(
    f"(?P<power>[{_POWERS}]+)|(?P<fraction>[{_FRACTIONS}])|(?P<digit>[{_SUBSCRIPTS}]+|{_DIGIT})"
)
_INSIDE_NUMBERS: Final = ".,:/"
_SPACE: Final = re.compile(r"\s{2,}|[^\S ]")
_BEFORE_DIGIT: Final = re.compile(r"[.,:/]?\d")
# Where marks and characters that the form changes may be: not among the ideographs of East Asia.
_SCANNED: Final = (range(0x80, 0x3400), range(0xA000, 0xAC00), range(0xF900, 0xFFFE))
_SCANNED_HIGH: Final = range(0x10000, 0x1F000)
_HIGH: Final = "[\U00010000-\U0010ffff]"
# Letters that compose with the one before them: jamo, and half-width sound marks.
_COMPOSING: Final = "\u1160-\u11ff\u3131-\u318e\ud7b0-\ud7ff\uff9e\uff9f\uffa0-\uffdc"
# Apostrophes and hyphens that only look otherwise; a dash between words is neither.
_TYPOGRAPHY: Final = str.maketrans(
    dict.fromkeys("‘’‚‛ʻʼ′´", "'") | dict.fromkeys("‐‑‒–−﹣－", "-") | dict.fromkeys("⁄∕", "/")
)


UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Characters of scripts that put no space between words (Thai, Lao, Burmese, Khmer, kana, Han), for a set."""
WORD: Final = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]{{1,30}}")
"""A word, or a character of such a script; a text without spaces, such as one in Base64, is several words."""


class Writing(NamedTuple):
    """A rewritten text with its source.

    Attributes:
        source: the original text.
        text: the rewritten text.
        starts, ends: start and end in the source of each character of the text.
    """

    source: str
    text: str
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def of(cls, text: str) -> Self:
        """A text without changes."""
        places = np.arange(len(text) + 1, dtype=np.int32)
        return cls(text, text, places[:-1], places[1:])

    def rewritten(self, pattern: re.Pattern[str], write: Callable[[re.Match[str]], str]) -> Self:
        """Replace all matches of a pattern; returns itself if nothing changes."""
        spans: list[tuple[int, int]] = []
        lengths: list[int] = []

        def written(match: re.Match[str]) -> str:
            made = write(match)
            spans.append(match.span())
            lengths.append(len(made))
            return made

        text = pattern.sub(written, self.text)
        if text == self.text:
            return self
        firsts, lasts = np.array(spans).T
        size = len(self.text) + 1
        edges = np.bincount(firsts, minlength=size) - np.bincount(lasts, minlength=size)
        copies = 1 - edges.cumsum()[:-1]  # of each character; of a match none but what stands for its first
        copies[firsts] = lengths
        ends = self.ends.copy()
        ends[firsts] = self.ends[lasts - 1]
        return type(self)(self.source, text, self.starts.repeat(copies), ends.repeat(copies))

    def plain(self) -> Self:
        """The plain form."""
        writing = self
        if not self.text.isascii():
            for pattern, write in _steps(self.text):
                writing = writing.rewritten(pattern, write)
        return writing

    def spaced(self) -> Self:
        """With single spaces only."""
        return self.rewritten(_SPACE, lambda _: " ")

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Range in the source of a range of characters."""
        return int(self.starts[start]), int(self.ends[end - 1])


def plain_form(text: str) -> str:
    r"""Normal form for comparing texts.

    It is Unicode's compatibility form (NFKC) without invisible characters, with plain apostrophes, hyphens
    and digits 0 to 9. A power, a fraction or a circled number stays separate from adjacent digits. Letters
    keep their case and marks, and ASCII does not change.

    >>> plain_form("cafe\u0301 so\u00adft \uff11"), plain_form("10², m², 1½, 2019.①")
    ('café soft 1', '10^2, m2, 1 1/2, 2019. 1')
    """
    if text.isascii():
        return text
    for pattern, write in _steps(text):
        text = pattern.sub(write, text)
    return text


def canonical_form(text: str) -> str:
    """Canonical Unicode form (NFC) of a name."""
    return unicodedata.normalize("NFC", text)


def spaced_form(text: str) -> str:
    """The plain form, stripped, with single spaces."""
    return " ".join(plain_form(text).split())


def folded(text: str) -> str:
    """The case-folded text; a Turkish dotted capital I becomes a plain i.

    >>> folded("İstanbul"), folded("STRASSE") == folded("Straße")
    ('istanbul', True)
    """
    return text.casefold().replace("i\u0307", "i")


Step = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def _steps(text: str) -> Iterator[Step]:
    """Rewriting steps in order; invisible characters go first, so that marks follow their letter."""
    yield _UNSEEN, lambda _: ""
    yield _clusters(), lambda found: _compatible(found[0])
    if _NUMBER.search(text):
        yield _NUMBER, _number


@cache
def _clusters() -> re.Pattern[str]:
    """A character that NFKC changes or that has marks, except separate numbers."""
    low = list(map(chr, chain(*_SCANNED)))
    changed = "".join([char for char in low if _may_change(char) and not _NUMBER.match(char)])
    # a set of characters below U+10000 is looked up, any other one is searched: so that one stands alone
    low_mark = f"[{''.join(filter(_is_mark, low))}{_COMPOSING}]"
    high_mark = f"(?={_HIGH})[{''.join(filter(_is_mark, map(chr, _SCANNED_HIGH)))}]"
    marks, alone = f"(?:{low_mark}|{high_mark})", f"(?![{_POWERS}{_FRACTIONS}{_SUBSCRIPTS}]|{_DIGIT})"
    return re.compile(f"(?:[{changed}]|{alone}{_HIGH}){marks}*|{alone}.{marks}+")


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _may_change(char: str) -> bool:
    is_plain = unicodedata.is_normalized("NFKC", char) and not char.isdecimal()
    return not is_plain or char.translate(_TYPOGRAPHY) != char


@lru_cache(maxsize=65_536)
def _compatible(cluster: str) -> str:
    plain = unicodedata.normalize("NFKC", cluster.translate(_TYPOGRAPHY)).translate(_TYPOGRAPHY)
    return "".join([str(unicodedata.decimal(char, char)) for char in plain])


def _number(found: re.Match[str]) -> str:
    """A number in one character, separated from adjacent digits and signs."""
    written, text = found[0], found.string
    plain = unicodedata.normalize("NFKC", written).translate(_TYPOGRAPHY)
    before = text[found.start() - 1 : found.start()]
    starts = not before or before.isspace()
    if found["fraction"]:
        joins = starts or not (before.isalnum() or before in _INSIDE_NUMBERS)
    elif plain[0].isdigit():
        joins = starts or before.isalpha()
    else:  # "s⁻¹" is not "s-1"; a sign such as "㎡" is a word
        joins = starts or not found["power"]
    apart = "" if joins else "^" if found["power"] else " "
    return apart + plain + (" " if _BEFORE_DIGIT.match(text, found.end()) else "")
