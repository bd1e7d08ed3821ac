"""What is compared: a statement with its evidence, in numbers that a person can read."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ragmetrics_core.models._support.evidence import IndexedTexts, Vectors, amount_of
from ragmetrics_core.models._support.places import UNSEEN, Rarity, WordPlaces, weight_of
from ragmetrics_core.models._support.wording import (
    Replaced,
    is_negated,
    opposite_word,
    replaced_words,
    style,
    wording,
)
from ragmetrics_core.models._support.words import Sentence, Token, read_words

__all__ = ["FEATURES", "VECTOR_FEATURES", "Features", "compare", "compare_found", "look_up"]


class Features(NamedTuple):
    """A statement beside its evidence.

    Attributes:
        values: the features, in the order of `FEATURES` (and `VECTOR_FEATURES` where there are vectors).
        best: the sentence that has most of the statement; None when none has any of it.
        second: the one that adds most to it; None when none adds anything.
        content: the statement's words of content.
        together: those of them that stand in the best sentence or beside it.
        absent: those that no sentence has.
        other_unit: numbers that the evidence has with other units only.
        negated: the statement or the best sentence negates, and the other one does not.
        opposite: a word whose opposite stands in the best sentence.
        replaced: words that stand where the evidence has another one between the same neighbours.
    """

    values: tuple[float, ...]
    best: int | None
    second: int | None
    content: tuple[Token, ...]
    together: int
    absent: tuple[Token, ...]
    other_unit: tuple[Token, ...]
    negated: bool
    opposite: str | None
    replaced: tuple[Replaced, ...]


FEATURES: Final = (
    "all", "all_words", "as_written", "alike", "best", "two", "three", "second", "third", "kept_near",
    "pairs", "triples", "longest_run", "run_length", "neighbours", "apart", "function_words",
    "absent", "absent_most", "absent_sum", "absent_share",
    "numbers", "numbers_absent", "numbers_far", "numbers_not_best", "other_unit",
    "names", "names_absent", "names_far", "names_absent_share",
    "negations", "best_negations", "negated", "more_negations", "opposites", "replaced", "replaced_words",
    "quantifiers", "modals", "modals_lost",
    "order", "inversions", "of_best", "best_length",
    "from_question", "all_new", "first_person", "second_person", "hedges", "about_texts", "missing",
    "question", "exclamation",
    "content", "length", "words", "sentences", "rarity",
)  # fmt: skip
VECTOR_FEATURES: Final = (
    "soft_all", "soft_least", "soft_three", "soft_near", "soft_near_least",
    "nearest", "cosine_best", "lead",
)  # fmt: skip


def compare(
    statement: str,
    evidence: IndexedTexts,
    *,
    rarity: Rarity,
    question: str = "",
    vectors: Vectors | None = None,
) -> Features:
    """Compare a statement with its evidence.

    Args:
        statement: one statement.
        evidence: where it is looked up.
        rarity: how telling words are.
        question: what was asked, where it is known: what it says already is nothing new.
        vectors: word vectors; without them only the first features are there.
    """
    return compare_found(
        statement,
        *look_up(statement, evidence, rarity=rarity),
        rarity=rarity,
        question=question,
        vectors=vectors,
    )


def compare_found(
    statement: str,
    said: Sentence,
    found: WordPlaces,
    *,
    rarity: Rarity,
    question: str = "",
    vectors: Vectors | None = None,
) -> Features:
    """The same for a statement that `look_up` has looked up already."""
    evidence, content = found.evidence, found.content
    units = [token for token in content if token.unit is not None and _has_other_unit(token, evidence)]
    opposite = opposite_word(said, found.best_sentence)
    replaced = replaced_words(said, found)
    values = (
        *_coverage(found),
        *_rows(said, found),
        *_absences(found),
        *_numbers(found, units),
        *_names(found),
        *wording(said, found, opposite, replaced),
        *_order(found, rarity),
        *style(statement, said, found, question),
        *((_soft(found, rarity, vectors)) if vectors is not None else ()),
    )
    return Features(
        tuple([round(value, 4) for value in values]),
        found.best,
        found.others[0] if found.others else None,
        content,
        sum(token.key in found.near for token in content),
        tuple([token for token in content if not found.places_of(token)]),
        tuple(units),
        is_negated(said, found.best_sentence),
        opposite,
        replaced,
    )


def look_up(statement: str, evidence: IndexedTexts, *, rarity: Rarity) -> tuple[Sentence, WordPlaces]:
    """A statement's words, and where those of content stand in the evidence."""
    said = read_words(statement)
    content = _content(said.tokens)
    weights = {token.key: weight_of(token, rarity) for token in content}
    return said, WordPlaces(content, weights, evidence)


def _content(tokens: Sequence[Token]) -> tuple[Token, ...]:
    distinct = {token.key: token for token in reversed(tokens) if token.is_content}
    return tuple(reversed(distinct.values()))


def _has_other_unit(token: Token, evidence: IndexedTexts) -> bool:
    """Whether the evidence has the number, but only with another unit, and no equal amount."""
    unit = token.unit
    dimensions = set[str | None]().union(*(evidence.units.get(reading, ()) for reading in token.readings))
    if unit is None or not dimensions or None in dimensions:
        return False
    amounts = {(unit.dimension, amount_of(reading, unit.factor)) for reading in token.readings}
    return not amounts & evidence.amounts


