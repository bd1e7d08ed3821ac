"""Statements that words cannot decide: of another language, without words of content, or in other units."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ragmetrics_embedded._support.evidence import IndexedTexts, amount_of
from ragmetrics_embedded._support.places import Rarity
from ragmetrics_embedded._support.vocabulary import BY_CODE, LANGUAGES, UNITS, MeasureUnit, script_of
from ragmetrics_embedded._support.words import Sentence, Token

__all__ = ["Conversion", "converted", "foreign"]

_KANA: Final = frozenset({"HIRAGANA", "KATAKANA"})
# Of so many words, more than the first share are function words of their language, or the second is common.
_FEWEST_WORDS: Final = 6
_SPOKEN: Final = 0.17
_KNOWN: Final = 0.5
# Amounts that differ by less may be one amount, rounded in one of the two units.
_ROUNDED: Final = 0.05


class Conversion(NamedTuple):
    """A statement with the amounts of the evidence in place of its own.

    Attributes:
        said: the statement, with each amount in the evidence's unit.
        unsure: two amounts that may be the same, as written; empty if all are equal.
    """

    said: Sentence
    unsure: tuple[str, str] | tuple[()]


class _Amount(NamedTuple):
    """A number with its unit: the tokens from `start` to `end`."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    unit: MeasureUnit

    @property
    def base(self) -> set[str]:
        """The amount in base units, for each reading of its digits."""
        readings = self.tokens[0].readings
        return {base for reading in readings if (base := amount_of(reading, self.unit.factor)) is not None}

    @property
    def written(self) -> str:
        return " ".join(token.written for token in self.tokens)


def foreign(said: Sentence, evidence: IndexedTexts, rarity: Rarity) -> str:
    """The difference in script or language between a statement and its evidence; "" if there is none.

    A statement is foreign if most of its letters are of scripts that the evidence lacks, if function words
    of a foreign language outnumber the words that the evidence's language has too, or if hardly any of its
    words is a function word of the evidence's language, and most are neither in the evidence nor common.

    Args:
        said: the statement.
        evidence: the indexed texts.
        rarity: the words of English texts.
    """
    letters = Counter([script for character in said.text if (script := script_of(character))])
    lacking = letters.keys() - evidence.scripts
    if lacking & _KANA:  # the characters beside kana are Japanese too
        lacking |= letters.keys() & {"CJK"}
    if 2 * sum(letters[script] for script in lacking) > letters.total():
        return "it is in another script than the texts"
    if not evidence.has_language:
        return ""
    own = BY_CODE[evidence.language]
    english: Rarity = rarity if own.code == "en" else {}
    words = [
        token
        for token in said.tokens
        if token.kind in {"function", "word"} and len(token.folded) > 1 and token.folded not in UNITS
    ]
    known = [token for token in words if token.folded in evidence.words or token.key in english]
    spoken = sum(token.folded in own.stop for token in words)
    is_foreign = (
        len(words) >= _FEWEST_WORDS
        and spoken <= _SPOKEN * len(words)
        and len(known) + spoken < _KNOWN * len(words)
    )
    for language in LANGUAGES:
        theirs, ours = language.stop - own.stop - evidence.words, own.stop - language.stop
        difference = sum((token.folded in theirs) - (token.folded in ours) for token in words)
        is_foreign |= difference > sum(token.kind == "word" and token.folded not in theirs for token in known)
    return "it is in another language than the texts" if is_foreign else ""


def converted(said: Sentence, evidence: IndexedTexts, window: Sequence[int]) -> Conversion:
    """Put equal amounts of the evidence in place of those of a statement, and those that may be equal.

    They may be equal if they are of scales such as two currencies, or nearly equal in two units. "At nine" is
    the evidence's 9 am or 9 pm.

    Args:
        said: the statement.
        evidence: the indexed texts.
        window: the sentences that are about the statement.
    """
    tokens = list(said.tokens)
    near = [evidence.sentences[place].tokens for place in window]
    numbers = [token for sentence in near for token in sentence if token.kind == "number"]
    amounts = [amount for sentence in near for amount in _amounts(sentence)]
    unsure: tuple[str, str] | tuple[()] = ()
    for own in reversed(list(_amounts(said.tokens))):
        same = [other for other in amounts if _is_same(own, other)]
        alike = [other for other in amounts if _is_alike(own, other)]
        if any(_is_there(own, other) for other in numbers) or not (same or alike):
            continue
        other = (same or alike)[0]
        tokens[own.start : own.end] = other.tokens
        if not same:
            unsure = own.written, other.written
    for place, token in enumerate(tokens):
        if token.kind != "number" or token in numbers or _counts(tokens[place + 1 : place + 2]):
            continue
        tokens[place] = next((time for time in numbers if _is_hour_of(token, time)), token)
    return Conversion(said._replace(tokens=tuple(tokens)), unsure)


def _amounts(tokens: tuple[Token, ...]) -> Iterator[_Amount]:
    for place, token in enumerate(tokens):
        if token.unit is not None:
            end = place + 1
            if end < len(tokens) and UNITS.get(tokens[end].written) == token.unit:
                end += 1
            yield _Amount(place, end, tokens[place:end], token.unit)


def _counts(following: Sequence[Token]) -> bool:
    """Whether the words behind a number are what it counts."""
    return any(token.is_content for token in following)


def _is_hour_of(number: Token, time: Token) -> bool:
    """Whether a number may be the hour of a time, of one half of the day or the other."""
    hour, colon, minutes = time.key.partition(":")
    is_hour = number.key.isdecimal() and len(number.key) <= 2 and number.unit is None
    return is_hour and bool(colon) and minutes == "00" and (int(number.key) - int(hour)) % 12 == 0


def _is_there(one: _Amount, two: Token) -> bool:
    """Whether the other number is the same, with the same unit or without one."""
    return two.unit in {None, one.unit} and one.tokens[0].is_number(two)


def _is_same(one: _Amount, two: _Amount) -> bool:
    is_convertible = one.unit._replace(factor=1) == two.unit._replace(factor=1)
    return is_convertible and not one.base.isdisjoint(two.base)


def _is_alike(one: _Amount, two: _Amount) -> bool:
    if one.unit == two.unit or one.unit.dimension != two.unit.dimension:
        return False
    if one.unit.scale != two.unit.scale:
        return one.tokens[0].key != two.tokens[0].key
    pairs = [(float(own), float(other)) for own in one.base for other in two.base]
    return any(abs(own - other) <= _ROUNDED * max(own, other) for own, other in pairs)
