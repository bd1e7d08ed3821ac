"""What is known of words: function words, negations, numbers, units, by language."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

__all__ = [
    "AFTER_VERB",
    "ANAPHORA",
    "ANTONYMS",
    "AUXILIARIES",
    "META",
    "PRONOUNS",
    "SUBORDINATE",
    "UNITS",
    "VERBS",
    "WEAK",
    "Language",
    "MeasureUnit",
    "language_of",
    "stem",
]

_DATA = json.loads(
    files("ragmetrics_core.models._support").joinpath("vocabulary.json").read_text(encoding="utf-8")
)
_FEWEST_LETTERS = 3
# A long suffix is cut only from a long word, so that "relate" does not end as "rel".
_FEWEST_LETTERS_BEFORE_LONG = 4
_SUFFIXES = tuple(sorted(_DATA["suffixes"].split(), key=lambda suffix: (-len(suffix), suffix)))
_SAME = {word: meant for meant, words in _DATA["same"].items() for word in words.split()}
_DOUBLED = re.compile(r"([bdfgklmnprt])\1$")


class MeasureUnit(NamedTuple):
    """A unit of measurement: what it measures, and how many base units it is."""

    dimension: str
    factor: float


class Language(NamedTuple):
    """The function words of a language.

    Attributes:
        code: its ISO 639 code.
        stop: words that carry no content.
        negations: words that turn a clause into its opposite.
        numbers: what a number word stands for, as digits ("1/2" for a half).
    """

    code: str
    stop: frozenset[str]
    negations: frozenset[str]
    numbers: Mapping[str, str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The part of a casefolded word that its inflections and near relatives share.

    A rule of thumb, not a dictionary: it cuts one known suffix and a doubled consonant, and puts one word
    in the place of a few irregular forms and plain synonyms. Words of other languages pass through the same
    rule on both sides.

    >>> [stem(word) for word in ("activation", "activated", "activates", "active")]
    ['activ', 'activ', 'activ', 'activ']
    """
    word = _SAME.get(word, word)
    for suffix in _SUFFIXES:
        left = len(word) - len(suffix)
        fewest = _FEWEST_LETTERS if len(suffix) <= 2 else _FEWEST_LETTERS_BEFORE_LONG
        if left >= fewest and word.endswith(suffix) and not (suffix == "s" and word.endswith("ss")):
            word = word[:left]
            break
    word = _DOUBLED.sub(r"\1", word)
    return f"{word[:-1]}y" if word.endswith("i") and len(word) > _FEWEST_LETTERS else word


LANGUAGES = tuple(
    Language(
        code,
        _words(stop),
        _words(_DATA["negations"]["words"][code]),
        {word: value for value, words in _DATA["numbers"][code].items() for word in words.split()},
    )
    for code, stop in _DATA["stop"].items()
)
_SPOKEN = {
    word: tuple(number for number, language in enumerate(LANGUAGES) if word in language.stop)
    for word in frozenset[str]().union(*(language.stop for language in LANGUAGES))
}


def language_of(words: Sequence[str]) -> Language:
    """The language with most function words among casefolded words; English unless another one is ahead."""
    votes = [0] * len(LANGUAGES)
    for word in words:
        for number in _SPOKEN.get(word, ()):
            votes[number] += 1
    return LANGUAGES[votes.index(max(votes))]


def _unit_entries() -> dict[str, MeasureUnit]:
    units: dict[str, MeasureUnit] = {}
    for spelled, names in _DATA["units"].items():
        dimension, factor = spelled.split()
        units |= {name: MeasureUnit(dimension, float(factor)) for name in names.split()}
    return units


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _DATA["antonyms"]:
        # both as stems and as they are: function words ("always", "before") have no stem
        both = [{word, stem(word)} for word in pair.split()]
        for ones, others in (both, both[::-1]):
            for one in ones:
                found.setdefault(one, set()).update(others)
    return {word: frozenset(others) for word, others in found.items()}


AFTER_VERB = _words(_DATA["after_verb"])
ANAPHORA = _words(_DATA["anaphora"])
ANTONYMS = _opposites()
AUXILIARIES = _words(_DATA["auxiliaries"])
META = _words(_DATA["meta"])
PRONOUNS = _words(_DATA["pronouns"])
SUBORDINATE = _words(_DATA["subordinate"])
UNITS: Mapping[str, MeasureUnit] = _unit_entries()
VERBS = _words(_DATA["verbs"])
WEAK = _words(_DATA["weak"])
