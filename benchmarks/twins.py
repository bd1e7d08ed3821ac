"""False twins: true statements in which one thing is said otherwise, so that the evidence refutes them."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np

from ragmetrics_embedded._support.evidence import Vectors
from ragmetrics_embedded._support.vocabulary import ANTONYMS, UNITS
from ragmetrics_embedded._support.words import read_words

__all__ = ["KINDS", "Kin", "Twin", "twins_of"]

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
_MEASURED = re.compile(r"(?<=\d )([A-Za-z]+)\b")
_NEGATED = re.compile(r"\b(is|are|was|were|can|could|will|would|does|do|did|has|have|had) not\b")
_AFFIRMED: Final = (
    (re.compile(r"\b(do|does|did|is|are|was|were|can|could|will|would|has|have|had|must) not "), r"\1 "),
    (re.compile(r"\b(do|does|did|is|are|was|were|could|would|has|have|had|should)n't "), r"\1 "),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\bno longer\b"), "still"),
    (re.compile(r"\bnever "), ""),
    (re.compile(r"\bnot "), ""),
    (re.compile(r"\bno (?=[a-z])"), "a "),
    (re.compile(r"\bwithout\b"), "with"),
)  # fmt: skip
_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would)\b(?! not\b)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*")
_WORD = re.compile(r"\b[a-z]+\b")
_ANY_NAME = re.compile(r"\b[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*")
_SMALL: Final = frozenset(
    [
        *("the", "a", "an", "it", "he", "she", "they", "in", "on", "at", "this", "that", "these", "those"),
        *("there", "but", "and", "for", "as"),
    ]
)
_FOREIGN: Final = (
    "London", "Chicago", "Berlin", "Madrid", "Kenya", "Brazil", "Canada", "Norway", "Texas", "Osaka", "Lima",
    "Peter Adams", "Maria Lopez", "John Harris", "Anna Schmidt", "Miller", "Johnson", "Garcia", "Tanaka",
    "Samsung", "Toyota", "Siemens", "Oxford", "Stanford", "Liverpool", "Barcelona", "Everton", "BBC", "NASA",
    "Monday", "Thursday", "March", "October", "Chinese", "French", "Russian", "Danish", "Atlantic", "Nile",
)  # fmt: skip
# Each word, and what says something else in its place.
_CLASSES: Final = tuple(
    tuple(words.split())
    for words in (
        "must may", "shall might", "should must", "can must", "may should", "could must",
        "all some", "every no", "most all", "some most", "many few", "several all", "both neither", "each no",
        "always sometimes", "often never", "usually rarely", "sometimes always", "never often",
        "before after", "until after", "during before", "similar same", "same different", "first last",
        "more less", "higher lower", "larger smaller", "older younger", "better worse", "longer shorter",
        "early late", "earlier later", "increased decreased", "rose fell", "won lost", "north south",
        "east west", "left right", "buy sell", "bought sold", "approved rejected", "open closed",
        "only also", "least most", "with without", "few many", "including excluding",
        "up down", "above below", "inside outside", "male female",
    )
)  # fmt: skip
_OTHER_VALUE: Final[dict[str, list[str]]] = {}
for _one, *_rest in _CLASSES:
    _two = " ".join(_rest)
    _OTHER_VALUE.setdefault(_one, []).append(_two)
    if " " not in _two:
        _OTHER_VALUE.setdefault(_two, []).append(_one)
_COLOURS: Final = [
    "red",
    "green",
    "blue",
    "yellow",
    "black",
    "white",
    "grey",
    "brown",
    "orange",
    "purple",
    "pink",
    "silver",
    "gold",
]
_PERIODS: Final = {"day": "week", "week": "month", "month": "year", "year": "month", "hour": "day"}
_WRITTEN: Final = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "twenty",
    "thirty",
    "fifty",
]
_NOUN = re.compile(r"\b(?:[Tt]he|[Aa]n?|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er) ([a-z]{3,})\b")


class Twin(NamedTuple):
    """A false twin and what was changed."""

    kind: str
    text: str


class Kin:
    """Words of one kind, by word vectors: in the place of one of them another says something else.

    Args:
        words: the casefolded words among which is chosen.
        vectors: their vectors.
    """

    # Nearer ones are often synonyms, farther ones of another kind.
    FARTHEST: Final = 0.25
    NEAREST: Final = 0.5

    def __init__(self, words: Sequence[str], vectors: Vectors) -> None:
        self._words = list(words)
        self._places = {word: place for place, word in enumerate(self._words)}
        self._rows = vectors.rows(self._words)

    def of(self, word: str, draw: int) -> str | None:
        """One of the five nearest words that are no synonyms; None for a word that is not known."""
        place = self._places.get(word)
        if place is None:
            return None
        cosines = self._rows @ self._rows[place]
        order = [
            self._words[at]
            for at in np.argsort(-cosines)[:60]
            if self.FARTHEST <= cosines[at] <= self.NEAREST
            and self._words[at][:4] != word[:4]
            and self._words[at][-2:] == word[-2:]
        ]
        return order[draw % min(len(order), 5)] if order else None


def twins_of(claim: str, texts: Sequence[str], kin: Kin | None = None) -> Iterator[Twin]:
    """The false twins of a claim that these texts support, at most one of each kind.

    What is changed, and to what, depends on the claim alone, so that every training sees the same twins.

    Args:
        claim: the claim.
        texts: what supports it.
        kin: words that can stand in another one's place; without it those twins are left out.
    """
    whole = " ".join(texts)
    draw = crc32(claim.encode())
    changes = {**KINDS, **({} if kin is None else {"kin": partial(_kin, kin)})}
    for kind, change in changes.items():
        text = change(claim, whole, draw)
        if text is not None and text != claim:
            yield Twin(kind, text)


def _kin(kin: Kin, claim: str, whole: str, draw: int) -> str | None:
    """A word of the same kind takes the place of one that the texts have."""
    own = [match for match in _WORD.finditer(claim) if len(match[0]) > 3 and match[0] in whole]
    own = [match for match in own if any(token.is_content for token in read_words(match[0]).tokens)]
    for turn in range(min(len(own), 3)):
        match = own[(draw + turn) % len(own)]
        other = kin.of(match[0], draw // 5)
        if other is not None and other not in claim:
            return claim[: match.start()] + other + claim[match.end() :]
    return None


def _number(claim: str, whole: str, draw: int) -> str | None:
    found = list(_NUMBER.finditer(claim))
    if not found:
        return None
    match = found[draw % len(found)]
    digits = match[0]
    place = draw // 7 % len(digits)
    if not digits[place].isdigit():
        place = 0
    other = str((int(digits[place]) + 1 + draw % 8) % 10 or 9)
    changed = digits[:place] + other + digits[place + 1 :]
    if draw % 3 == 0:
        # a number that stands elsewhere in the texts is the harder error
        others: list[str] = [text for text in _NUMBER.findall(whole) if text not in claim]
        changed = others[draw % len(others)] if others else changed
    elif changed in whole:
        return None
    return claim[: match.start()] + changed + claim[match.end() :]


def _unit(claim: str, whole: str, draw: int) -> str | None:
    for match in _MEASURED.finditer(claim):
        unit = UNITS.get(match[1]) or UNITS.get(match[1].casefold())
        if unit is None:
            continue
        others = [
            name
            for name, other in UNITS.items()
            if other.dimension == unit.dimension
            and other.factor != unit.factor
            and name.isascii()
            and len(name) > 2
        ]
        if others:
            return claim[: match.start()] + others[draw % len(others)] + claim[match.end() :]
    return None


def _word(claim: str, whole: str, draw: int) -> str | None:
    """A word that stands elsewhere in the texts takes the place of one of the claim."""
    own = [match for match in _WORD.finditer(claim) if len(match[0]) > 5]
    others: list[str] = [word for word in _WORD.findall(whole) if len(word) > 5 and word not in claim]
    if not own or not others:
        return None
    match = own[draw % len(own)]
    return claim[: match.start()] + others[draw // 5 % len(others)] + claim[match.end() :]


def _negation(claim: str, whole: str, draw: int) -> str | None:
    """A negation is put in."""
    del whole, draw
    return None if _NEGATED.search(claim) else _VERB.sub(r"\1 not", claim, count=1)


def _affirmed(claim: str, whole: str, draw: int) -> str | None:
    """A negation is taken out."""
    del whole, draw
    for pattern, instead in _AFFIRMED:
        if pattern.search(claim):
            return pattern.sub(instead, claim, count=1)
    return None


def _names(claim: str, whole: str, draw: int) -> str | None:
    found = list(_NAME.finditer(claim))
    others: list[str] = [name for name in _NAME.findall(whole) if name.split()[0] not in claim]
    if not found or not others:
        return None
    match = found[draw % len(found)]
    return claim[: match.start()] + others[draw % len(others)] + claim[match.end() :]


def _names_swapped(claim: str, whole: str, draw: int) -> str | None:
    """Two names change places."""
    del whole, draw
    found = [match for match in _ANY_NAME.finditer(claim) if match[0].casefold() not in _SMALL]
    if len(found) < 2:
        return None
    one, two = found[0], found[-1]
    between = claim[one.end() : two.start()]
    if one[0] == two[0] or re.fullmatch(r"\W*(?:and|or|,)?\W*", between):
        return None
    return f"{claim[: one.start()]}{two[0]}{between}{one[0]}{claim[two.end() :]}"


def _foreign_name(claim: str, whole: str, draw: int) -> str | None:
    """A name that the texts have nowhere takes the place of one that they have."""
    found = [match for match in _NAME.finditer(claim) if match[0] in whole]
    others = [name for name in _FOREIGN if name not in whole]
    if not found or not others:
        return None
    match = found[draw % len(found)]
    return claim[: match.start()] + others[draw // 3 % len(others)] + claim[match.end() :]


def _opposite(claim: str, whole: str, draw: int) -> str | None:
    del whole
    for match in _WORD.finditer(claim):
        if match[0] not in _OTHER_VALUE and (opposites := sorted(ANTONYMS.get(match[0], ()))):
            return claim[: match.start()] + opposites[draw % len(opposites)] + claim[match.end() :]
    return None


def _value(claim: str, whole: str, draw: int) -> str | None:
    """Another word of the same small class: duty, amount, frequency, time, degree, direction."""
    found = [match for match in _WORD.finditer(claim) if match[0] in _OTHER_VALUE and match[0] in whole]
    if not found:
        return None
    match = found[draw % len(found)]
    others = _OTHER_VALUE[match[0]]
    return claim[: match.start()] + others[draw // 3 % len(others)] + claim[match.end() :]


def _colour(claim: str, whole: str, draw: int) -> str | None:
    del whole
    for match in _WORD.finditer(claim):
        if match[0] in _COLOURS:
            others = [colour for colour in _COLOURS if colour not in claim]
            return claim[: match.start()] + others[draw % len(others)] + claim[match.end() :]
    return None


def _period(claim: str, whole: str, draw: int) -> str | None:
    del whole, draw
    for match in _WORD.finditer(claim):
        word = match[0].removesuffix("s")
        if word in _PERIODS:
            end = "s" if match[0].endswith("s") else ""
            return claim[: match.start()] + _PERIODS[word] + end + claim[match.end() :]
    return None


def _written(claim: str, whole: str, draw: int) -> str | None:
    """Another number in words."""
    for match in re.finditer(r"\b[A-Za-z]+\b", claim):
        if match[0].casefold() in _WRITTEN:
            others = [word for word in _WRITTEN if word not in claim.casefold()]
            other = others[draw % len(others)]
            other = other.capitalize() if match[0][0].isupper() else other
            return claim[: match.start()] + other + claim[match.end() :]
    return None


def _roles(claim: str, whole: str, draw: int) -> str | None:
    """Two nouns change places."""
    del whole, draw
    found = list(_NOUN.finditer(claim))
    if len(found) < 2 or found[0][1] == found[-1][1]:
        return None
    (a, b), (c, d) = found[0].span(1), found[-1].span(1)
    return claim[:a] + claim[c:d] + claim[b:c] + claim[a:b] + claim[d:]


def _numbers_swapped(claim: str, whole: str, draw: int) -> str | None:
    """Two numbers change places."""
    del whole, draw
    found = list(_NUMBER.finditer(claim))
    if len(found) < 2 or found[0][0] == found[-1][0]:
        return None
    between = claim[found[0].end() : found[-1].start()]
    if re.fullmatch(r"\W*(?:and|or|to)?\W*", between):
        return None
    (a, b), (c, d) = found[0].span(), found[-1].span()
    return claim[:a] + claim[c:d] + claim[b:c] + claim[a:b] + claim[d:]


KINDS: Final[dict[str, Any]] = {
    "number": _number,
    "negation": _negation,
    "affirmed": _affirmed,
    "names": _names,
    "names_swapped": _names_swapped,
    "foreign_name": _foreign_name,
    "unit": _unit,
    "word": _word,
    "opposite": _opposite,
    "value": _value,
    "colour": _colour,
    "period": _period,
    "written": _written,
    "roles": _roles,
    "numbers_swapped": _numbers_swapped,
}
