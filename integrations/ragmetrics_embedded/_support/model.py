"""The support model: decides with a probability and reasons whether evidence supports a statement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Final, NamedTuple

from ragmetrics_embedded._support.denials import MOSTLY, Denial, denial_of
from ragmetrics_embedded._support.evidence import Vectors, read_evidence
from ragmetrics_embedded._support.features import Features, compare
from ragmetrics_embedded._support.places import weight_of
from ragmetrics_embedded._support.trees import SCALE, Adapted, Weights, load_rarity, load_weights
from ragmetrics_embedded._support.words import Token

__all__ = ["CONTRARY", "VERSION", "Support", "SupportModel", "support_model", "support_name", "weigh"]

VERSION: Final = "support.5"
_WITH_VECTORS: Final = f"{VERSION}+vectors"
_MOST_NAMED: Final = 3
# Words of this similarity are of one kind.
_TELLING: Final = 0.2
# Log-odds that a statement loses if data or a denial contradicts it.
CONTRARY: Final = 3 * SCALE


class Support(NamedTuple):
    """The result for a statement.

    Attributes:
        supported: the decision: the probability is at least 0.5; None if words cannot decide it.
        probability: from 0 to 1; 0.5 is the threshold that suited the sets of the training pool best.
        reason: the compared facts, in words.
        evidence: the best-fitting sentences, as written in their texts; empty if nothing fits.
        contrary: the sentence that contradicts a statement without support, as written; "" if none does.
    """

    supported: bool | None
    probability: float
    reason: str
    evidence: tuple[str, ...]
    contrary: str = ""


@dataclass(frozen=True)
class SupportModel:
    """Boosted trees over readable features for and against a statement.

    It compares words, names, numbers with their units, order and negation, weighted by significance. It
    compares each word with the word of the evidence between the same neighbours. It does not infer.

    Args:
        weights: the trained weights.
        vectors: word vectors, if the weights use them.
        name: name of the weights in records.
    """

    weights: Weights | Adapted
    vectors: Vectors | None = None
    name: str = ""

    def support(
        self, statement: str, texts: Sequence[str], *, question: str = "", contrary: bool = False
    ) -> Support:
        """Decide whether texts support a statement.

        Args:
            statement: one statement.
            texts: the context chunks, or a single text.
            question: the question, if known.
            contrary: whether to look for a sentence that contradicts the statement.
        """
        compared = self.compare(statement, texts, question=question)
        odds = self.weights.log_odds(compared.values) - CONTRARY * compared.is_contrary
        found = compared.found
        best = [place for place in (found.best, *found.others[:1]) if place is not None]
        is_likely = odds >= self.weights.threshold
        denial = denial_of(statement, found) if contrary or is_likely else None
        against = _contrary_place(compared, denial) if contrary else None
        denial = denial if is_likely else None
        if denial is not None:
            odds -= CONTRARY
            best.insert(0, denial.place)
        probability = self.weights.probability(odds)
        supported = odds >= self.weights.threshold
        evidence = tuple(dict.fromkeys(map(found.evidence.as_written, best)))
        if why := compared.undecided(supported=supported):
            return Support(None, probability, f"not decided: {why}", evidence)
        reasons = "; ".join(_reasons(compared, denial, supported))
        sentence = "" if supported or against is None else found.evidence.as_written(against)
        return Support(supported, probability, f"{probability:.2f}: {reasons}", evidence, sentence)

    def compare(self, statement: str, texts: Sequence[str], *, question: str = "") -> Features:
        """The features of a statement and texts."""
        return compare(
            statement,
            read_evidence(tuple(texts)),
            rarity=load_rarity(),
            question=question,
            vectors=self.vectors,
        )


@cache
def support_name() -> str:
    """Name of the weights of `support_model`; each training has a different name."""
    return _WITH_VECTORS if find_spec("wordllama") is not None else VERSION


@cache
def support_model() -> SupportModel:
    """The model with word vectors if the extra `embedded` is installed, or else the one without."""
    if support_name() == VERSION:
        return SupportModel(load_weights("plain"), name=VERSION)
    from ragmetrics_core.models import WordVectors

    return SupportModel(load_weights("vectors"), WordVectors(), _WITH_VECTORS)


def weigh(token: Token) -> int:
    """Significance of a word."""
    return weight_of(token, load_rarity())


def _contrary_place(compared: Features, denial: Denial | None) -> int | None:
    """The sentence that contradicts a statement, or None.

    It denies a word of the statement, or affirms a denied one; or it says nearly all of the statement with
    another value: a number, a name, a word of a small class, or the opposite. Something before the value must
    be said there too, because a sentence about something else contradicts nothing.
    """
    found = compared.found
    if compared.is_contrary:
        return found.best
    if denial is not None:
        return denial.place
    clashes = [rival for rival in compared.clashes if rival.kin == 1]
    for rival in clashes:
        said = found.evidence.keys[rival.place]
        replaced = {other.own.key for other in clashes if other.place == rival.place}
        rest = [token.key for token in found.content if token.key not in replaced]
        before = [token.key for token in compared.said.content]
        place = before.index(rival.own.key) if rival.own.key in before else 0
        has_topic = not said.isdisjoint(before[:place])
        if has_topic and found.weigh(said.intersection(rest)) >= MOSTLY * found.weigh(rest):
            return rival.place
    return None


def _reasons(compared: Features, denial: Denial | None, supported: bool) -> Iterator[str]:
    """Sentences on the compared facts; differences only for a statement that is not supported."""
    found = compared.found
    together = sum(token.key in found.near for token in found.content)
    yield f"{together} of {len(found.content)} content words stand together"
    absent = [token for token in found.content if token.key in found.absent]
    missing = [f"the number {token.written}" for token in absent if token.kind == "number"][:_MOST_NAMED]
    missing += [f'"{token.written}"' for token in absent if token.kind == "name"][:_MOST_NAMED]
    yield from (f"{name} is missing" for name in missing)
    if supported:
        return
    if denial is not None:
        yield f'"{denial.word.written}" is {"denied" if denial.by_texts else "affirmed"} there'
    elif compared.negated:
        yield "one of the two is negated, the other is not"
    if compared.opposite is not None:
        yield f'"{compared.opposite}" is said there with the opposite word'
    for own, other, _, kin, _ in compared.clashes[:1]:
        if own.is_number(other):
            yield f"{own.written} has another unit there"
        elif kin > _TELLING:
            yield f'"{other.written}" stands there where the statement has "{own.written}"'
