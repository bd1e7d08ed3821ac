"""Tokenization of texts, fast enough for a thousand words of context per call."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.texts import plain_form
from ragmetrics_embedded._support.citations import without_citations
from ragmetrics_embedded._support.pairs import Pair, parts_of
from ragmetrics_embedded._support.quantities import readings
from ragmetrics_embedded._support.vocabulary import (
    ANTONYMS,
    BY_CODE,
    CLASSES,
    UNITS,
    MeasureUnit,
    language_of,
    stem,
)

__all__ = ["Kind", "Sentence", "Token", "read_sentences", "read_words", "unit_of"]

Kind = Literal["function", "word", "name", "number"]

_CJK = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u0dff"
_LETTER = rf"(?:[^\W\d_{_CJK}]|[{_MARKS}])"
# In this order: digits with letters behind them, a number, a run of a script without spaces, a word, a sign.
_TOKEN = re.compile(
    rf"\d+[A-Za-z]+\w*|\d{{1,3}}(?:[ \u00a0\u2009\u202f]\d{{3}})+(?![\d.,])|\d+(?:[.,:]\d+)*|[{_CJK}]+"
    rf"|{_LETTER}(?:{_LETTER}|\d)*(?:['’]{_LETTER}+)?|°[CF]?|[%$€£¥]",
    re.UNICODE,
)
_JOINED = re.compile(f"[{_CJK}]")
_MIXED = re.compile(r"(?P<digits>\d+)(?P<letters>[A-Za-z]+\w*)")
_HALF_DAY = re.compile(
    r"\b(?P<hour>0?[1-9]|1[0-2])(?:[:.](?P<minute>[0-5]\d))?[ \u00a0]?(?P<half>[ap])(?:\.m\.|m\b)",
    re.IGNORECASE,
)
# "No, it is not": the first word answers a question, and negates nothing.
_REPLY = re.compile(r"\W*\w+,")
_ORDINAL = frozenset({"st", "nd", "rd", "th", "s"})
_POSSESSIVE = re.compile(r"'s?$")
_CURRENCIES = frozenset("$€£¥")
_CLOSERS = "\"'”’)]"
# A longer stretch without an end is a table or a list: it is looked at in overlapping pieces.
_LONGEST = 60
_PIECE = 50
_OVERLAP = 10


class Token(NamedTuple):
    """A word as it is compared.

    Attributes:
        key: what must be equal: a stem, or the first reading of a number.
        kind: "function" words carry no content; a "name" has a capital letter inside its sentence.
        folded, written: the word casefolded, and as it stands.
        readings: all that the digits of a number can stand for; empty for words.
        unit: the unit behind a number.
    """

    key: str
    kind: Kind
    folded: str
    written: str
    readings: tuple[str, ...] = ()
    unit: MeasureUnit | None = None

    @property
    def is_content(self) -> bool:
        """Whether it says something by itself."""
        return self.kind != "function"

    @property
    def small_class(self) -> tuple[str, str] | None:
        """The small class that it belongs to, and its value: "must" is ("duty", "must")."""
        return CLASSES.get(self.folded)

    @property
    def opposites(self) -> frozenset[str]:
        """The words that say the opposite, as written and as keys."""
        return ANTONYMS.get(self.folded) or ANTONYMS.get(self.key) or frozenset()

    def is_number(self, other: "Token") -> bool:
        """Whether the digits of both can stand for the same number."""
        return not set(self.readings).isdisjoint(other.readings)


class Sentence(NamedTuple):
    """A piece of a text.

    Attributes:
        text: as it is written.
        tokens: its words.
        negations: how many of them negate.
        decided: what it affirms or denies without doubt, where it is a pair of data with such a value.
    """

    text: str
    tokens: tuple[Token, ...]
    negations: int
    decided: frozenset[str] = frozenset()

    @property
    def content(self) -> tuple[Token, ...]:
        """The words of content."""
        return tuple([token for token in self.tokens if token.is_content])

    @property
    def content_keys(self) -> frozenset[str]:
        """Their keys."""
        return frozenset(token.key for token in self.content)

    @property
    def forms(self) -> frozenset[str]:
        """The keys of all words, and the words as written."""
        return frozenset(form for token in self.tokens for form in (token.key, token.folded))


def read_sentences(text: str, language: str = "") -> list[Sentence]:
    """The sentences of a text; long ones in overlapping pieces, each with the text of the whole.

    Data in it is read pair by pair, each as a sentence of its own.

    Args:
        text: prose, or JSON, tables and lines of `key: value`.
        language: the code of its language; found for each sentence when it is not given.

    >>> [len(sentence.tokens) for sentence in read_sentences("It is 8 bits. Yes!")]
    [4, 1]
    """
    read: list[Sentence] = []
    for part in parts_of(text):
        if isinstance(part, Pair):
            decided = frozenset(token.key for token in read_words(part.key, language).tokens)
            read += [piece._replace(decided=decided) for piece in _pieces(part.text, part.words, language)]
        else:
            read += [
                piece
                for sentence in _spaced_sentences(part)
                for piece in _pieces(sentence, sentence, language)
            ]
    return read


def _spaced_sentences(text: str) -> list[str]:
    """The sentences of a text; a full stop without a space after it does not end a sentence.

    Such texts are concatenated, and the weights were trained on their sentences as one.
    """
    wholes: list[str] = []
    end = 0
    for sentence in split_sentences(text):
        start = text.find(sentence, end)
        if wholes and start == end and wholes[-1].rstrip(_CLOSERS).endswith((".", "!", "?")):
            wholes[-1] += sentence
        else:
            wholes.append(sentence)
        end = max(start, end) + len(sentence)
    return wholes


@lru_cache(maxsize=4096)
def _pieces(text: str, words: str, language: str) -> tuple[Sentence, ...]:
    # marks that cite a source are no words; what is quoted keeps them, for it is a copy
    whole = read_words(without_citations(words), language)._replace(text=text)
    if len(whole.tokens) <= _LONGEST:
        return (whole,) if whole.tokens else ()
    starts = range(0, len(whole.tokens) - _OVERLAP, _PIECE - _OVERLAP)
    return tuple(Sentence(text, whole.tokens[start : start + _PIECE], whole.negations) for start in starts)


@lru_cache(maxsize=4096)
def read_words(text: str, language: str = "") -> Sentence:
    """A text as one sentence.

    >>> [token.key for token in read_words("Timers were started at 1,200 ms").tokens if token.is_content]
    ['timer', 'start', '1200', 'ms']
    """
    text = plain_form(text)
    found = _TOKEN.findall(_HALF_DAY.sub(_by_24_hours, text))
    folded = [word.casefold() for word in found]
    spoken = BY_CODE[language] if language else language_of(folded)
    if folded and folded[0] in spoken.negations and _REPLY.match(text):
        found, folded = found[1:], folded[1:]
    capitals = spoken.code != "de" and not _shouts(found, text)
    tokens: list[Token] = []
    for word, low, before, after in zip(found, folded, ["", *found], [*found[1:], ""], strict=False):
        if (mixed := _MIXED.fullmatch(word)) is not None:
            tokens.append(_measured(mixed, word, low))
        elif word[0].isdecimal():
            tokens.append(_number(word, low, after, before))
        elif _JOINED.match(word):
            tokens += _bigrams(word)
        elif low in spoken.numbers and not _is_name(word, inside=capitals and bool(tokens)):
            value = spoken.numbers[low]
            tokens.append(Token(value, "number", low, word, (value,), unit_of(after)))
        elif low in spoken.stop or len(low) == 1 or low[0] == "°" or low.endswith("n't"):
            tokens.append(Token(low, "function", low, word))
        else:
            kind: Kind = "name" if _is_name(word, inside=capitals and bool(tokens)) else "word"
            tokens.append(Token(stem(_POSSESSIVE.sub("", low), spoken.code), kind, low, word))
    return Sentence(text, tuple(tokens), sum(map(spoken.negates, folded)))


def _by_24_hours(found: re.Match[str]) -> str:
    """A time of the day as its digits: "5:30 pm" is 17:30."""
    hour = int(found["hour"]) % 12 + 12 * (found["half"] in "pP")
    return f"{hour}:{found['minute'] or '00'}"


def _number(word: str, low: str, after: str, before: str) -> Token:
    values = sorted(readings(word.rstrip(".,:")), key=lambda reading: (-len(reading), reading))
    unit = unit_of(after) or (unit_of(before) if before in _CURRENCIES else None)
    return Token(values[0], "number", low, word, tuple(values), unit)


def _measured(mixed: re.Match[str], word: str, low: str) -> Token:
    """Digits with letters behind them: "25MB" is a number, "5G" a name."""
    letters = mixed["letters"]
    if letters.casefold() in _ORDINAL or unit_of(letters) is not None:
        return _number(mixed["digits"], low, letters, "")
    return Token(low, "name", low, word)


def unit_of(word: str) -> MeasureUnit | None:
    """The unit that a word is, or None; a short one only as it is written."""
    return UNITS.get(word) or (UNITS.get(word.casefold()) if len(word) > 2 else None)


def _bigrams(run: str) -> list[Token]:
    if len(run) == 1:
        return [Token(run, "function", run, run)]
    return [Token(one + two, "word", one + two, one + two) for one, two in pairwise(run)]


def _is_name(word: str, *, inside: bool) -> bool:
    """A capital within a sentence, or within a word wherever it stands."""
    return (inside and word[0].isupper()) or any(char.isupper() for char in word[1:])


def _shouts(words: Sequence[str], text: str) -> bool:
    """Whether a text is a heading in which every longer word has a capital: then capitals name nothing."""
    long = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    return len(long) >= 3 and all(word[0].isupper() for word in long) and text.rstrip()[-1:] not in ".!?"
