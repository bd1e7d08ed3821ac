"""What was learned, as data: small whole numbers that add up to log-odds, the same on every machine."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCALE", "WEIGHED", "Trees", "Weights", "load_rarity", "load_weights", "penalty", "weights_of"]

# Leaves are log-odds in units of a hundred-thousandth: their sum is exact, in whatever order it is made.
SCALE: Final = 100_000
# Features have four places.
_PLACES: Final = 10_000
# A conflict counts from these log-odds on; where the rest of the statement stands in one sentence, sooner.
_CLEAR: Final = 0.75
_CLEAR_ALONE: Final = 0.0
# From this share on the rest stands in one sentence, the more the better.
_REST: Final = 0.9
# With up to so many words of content a statement says one thing, and one wrong word makes it false; in one
# with twice as many, one word in another place says little.
_ONE_THING: Final = 6
# What `penalty` looks at besides the trees' sum.
WEIGHED: Final = ("rest", "all", "content")

Numbers = float | NDArray[np.float64]


class Trees(NamedTuple):
    """Complete binary trees of one depth; a tree's nodes are numbered level by level from 0.

    Attributes:
        features: for each tree and inner node the feature that is looked at, (trees, 2**depth - 1).
        thresholds: a value above it goes right, (trees, 2**depth - 1).
        leaves: what each leaf adds, in units of 1/SCALE, (trees, 2**depth).
        base: what is added to all, in the same units.
    """

    features: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    leaves: NDArray[np.int64]
    base: int

    def total(self, values: Sequence[float]) -> int:
        """The base and the leaves that the values lead to, in units of 1/SCALE."""
        row = np.asarray(values, np.float64)
        trees = np.arange(len(self.features))
        inner = self.features.shape[1]
        node = np.zeros(len(self.features), np.int64)
        while node[0] < inner:
            right = row[self.features[trees, node]] > self.thresholds[trees, node]
            node = 2 * node + 1 + right
        return self.base + int(self.leaves[trees, node - inner].sum())


def penalty(against: Numbers, rest: Numbers, covered: Numbers, content: Numbers) -> NDArray[np.float64]:
    """What conflicts and absent words take from the log-odds that a short statement is supported.

    A statement that stands in one sentence but for what it says otherwise is refused sooner and more clearly
    than one that is put together from many places: there a word may well stand in another one's place.

    Args:
        against: the log-odds that the statement says something else.
        rest: how much of it stands in the best sentence, the most telling absent word left out.
        covered: how much of it stands anywhere, from 0 to 1.
        content: how many words of content it has.
    """
    alone = np.clip((rest - _REST) / (1 - _REST), 0.0, 1.0)
    conflict = (1 + alone) * np.maximum(against - _CLEAR + (_CLEAR - _CLEAR_ALONE) * alone, 0.0)
    short = np.clip(2 - content / _ONE_THING, 0.0, 1.0)
    return np.asarray(short * (conflict + 1 - covered))


class Weights(NamedTuple):
    """All that was learned: what speaks for a statement, and what against it.

    The second part learned from false twins: true statements in which one thing was changed.

    Attributes:
        support: trees over the features.
        linear: for some features, by their place, what one unit adds, in units of 1/SCALE.
        veto: trees over the features.
        weighed: the places of the three features that `penalty` looks at besides.
        threshold: log-odds from which on a statement counts as supported, in units of 1/SCALE.
        slope: how fast the probability grows with the log-odds.
    """

    support: Trees
    linear: Mapping[int, int]
    veto: Trees
    weighed: tuple[int, int, int]
    threshold: int
    slope: float

    def log_odds(self, values: Sequence[float]) -> int:
        """What speaks for a statement less what speaks against it, in units of 1/SCALE; exact."""
        linear = sum(slope * round(values[place] * _PLACES) for place, slope in self.linear.items())
        against = self.veto.total(values) / SCALE
        taken = penalty(against, *(values[place] for place in self.weighed))
        return self.support.total(values) + linear // _PLACES - round(SCALE * float(taken))

    def probability(self, log_odds: int) -> float:
        """The log-odds as a probability to three places; at least 0.5 only from the threshold on."""
        value = round(1 / (1 + math.exp(self.slope * (self.threshold - log_odds) / SCALE)), 3)
        return value if log_odds >= self.threshold else min(value, 0.499)


def _trees_of(data: Mapping[str, Any]) -> Trees:
    return Trees(
        np.array(data["features"], np.int64),
        np.array(data["thresholds"], np.float64),
        np.array(data["leaves"], np.int64),
        data["base"],
    )


def weights_of(data: Mapping[str, Any]) -> Weights:
    """Weights as a file has them."""
    linear = {data["features"].index(feature): slope for feature, slope in data["linear"].items()}
    support, veto = _trees_of(data["support"]), _trees_of(data["veto"])
    rest, covered, content = (data["features"].index(feature) for feature in WEIGHED)
    return Weights(support, linear, veto, (rest, covered, content), data["threshold"], data["slope"])


def _data(name: str) -> Any:
    path = files("ragmetrics_core.models._support").joinpath(f"{name}.json")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def load_weights(name: str) -> Weights:
    """The weights that come with the package: "vectors", or "plain" for features without word vectors."""
    return weights_of(_data(name))


@cache
def load_rarity() -> Mapping[str, int]:
    """How telling words are: a hundred times the logarithm of how seldom texts have them."""
    return {word: int(value) for value, words in _data("rarity").items() for word in words.split()}
