"""Wording of a statement compared with its best sentence."""

import math
import re
from collections.abc import Iterator, Sequence

from ragmetrics_embedded._support.places import WordPlaces
from ragmetrics_embedded._support.vocabulary import ANTONYMS, class_of
from ragmetrics_embedded._support.words import Sentence, Token, read_words

__all__ = ["is_negated", "opposite_word", "replaced_words", "style", "wording"]


_ABOUT_TEXTS = re.compile(
    r"\b(?:passages?|contexts?|documents?|provided|given|information|text|sources?|article|mention(?:ed|s)?"
    r"|unable|sorry|specif(?:y|ied|ies)|stated?)\b",
    re.IGNORECASE,
)


def wording(
    said: Sentence, found: WordPlaces, opposite: str | None, replaced: Sequence[Token]
) -> tuple[float, ...]:
    """Negations, opposites, and words with a different word at their position."""
    best = found.best_sentence
    against = best.negations if best else 0
    return (
        float(is_negated(said, best)),
        max(said.negations - against, 0),
        float(opposite is not None),
        len(replaced),
        sum(word.is_content for word in replaced),
    )


def is_negated(said: Sentence, best: Sentence | None) -> bool:
    """Whether one of the two negates, and the other one does not."""
    return (said.negations > 0) != (best is not None and best.negations > 0)


def opposite_word(said: Sentence, best: Sentence | None) -> str | None:
    """A word of the statement that the best sentence lacks, and whose opposite it has."""
    if best is None:
        return None
    own = {form for token in said.tokens for form in (token.folded, token.key)}
    other = {form for token in best.tokens for form in (token.folded, token.key)}
    for token in said.tokens:
        opposites = ANTONYMS.get(token.folded) or ANTONYMS.get(token.key)
        if opposites and not {token.folded, token.key} & other and (opposites & other) - own:
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
    return token.is_content or class_of(token.folded) is not None or token.folded in ANTONYMS


def style(said: Sentence, found: WordPlaces, question: str) -> tuple[float, ...]:
    """Share known from the question, references to the texts themselves, and both lengths."""
    asked = read_words(question, found.evidence.language).content_keys
    new = [key for key in found.weights if key not in asked]
    new_weight = sum(found.weights[key] for key in new)
    new_known = sum(found.weights[key] for key in new if found.places[key])
    return (
        1 - new_weight / found.total if found.weights else 0.0,
        new_known / new_weight if new_weight else 1.0,
        len(_ABOUT_TEXTS.findall(said.text)),
        len(found.content),
        math.log1p(len(said.tokens)),
        math.log1p(found.evidence.size),
        math.log1p(len(found.evidence.sentences)),
        sum(found.weights.values()) / len(found.weights) / 100 if found.weights else 0.0,
    )
