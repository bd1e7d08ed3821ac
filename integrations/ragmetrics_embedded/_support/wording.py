"""Wording of a statement compared with its best sentence."""

import math
import re
from collections.abc import Iterator, Sequence

from ragmetrics_embedded._support.places import WordPlaces
from ragmetrics_embedded._support.vocabulary import ANTONYMS
from ragmetrics_embedded._support.words import Sentence, Token, read_words

__all__ = ["opposite_word", "replaced_words", "style"]


_ABOUT_TEXTS = re.compile(
    r"\b(?:passages?|contexts?|documents?|provided|given|information|text|sources?|article|mention(?:ed|s)?"
    r"|unable|sorry|specif(?:y|ied|ies)|stated?)\b",
    re.IGNORECASE,
)


def opposite_word(said: Sentence, best: Sentence | None) -> str | None:
    """A word of the statement that the best sentence lacks, and whose opposite it has."""
    if best is None:
        return None
    added = best.forms - said.forms
    for token in said.tokens:
        if token.opposites & added and best.forms.isdisjoint({token.folded, token.key}):
            return token.folded
    return None


def replaced_words(said: Sentence, found: WordPlaces) -> tuple[Token, ...]:
    """Words of the statement replaced by a different word in or next to the best sentence.

    A position has the same neighbours on both sides, or the same two words on one side at an end.
    """
    own = said.tokens
    places: dict[tuple[int, str, str], Token] = {}
    for place in found.window:
        tokens = found.evidence.sentences[place].tokens
        for side, one, two, there in _surroundings(tokens):
            places.setdefault((side, one, two), there)
    triples = found.evidence.triples
    replaced: list[Token] = []
    for side, one, two, token in _surroundings(own):
        other = places.get((side, one, two))
        if other is None or other.key == token.key or not (_is_telling(token) or _is_telling(other)):
            continue
        row = ((token.key, one, two), (one, token.key, two), (one, two, token.key))[side]
        if row not in triples and token not in replaced:
            replaced.append(token)
    return tuple(replaced)


def _surroundings(tokens: Sequence[Token]) -> Iterator[tuple[int, str, str, Token]]:
    """Each token with its neighbours; the outermost tokens with the two on one side."""
    for place in range(len(tokens) - 2):
        one, two, three = tokens[place : place + 3]
        yield 1, one.key, three.key, two
    if len(tokens) > 2:
        yield 0, tokens[1].key, tokens[2].key, tokens[0]
        yield 2, tokens[-3].key, tokens[-2].key, tokens[-1]


def _is_telling(token: Token) -> bool:
    """Whether a word changes the meaning: articles and similar words do not."""
    return token.is_content or token.small_class is not None or token.folded in ANTONYMS


def style(said: Sentence, found: WordPlaces, question: str) -> tuple[float, ...]:
    """Share known from the question, references to the texts themselves, and both lengths."""
    asked = read_words(question, found.evidence.language).content_keys
    new = found.weights.keys() - asked
    new_weight, new_known = found.weigh(new), found.weigh(new & found.known)
    return (
        1 - new_weight / found.total if found.weights else 0.0,
        new_known / new_weight if new_weight else 1.0,
        len(_ABOUT_TEXTS.findall(said.text)),
        len(found.content),
        math.log1p(len(said.tokens)),
        math.log1p(found.evidence.size),
        math.log1p(len(found.evidence.sentences)),
        sum(found.weights.values()) / (len(found.weights) or 1) / 100,
    )
