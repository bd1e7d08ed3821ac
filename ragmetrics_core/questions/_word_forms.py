"""Word for word: the form of a text in which two are compared, and the places where one is in the other."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from ragmetrics_core.parsers import at_words, comparable
from ragmetrics_core.texts.comparing import Writing

__all__ = ["places_of", "word_form"]

_TRIES: Final = 1000
_NOT_WORDS: Final = re.compile(r"[\W_]+")
# Emphasis of Markdown and quotation marks, of which `comparable` leaves two kinds.
_UNMEANT: Final = str.maketrans(dict.fromkeys("*_`\"'", ""))
_SPACE: Final = re.compile(r"\s+")
_DASH: Final = re.compile(" ?-[- ]*")
# What a line begins with in quoted mail and lists; otherwise these signs compare and add.
_LINE_MARK: Final = re.compile(r"[\n\r][ \t]*[>+][ \t>+]*")
_SIGN: Final = re.compile(r"-?\.?\Z")
_MEANT: Final = frozenset("%‰°^/&@\\")
_INSIDE_NUMBERS: Final = frozenset(".,:/-")


@lru_cache(maxsize=256)
def word_form(text: str) -> Writing:
    r"""The letters and digits of a text, and the signs that mean something: those of numbers, "%", "&", "<".

    Two texts have the same form if they have the same words and numbers, whatever their case, spaces, lines,
    hyphenation, emphasis, punctuation, quotation marks, dashes and Unicode form.

    >>> word_form("The “op-\nerating” limit — 3.5 W — is **high**.").text
    'theoperatinglimit3.5wishigh'
    """
    return comparable(text).rewritten(_NOT_WORDS, _between_words)


def places_of(form: str, text: Writing) -> Iterator[tuple[int, int]]:
    """Places of a form in the form of a text, as character ranges of the text itself; whole words only."""
    at = text.text.find(form) if form else -1
    for _ in range(_TRIES):
        if at == -1:
            return
        end = at + len(form)
        start_in_text, end_in_text = text.origin(at, end)
        if not _cuts_number(text.text, at, end) and at_words(text.source, start_in_text, end_in_text):
            yield start_in_text, end_in_text
        at = text.text.find(form, at + 1)


def _between_words(found: re.Match[str]) -> str:
    """The signs with a meaning in what is between two words."""
    between = _LINE_MARK.sub("\n", found[0])
    before, after = (
        found.string[found.start() - 1 : found.start()],
        found.string[found.end() : found.end() + 1],
    )
    if between == " " and not (before.isdigit() and after.isdigit()):
        return ""
    if before.isdigit() and after.isdigit():
        return _DASH.sub("-", _SPACE.sub(" ", between.translate(_UNMEANT))) or " "
    sign = _SIGN.search(between)
    assert sign is not None
    is_joined = sign[0] == between and before.isalnum()
    number_sign = (sign[0].replace(".", "") if is_joined else sign[0]) if after.isdigit() else ""
    return "".join(filter(_is_meant, between)) + number_sign


@cache
def _is_meant(sign: str) -> bool:
    """Whether a sign has a meaning by itself: marks on letters, currencies, mathematics, percent."""
    category = unicodedata.category(sign)
    return sign in _MEANT or category[0] == "M" or category == "Sc" or (category == "Sm" and sign != "|")


def _cuts_number(form: str, start: int, end: int) -> bool:
    """Whether a place in a form begins or ends inside of a number, or before a mark on its last letter."""
    before, after = form[start - 1 : start], form[end : end + 1]
    if form[start].isdigit() and before in _INSIDE_NUMBERS:
        return True
    if form[end - 1].isdigit() and after in _INSIDE_NUMBERS and form[end + 1 : end + 2].isdigit():
        return True
    return after != "" and unicodedata.category(after)[0] == "M"
