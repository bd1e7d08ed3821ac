"""Comparison of a statement with its evidence, in numbers that a person can read."""

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ragmetrics_embedded._support.alignment import Alignment, Rival, clashes, conflicts_of
from ragmetrics_embedded._support.evidence import IndexedTexts, Vectors
from ragmetrics_embedded._support.limits import converted, foreign
from ragmetrics_embedded._support.places import UNSEEN, Rarity, WordPlaces
from ragmetrics_embedded._support.wording import (
    opposite_word,
    replaced_words,
    style,
)
from ragmetrics_embedded._support.words import Sentence, read_words

__all__ = ["FEATURES", "VECTOR_FEATURES", "Features", "compare"]


class Features(NamedTuple):
    """The comparison of a statement with its evidence.

    Attributes:
        said: the statement's words, with amounts in the units of the evidence.
        values: the features: `FEATURES`, `VECTOR_FEATURES` where there are vectors, and `CONFLICTS`.
        found: the positions of the statement's words.
        negated: the statement or the best sentence negates, and the other one does not.
        opposite: a word whose opposite is in the best sentence.
        clashes: words at whose position the evidence has a different word, the clearest first.
        foreign: the difference in script or language between the two; "" if there is none.
        unsure: two amounts that may be the same in different units; the values take them for the same.
    """

    said: Sentence
    values: tuple[float, ...]
    found: WordPlaces
    negated: bool
    opposite: str | None
    clashes: list[Rival]
    foreign: str
    unsure: tuple[str, str] | tuple[()]

    def undecided(self, *, supported: bool) -> str:
        """The reason why words cannot decide about the statement; "" if they can.

        Args:
            supported: whether it is supported if unsure amounts are the same.
        """
        if self.foreign:
            return self.foreign
        if not self.found.content:
            return "it has no word of content to look up"
        if supported and self.unsure:
            own, other = self.unsure
            return f'"{own}" and "{other}" may be the same amount'
        return ""

    @property
    def is_contrary(self) -> bool:
        """Whether the best sentence is data that contradicts a word of the statement."""
        best = self.found.best_sentence
        return self.negated and best is not None and not best.decided.isdisjoint(self.found.weights)


FEATURES: Final = (
    "all", "all_words", "as_written", "best", "two", "three", "second", "third", "kept_near",
    "pairs", "function_words",
    "absent_most", "absent_sum", "absent_share",
    "numbers", "numbers_absent", "numbers_not_best",
    "names", "names_absent", "names_far", "names_absent_share",
    "negated", "more_negations", "opposites", "replaced", "replaced_words",
    "from_question", "all_new", "about_texts",
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
        evidence: the indexed texts.
        rarity: significance of words.
        question: the question, if known: its content is not new information.
        vectors: word vectors, required for `VECTOR_FEATURES`.
    """
    said = read_words(statement, evidence.language)
    found = WordPlaces(said, evidence, rarity)
    conversion = converted(said, evidence, [*found.window, *found.others])
    if conversion.said != said:
        said = conversion.said
        found = WordPlaces(said, evidence, rarity)
    best = found.best_sentence
    against = best.negations if best else 0
    negated = (said.negations > 0) != (against > 0)
    opposite = opposite_word(said, best)
    replaced = replaced_words(said, found)
    alignment = Alignment(said, found, vectors)
    values = (
        *_coverage(found),
        *_pairs(said, found),
        *_absences(found),
        float(negated),
        max(said.negations - against, 0),
        float(opposite is not None),
        len(replaced),
        sum(word.is_content for word in replaced),
        *style(said, found, question),
        *((_soft(found, rarity, vectors)) if vectors is not None else ()),
        *conflicts_of(found, alignment),
    )
    return Features(
        said,
        tuple([round(value, 4) for value in values]),
        found,
        negated,
        opposite,
        clashes(alignment),
        foreign(said, evidence, rarity),
        conversion.unsure,
    )


def _coverage(found: WordPlaces) -> tuple[float, ...]:
    total = found.total
    known = found.weigh(found.known)
    written = sum(found.weights[token.key] for token in found.content if token.folded in found.evidence.words)
    return (
        known / total,
        len(found.known) / (len(found.content) or 1),
        written / total,
        found.weigh(found.best_keys) / total,
        found.two / total,
        found.three / total,
        found.gains[0] / total,
        found.gains[1] / total,
        found.three / (known or 1),
    )


def _pairs(said: Sentence, found: WordPlaces) -> tuple[float, float]:
    """Number of neighbours that are neighbours in the evidence too, and of words in the best sentence."""
    keys = [token.key for token in said.tokens]
    together = [pair in found.evidence.pairs for pair in pairwise(keys)]
    best = frozenset[str]() if found.best is None else found.evidence.keys[found.best]
    return (
        sum(together) / len(together) if together else found.weigh(found.known) / found.total,
        sum(key in best for key in keys) / (len(keys) or 1),
    )


def _absences(found: WordPlaces) -> tuple[float, ...]:
    words, numbers, names = (
        frozenset(token.key for token in found.content if token.kind == kind)
        for kind in ("word", "number", "name")
    )
    return (
        found.most_absent / 100,
        found.weigh(found.absent) / 100,
        len(words - found.known) / (len(words) or 1),
        len(numbers),
        len(numbers - found.known),
        len(numbers - found.best_keys),
        len(names),
        len(names - found.known),
        len(names - found.near),
        len(names - found.known) / (len(names) or 1),
    )


def _soft(found: WordPlaces, rarity: Rarity, vectors: Vectors) -> tuple[float, ...]:
    """Similarity of the evidence's words to the statement's, by word vectors."""
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
            for token in found.evidence.sentences[place].content
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