def _coverage(found: WordPlaces) -> tuple[float, ...]:
    total, evidence = found.total, found.evidence
    known = found.weigh(frozenset(found.known))
    alike = sum(found.weights[key] for key in found.absent if evidence.begins(key))
    written = sum(found.weights[token.key] for token in found.content if token.folded in evidence.words)
    return (
        known / total,
        len(found.known) / len(found.content) if found.content else 0.0,
        written / total,
        (known + 0.8 * alike) / total,
        found.weigh(found.best_keys) / total,
        found.two / total,
        found.three / total,
        found.gains[0] / total,
        found.gains[1] / total,
        found.three / known if known else 0.0,
    )


def _rows(said: Sentence, found: WordPlaces) -> tuple[float, ...]:
    """Words that stand beside each other in both."""
    evidence = found.evidence
    keys = [token.key for token in said.tokens]
    pairs = list(pairwise(keys))
    triples = list(zip(keys, keys[1:], keys[2:], strict=False))
    known = found.weigh(frozenset(found.known)) / found.total
    in_pairs = sum(pair in evidence.pairs for pair in pairs) / len(pairs) if pairs else known
    in_triples = sum(triple in evidence.triples for triple in triples) / len(triples) if triples else in_pairs
    run = longest = 0
    for triple in triples:
        run = run + 1 if triple in evidence.triples else 0
        longest = max(longest, run)
    together = longest + 2 if longest else 2 if in_pairs else 0
    content = [token.key for token in found.content]
    neighbours = list(pairwise(content))
    wider = [*neighbours, *zip(content, content[2:], strict=False)]
    joined = sum(_meet(found, one, two) for one, two in wider) / len(wider) if wider else known
    apart = sum(not _meet(found, one, two) for one, two in neighbours)
    best = frozenset[str]() if found.best is None else evidence.keys[found.best]
    function = sum(key in best for key in keys) / len(keys) if keys else 0.0
    return in_pairs, in_triples, together / max(len(keys), 1), longest, joined, apart, function


def _meet(found: WordPlaces, one: str, two: str) -> bool:
    """Whether some sentence has both."""
    return not set(found.places[one]).isdisjoint(found.places[two])


def _absences(found: WordPlaces) -> tuple[float, ...]:
    weights = [found.weights[key] / 100 for key in found.absent]
    words = [token for token in found.content if token.kind == "word"]
    share = sum(not found.places[token.key] for token in words) / len(words) if words else 0.0
    return len(weights), max(weights, default=0.0), sum(weights), share


def _numbers(found: WordPlaces, units: Sequence[Token]) -> tuple[float, ...]:
    keys = [token.key for token in found.content if token.kind == "number"]
    return (
        len(keys),
        sum(not found.places[key] for key in keys),
        sum(key not in found.near for key in keys),
        sum(key not in found.best_keys for key in keys),
        len(units),
    )


def _names(found: WordPlaces) -> tuple[float, ...]:
    keys = [token.key for token in found.content if token.kind == "name"]
    absent = sum(not found.places[key] for key in keys)
    return len(keys), absent, sum(key not in found.near for key in keys), absent / len(keys) if keys else 0.0


def _order(found: WordPlaces, rarity: Rarity) -> tuple[float, ...]:
    """Whether words that both have come in the same order, and how much of the best sentence is said."""
    best = found.best_sentence
    if best is None:
        return 0.0, 0.0, 0.0, 0.0
    position = {token.key: place for place, token in reversed(list(enumerate(best.tokens)))}
    row = [position[token.key] for token in found.content if token.key in position]
    swapped = sum(one > two for place, one in enumerate(row) for two in row[place + 1 :])
    pairs = len(row) * (len(row) - 1) // 2
    heard = [
        weight_of(token, rarity) for token in best.tokens if token.is_content and token.key in found.weights
    ]
    whole = sum(weight_of(token, rarity) for token in best.tokens if token.is_content) or 1
    return swapped / pairs if pairs else 0.0, swapped, sum(heard) / whole, math.log1p(len(best.tokens))


def _soft(found: WordPlaces, rarity: Rarity, vectors: Vectors) -> tuple[float, ...]:
    """How close the evidence's words come in meaning to those of the statement, by word vectors."""
    index = found.evidence.vectors(vectors, rarity, UNSEEN)
    if not found.content or not index.places:
        return (0.0,) * len(VECTOR_FEATURES)
    weights = np.array([found.weights[token.key] for token in found.content], np.float64)
    own = vectors.rows([token.folded for token in found.content])
    cosines = own @ index.words.T
    known = np.array([bool(found.places[token.key]) for token in found.content])
    closest = np.where(known, 1.0, cosines.max(axis=1))
    near = sorted(
        {
            index.places[token.key]
            for place in found.window
            for token in found.evidence.sentences[place].tokens
            if token.is_content
        }
    )
    inside = np.array([token.key in found.near for token in found.content])
    closest_near = np.where(inside, 1.0, cosines[:, near].max(axis=1) if near else 0.0)
    whole = (own * weights[:, None]).sum(axis=0)
    whole = whole / (np.linalg.norm(whole) or 1.0)
    by_sentence = index.sentences @ whole
    ranked = np.sort(by_sentence)[::-1]
    return (
        float((closest * weights).sum() / found.total),
        float(closest.min()),
        float(np.sort(closest)[:3].mean()),
        float((closest_near * weights).sum() / found.total),
        float(np.sort(closest_near)[:2].mean()),
        float(ranked[0]),
        float(by_sentence[found.best]) if found.best is not None else 0.0,
        float(ranked[0] - ranked[1]) if len(ranked) > 1 else 0.0,
    )
