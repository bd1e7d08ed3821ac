"""The support model with a veto: what says something else in one place is refused."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.models._support.alignment import Alignment
from ragmetrics_core.models._support.conflicts import clashes, conflicts_of
from ragmetrics_core.models._support.evidence import read_evidence
from ragmetrics_core.models._support.features import compare_found, look_up
from ragmetrics_core.models._support.model import Support, SupportModel, quotes_of, reason_of, support_model
from ragmetrics_core.models._support.trees import SCALE, Trees, trees_of

__all__ = ["Veto", "VetoModel", "load_veto", "penalty", "veto_model", "veto_name"]

VERSION: Final = "veto.2"
# A conflict counts from these log-odds on; where the rest of the statement stands in one sentence, sooner.
_CLEAR: Final = 1.0
_CLEAR_ALONE: Final = 0.5
# From this share on the rest stands in one sentence, the more the better.
_REST: Final = 0.9


def penalty(against: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a conflict takes from the log-odds that a statement is supported.

    A statement that stands in one sentence but for what it says otherwise is refused sooner and more clearly
    than one that is put together from many places: there a word may well stand in another one's place.

    Args:
        against: the log-odds that the statement says something else.
        rest: how much of it stands in the best sentence, the most telling absent word left out.
    """
    alone = np.clip((rest - _REST) / (1 - _REST), 0.0, 1.0)
    excess = np.maximum(against - _CLEAR + (_CLEAR - _CLEAR_ALONE) * alone, 0.0)
    return np.asarray((1 + alone) * excess)


class Veto(NamedTuple):
    """What was learned of false twins: true statements in which one thing was changed.

    Attributes:
        trees: their features are counted among those of the comparison and then its conflicts.
        base: what is added to all, in units of 1/SCALE.
        threshold: log-odds from which on a statement counts as supported, in the same units.
        slope: how fast the probability grows with the log-odds.
    """

    trees: Trees
    base: int
    threshold: int
    slope: float

    def taken(self, values: Sequence[float], conflicts: Sequence[float]) -> int:
        """What the conflicts take from the log-odds, in units of 1/SCALE; 0 without a clear one."""
        against = (self.base + self.trees.total([*values, *conflicts])) / SCALE
        return round(SCALE * float(penalty(np.array([against]), np.array([conflicts[-1]]))[0]))

    def probability(self, log_odds: int) -> float:
        """The log-odds as a probability to three places; at least 0.5 only from the threshold on."""
        found = round(1 / (1 + math.exp(self.slope * (self.threshold - log_odds) / SCALE)), 3)
        return found if log_odds >= self.threshold else min(found, 0.499)


@dataclass(frozen=True)
class VetoModel:
    """The support model, and a second one that it must not contradict.

    The second one learned from false twins of true claims. It looks at each word in its place: what stands in
    the evidence between the same words, a number where another number stands, a negation on one side only,
    names that changed places. What it finds takes from the probability.

    Args:
        model: how much of the statement the evidence has.
        veto: what was learned of false twins.
    """

    model: SupportModel
    veto: Veto

    def support(self, statement: str, texts: Sequence[str]) -> Support:
        """Look a statement up in texts."""
        evidence = read_evidence(tuple(texts))
        weights, vectors = self.model.weights, self.model.vectors
        said, found = look_up(statement, evidence, rarity=weights.rarity)
        compared = compare_found(statement, said, found, rarity=weights.rarity, vectors=vectors)
        alignment = Alignment(said, found, vectors)
        taken = self.veto.taken(compared.values, conflicts_of(said, found, alignment))
        odds = weights.log_odds(compared.values) - taken
        probability = self.veto.probability(odds)
        reason = f"{probability:.2f}: {reason_of(compared, evidence)}"
        if taken:
            instead = [
                f'"{each.other.folded}" fits better there than "{each.own.folded}"'
                for each in clashes(alignment)[:1]
            ]
            reason = "; ".join([reason, *instead, "something in it is said otherwise there"])
        return Support(odds >= self.veto.threshold, probability, reason, quotes_of(compared, evidence))


@cache
def veto_name() -> str:
    """Which veto `veto_model` has; with or without word vectors, as the support model's name says."""
    return VERSION


@cache
def veto_model() -> VetoModel:
    """With word vectors where the extra `embedded` is installed, else without."""
    model = support_model()
    return VetoModel(model, load_veto("plain" if model.vectors is None else "vectors"))


@cache
def load_veto(name: str) -> Veto:
    """The veto that goes with the weights of that name."""
    path = files("ragmetrics_core.models._support").joinpath(f"veto_{name}.json")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Veto(trees_of(data["trees"]), data["base"], data["threshold"], data["slope"])
