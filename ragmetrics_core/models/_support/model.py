"""The support model: does the evidence support a statement, how probably, and what weighed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Final, NamedTuple

from ragmetrics_core.models._support.evidence import IndexedTexts, Vectors, read_evidence
from ragmetrics_core.models._support.features import Features, compare
from ragmetrics_core.models._support.places import weight_of
from ragmetrics_core.models._support.trees import Weights, load_weights
from ragmetrics_core.models._support.words import Token

__all__ = ["Support", "SupportModel", "quotes_of", "reason_of", "support_model", "support_name", "weigh"]

VERSION: Final = "support.2"


class Support(NamedTuple):
    """What was found for a statement.

    Attributes:
        supported: the decision: the probability is at least 0.5.
        probability: from 0 to 1; 0.5 is the threshold that suited the sets of the training pool best.
        reason: what was compared, in words.
        evidence: the sentences that fit best, as their texts have them; empty when nothing fits.
    """

    supported: bool
    probability: float
    reason: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class SupportModel:
    """Boosted trees and a weighted sum over features that a person can read.

    It compares words, names, numbers with their units, order and negation, and knows how telling words are.
    It concludes nothing.

    Args:
        weights: what was learned.
        vectors: word vectors, where the weights have features of them.
    """

    weights: Weights
    vectors: Vectors | None = None

    def support(self, statement: str, texts: Sequence[str], *, question: str = "") -> Support:
        """Look a statement up in texts.

        Args:
            statement: one statement.
            texts: the context chunks, or the one text that is compared with.
            question: what was asked, where it is known.
        """
        evidence = read_evidence(tuple(texts))
        found = compare(
            statement, evidence, rarity=self.weights.rarity, question=question, vectors=self.vectors
        )
        odds = self.weights.log_odds(found.values)
        probability = self.weights.probability(odds)
        return Support(
            odds >= self.weights.threshold,
            probability,
            f"{probability:.2f}: {reason_of(found, evidence)}",
            quotes_of(found, evidence),
        )


@cache
def support_name() -> str:
    """Which weights `support_model` has: another training has another name."""
    return f"{VERSION}+vectors" if find_spec("wordllama") is not None else VERSION


@cache
def support_model() -> SupportModel:
    """The model with word vectors where the extra `embedded` is installed, else the one without."""
    if support_name() == VERSION:
        return SupportModel(load_weights("plain"))
    from ragmetrics_core.models._wordllama import WordVectors

    return SupportModel(load_weights("vectors"), WordVectors())


def weigh(token: Token) -> int:
    """How telling a word is."""
    return weight_of(token, support_model().weights.rarity)


def reason_of(found: Features, evidence: IndexedTexts) -> str:
    """What was compared, in words."""
    if not found.content:
        return "it has no word of content that could be looked up"
    parts = [f"{found.together} of {len(found.content)} content words stand together"]
    parts += _absent(found)
    parts += [f"{token.folded} has another unit there" for token in found.other_unit[:2]]
    if found.negated:
        parts.append("one of the two is negated, the other is not")
    if found.opposite is not None:
        parts.append(f'"{found.opposite}" is said there with the opposite word')
    parts += [
        f'"{each.other.folded}" stands there in place of "{each.own.folded}"'
        for each in found.replaced[:2]
        if found.best is not None and each.other.key in evidence.keys[found.best]
    ]
    return "; ".join(parts)


def _absent(found: Features) -> list[str]:
    numbers = _named([token for token in found.absent if token.kind == "number"])
    names = _named([token for token in found.absent if token.kind == "name"])
    missing = [f"the number {text} is missing" for text in numbers]
    return missing + [f'"{text}" is missing' for text in names]


def _named(tokens: Sequence[Token]) -> list[str]:
    return [token.folded for token in tokens[:3]]


def quotes_of(found: Features, evidence: IndexedTexts) -> tuple[str, ...]:
    """The sentences that fit best, as their texts have them."""
    places = [place for place in (found.best, found.second) if place is not None]
    return tuple(dict.fromkeys(evidence.sentences[place].text for place in places))
