"""The support model: does the evidence support a statement, how probably, and what weighed in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Final, NamedTuple

from ragmetrics_core.models._support.evidence import Vectors, read_evidence
from ragmetrics_core.models._support.features import Features, compare
from ragmetrics_core.models._support.places import weight_of
from ragmetrics_core.models._support.trees import SCALE, Weights, load_rarity, load_weights
from ragmetrics_core.models._support.words import Token

__all__ = ["VERSION", "Support", "SupportModel", "support_model", "support_name", "weigh"]

VERSION: Final = "support.3"
_MOST_NAMED: Final = 3
# What is taken from the log-odds of a statement that data denies, or that denies what data affirms.
_CONTRARY: Final = 3 * SCALE


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
    """Boosted trees over features that a person can read: what speaks for a statement, and what against it.

    It compares words, names, numbers with their units, order and negation, and knows how telling words are.
    It looks at each word in its place: what stands in the evidence between the same words? It concludes
    nothing.

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
        compared = self.compare(statement, texts, question=question)
        odds = self.weights.log_odds(compared.values) - _CONTRARY * compared.is_contrary
        probability = self.weights.probability(odds)
        found = compared.found
        best = [place for place in (found.best, *found.others[:1]) if place is not None]
        return Support(
            odds >= self.weights.threshold,
            probability,
            f"{probability:.2f}: {'; '.join(_reasons(compared))}",
            tuple(dict.fromkeys(map(found.evidence.as_written, best))),
        )

    def compare(self, statement: str, texts: Sequence[str], *, question: str = "") -> Features:
        """The features of a statement beside texts."""
        return compare(
            statement,
            read_evidence(tuple(texts)),
            rarity=load_rarity(),
            question=question,
            vectors=self.vectors,
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
    return weight_of(token, load_rarity())


def _reasons(compared: Features) -> Iterator[str]:
    """What was compared, each a sentence about the two texts that anybody can check."""
    found = compared.found
    if not found.content:
        yield "it has no word of content that could be looked up"
        return
    together = sum(token.key in found.near for token in found.content)
    yield f"{together} of {len(found.content)} content words stand together"
    absent = [token for token in found.content if not found.places_of(token)]
    missing = [f"the number {token.folded}" for token in absent if token.kind == "number"][:_MOST_NAMED]
    missing += [f'"{token.folded}"' for token in absent if token.kind == "name"][:_MOST_NAMED]
    yield from (f"{name} is missing" for name in missing)
    if compared.negated:
        yield "one of the two is negated, the other is not"
    if compared.opposite is not None:
        yield f'"{compared.opposite}" is said there with the opposite word'
    for own, other, *_, kin in compared.clashes[:1]:
        if not set(own.readings).isdisjoint(other.readings):
            yield f"{own.folded} has another unit there"
        elif kin > _TELLING:
            yield f'"{other.folded}" stands there where the statement has "{own.folded}"'


# From this on two words are of one kind, so that the one can stand for the other.
_TELLING: Final = 0.2
