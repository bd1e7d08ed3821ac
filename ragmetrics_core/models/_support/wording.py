"""How a statement is worded, beside the sentence that fits it best."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragmetrics_core.models._support.places import WordPlaces
from ragmetrics_core.models._support.vocabulary import ANTONYMS
from ragmetrics_core.models._support.words import Sentence, Token, read_words

__all__ = ["Replaced", "is_negated", "opposite_word", "replaced_words", "style", "wording"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MODALS = {
    word: number
    for number, words in enumerate(
        ("must shall required mandatory needs need", "may might could can optional possibly perhaps",
         "will would", "should recommended")
    )
    for word in words.split()
}  # fmt: skip
_QUANTIFIERS = _words(
    "all every each always only never none most many few some several both entire any half least majority "
)
_FIRST = _words("i me my mine we us our myself")
_SECOND = frozenset(["you", "your", "yours"])
_HEDGES = _words(
    "probably maybe perhaps likely possibly seems seem appears appear think believe guess suggests suggest "
)
_ABOUT_TEXTS = re.compile(
    r"\b(?:passages?|contexts?|documents?|provided|given|information|text|sources?|article|mention(?:ed|s)?"
    r"|unable|sorry|specif(?:y|ied|ies)|stated?)\b",
    re.IGNORECASE,
)  # fmt: skip
_MISSING = re.compile(
    r"(?:\b(?:not|no|unable|cannot|without)|n't)\b.{0,60}"
    r"\b(?:mention|provid|specif|inform|stat|answer|clear|contain|includ|find|give|say|detail)",
    re.IGNORECASE,
)  # fmt: skip


class Replaced(NamedTuple):
    """A word of the statement, and the one that the evidence has in its place."""

    own: Token
    other: Token


def wording(
    said: Sentence, found: WordPlaces, opposite: str | None, replaced: Sequence[Replaced]
) -> tuple[float, ...]:
    """Negations, opposites, and words that change how much is said."""
    own = [token.folded for token in said.tokens]
    best = found.best_sentence
    other = {token.folded for token in best.tokens} if best else set[str]()
    against = best.negations if best else 0
    own_modals = {_MODALS[word] for word in own if word in _MODALS}
    other_modals = {_MODALS[word] for word in other if word in _MODALS}
    return (
        said.negations,
        against,
        float(is_negated(said, best)),
        max(said.negations - against, 0),
        float(opposite is not None),
        len(replaced),
        sum(each.own.is_content for each in replaced),
        sum(word in _QUANTIFIERS and word not in other for word in own),
        len(own_modals - other_modals),
        len(other_modals - own_modals),
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


def replaced_words(said: Sentence, found: WordPlaces) -> tuple[Replaced, ...]:
    """The statement's words in whose place the best sentence, or one beside it, has another one.

    It is in its place when both neighbours are the same, or two words on the one side at an end.
    """
    own = said.tokens
    places: dict[tuple[int, str, str], Token] = {}
    for place in found.window:
        tokens = found.evidence.sentences[place].tokens
        for side, one, two, there in _surroundings(tokens):
            places.setdefault((side, one, two), there)
    triples = found.evidence.triples
    replaced: list[Replaced] = []
    for side, one, two, token in _surroundings(own):
        other = places.get((side, one, two))
        if other is None or other.key == token.key or not (_is_telling(token) or _is_telling(other)):
            continue
        row = ((token.key, one, two), (one, token.key, two), (one, two, token.key))[side]
        if row not in triples and token not in [each.own for each in replaced]:
            replaced.append(Replaced(token, other))
    return tuple(replaced)


def _surroundings(tokens: Sequence[Token]) -> Iterator[tuple[int, str, str, Token]]:
    """Each token within two others, with these; at the ends the outermost with the two beside it."""
    for place in range(len(tokens) - 2):
        one, two, three = tokens[place : place + 3]
        yield 1, one.key, three.key, two
    if len(tokens) > 2:
        yield 0, tokens[1].key, tokens[2].key, tokens[0]
        yield 2, tokens[-3].key, tokens[-2].key, tokens[-1]


def _is_telling(token: Token) -> bool:
    """Whether a word changes what is said: articles and the like do not."""
    return (
        token.is_content
        or token.folded in _QUANTIFIERS
        or token.folded in _MODALS
        or token.folded in ANTONYMS
    )


def style(statement: str, said: Sentence, found: WordPlaces, question: str) -> tuple[float, ...]:
    """What the question says already, how it is said, and how long both are."""
    words = [token.folded for token in said.tokens]
    asked = {token.key for token in read_words(question).tokens if token.is_content}
    new = [key for key in found.weights if key not in asked]
    new_weight = sum(found.weights[key] for key in new)
    new_known = sum(found.weights[key] for key in new if found.places[key])
    return (
        1 - new_weight / found.total if found.weights else 0.0,
        new_known / new_weight if new_weight else 1.0,
        sum(word in _FIRST for word in words) / max(len(words), 1),
        sum(word in _SECOND for word in words) / max(len(words), 1),
        sum(word in _HEDGES for word in words),
        len(_ABOUT_TEXTS.findall(statement)),
        float(_MISSING.search(statement) is not None),
        float(statement.rstrip().endswith(("?", "？"))),
        float("!" in statement),
        len(found.content),
        math.log1p(len(words)),
        math.log1p(found.evidence.size),
        math.log1p(len(found.evidence.sentences)),
        sum(found.weights.values()) / len(found.weights) / 100 if found.weights else 0.0,
    )
