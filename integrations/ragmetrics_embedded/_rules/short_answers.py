"""Short answers: a name, a date, a number, or several of them that mean the same."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_embedded._rules.statements import split_subject
from ragmetrics_embedded._support import weigh
from ragmetrics_embedded._support.words import Token, read_words

__all__ = ["Match", "aliases_of", "match"]

# What is longer makes a statement of its own.
_MOST_WORDS = 6
_MOST_ALIASES = 200
_ALIAS = re.compile(r"\s*(?:[/|;\n]|\bor\b)\s*")
_END = re.compile(r"[.!?。！？]+\s*$")
# A word that begins like one of the other text is nearly that word: "Malaysian" and "Malaysia".
_PREFIX = 5
_ALIKE = 0.8
ENOUGH = 0.6


class Match(NamedTuple):
    """How well a short answer and a statement agree, from 0 to 1, and the alias that fits best."""

    share: float
    alias: str

    @property
    def agrees(self) -> bool:
        """Whether enough of the one is in the other."""
        return self.share >= ENOUGH


def aliases_of(text: str) -> tuple[str, ...]:
    """The ways in which a short answer writes itself; empty when the text is long, or a whole sentence.

    >>> aliases_of("Maldives/Republic of Maldives"), aliases_of("At most 16.")
    (('Maldives', 'Republic of Maldives'), ('At most 16',))
    >>> aliases_of("The Session Management Function selects the user plane function.")
    ()
    """
    plain = _END.sub("", text.strip())
    aliases = tuple(dict.fromkeys(filter(None, _ALIAS.split(plain))))[:_MOST_ALIASES]
    words = [len(read_words(alias).tokens) for alias in aliases]
    if not words or not max(words) or sum(words) > _MOST_WORDS * len(words) or split_subject(aliases[0]):
        return ()
    return aliases


def match(aliases: Sequence[str], statement: str, question: str) -> Match:
    """The alias that agrees best with a statement.

    Either all of the alias has to be in the statement, or all that the statement says beyond the question in
    the alias: "Lloyd" and "Christopher Lloyd" agree both ways.
    """
    asked = read_words(question).content_keys
    said = read_words(_END.sub("", statement)).tokens
    new = [token for token in _telling(said) if token.key not in asked]
    matches: list[Match] = []
    for alias in aliases:
        tokens = read_words(alias).tokens
        own = _telling(tokens)
        share = _share([token for token in own if token.key not in asked] or own, said)
        if new and len(said) <= _MOST_WORDS:
            share = max(share, _share(new, tokens))
        matches.append(Match(share, alias))
    return max(matches, key=lambda each: each.share, default=Match(0.0, ""))


def _telling(tokens: Sequence[Token]) -> Sequence[Token]:
    """The words of content; all words where none is one ("The Who", "AM")."""
    return [token for token in tokens if token.is_content] or tokens


def _share(wanted: Sequence[Token], tokens: Sequence[Token]) -> float:
    """The share of some words that a text has, by how telling they are; 0 when it lacks a number."""
    words = {_plain(form) for token in tokens for form in (token.key, token.folded)}
    numbers = {reading for token in tokens for reading in token.readings}
    found = total = 0.0
    for token in wanted:
        weight = weigh(token)
        total += weight
        start = _plain(token.key)[:_PREFIX]
        if token.kind == "number":
            if numbers.isdisjoint(token.readings):
                return 0.0
            found += weight
        elif words & {_plain(token.key), _plain(token.folded)}:
            found += weight
        elif len(token.key) >= _PREFIX and any(word.startswith(start) for word in words):
            found += _ALIKE * weight
    return found / (total or 1)


def _plain(word: str) -> str:
    """The word without its accents: names lose them on the way."""
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))
