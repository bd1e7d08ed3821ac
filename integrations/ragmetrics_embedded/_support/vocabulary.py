"""Vocabulary by language: function words, negations, numbers, units."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple

import snowballstemmer

__all__ = [
    "AFTER_VERB",
    "ANAPHORA",
    "ANTONYMS",
    "AUXILIARIES",
    "BY_CODE",
    "CLASSES",
    "CONNECTORS",
    "DECLINES",
    "DENIALS",
    "LANGUAGES",
    "META",
    "OPENING",
    "OPEN_QUESTIONS",
    "PRONOUNS",
    "SUBORDINATE",
    "UNITS",
    "VERBS",
    "Language",
    "MeasureUnit",
    "language_of",
    "script_of",
    "stem",
]

_DATA = json.loads(
    files("ragmetrics_embedded._support").joinpath("vocabulary.json").read_text(encoding="utf-8")
)
_IRREGULAR = {form: word for word, forms in _DATA["irregular"].items() for form in forms.split()}
_ONE_AT_A_TIME = Lock()


class MeasureUnit(NamedTuple):
    """A unit of measurement: what it measures, and how many base units it is.

    Units of different scales, such as two currencies, measure the same and cannot be converted here.
    """

    dimension: str
    factor: float
    scale: str = ""


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

    def negates(self, folded: str) -> bool:
        """Whether a casefolded word is a negation."""
        return folded in self.negations or folded.endswith("n't")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@lru_cache(maxsize=50_000)
def stem(word: str, language: str = "en") -> str:
    """The part of a casefolded word that its inflections share, by Snowball's rules for the language.

    Irregular English forms are put in the place of their base form before.

    >>> [stem(word) for word in ("activation", "activated", "activates", "active")]
    ['activ', 'activ', 'activ', 'activ']
    >>> stem("miles"), stem("million"), stem("sent") == stem("sends")
    ('mile', 'million', True)
    """
    with _ONE_AT_A_TIME:
        return _stemmer(language).stemWord(_IRREGULAR.get(word, word) if language == "en" else word)


@cache
def _stemmer(language: str) -> "snowballstemmer.Stemmer":
    return snowballstemmer.stemmer(_DATA["stemmers"][language])


# for each word its small class, and which of the values it is: "must" is ("duty", "must")
CLASSES: Mapping[str, tuple[str, str]] = {
    word: (kind, value)
    for kind, values in _DATA["classes"].items()
    for value, words in values.items()
    for word in words.split()
}


LANGUAGES = tuple(
    Language(
        code,
        _words(stop),
        _words(_DATA["negations"]["words"][code]),
        {word: value for value, words in _DATA["numbers"][code].items() for word in words.split()},
    )
    for code, stop in _DATA["stop"].items()
)
BY_CODE: Mapping[str, Language] = {language.code: language for language in LANGUAGES}
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


@lru_cache(maxsize=8192)
def script_of(character: str) -> str:
    """The script of a letter, as its Unicode name begins; "" for other characters."""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def _unit_entries() -> dict[str, MeasureUnit]:
    units: dict[str, MeasureUnit] = {}
    for spelled, names in _DATA["units"].items():
        measured, factor = spelled.split()
        dimension, _, scale = measured.partition(":")
        units |= dict.fromkeys(names.split(), MeasureUnit(dimension, float(factor), scale))
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
CONNECTORS = _words(_DATA["connectors"])
DECLINES: Mapping[str, Any] = _DATA["declines"]
DENIALS: Mapping[str, Any] = _DATA["denials"]
META = _words(_DATA["meta"])
OPEN_QUESTIONS: Mapping[str, str] = _DATA["open_questions"]
PRONOUNS = _words(_DATA["pronouns"])
OPENING = PRONOUNS | _words(_DATA["determiners"])
SUBORDINATE = _words(_DATA["subordinate"])
UNITS: Mapping[str, MeasureUnit] = _unit_entries()
VERBS = _words(_DATA["verbs"])
