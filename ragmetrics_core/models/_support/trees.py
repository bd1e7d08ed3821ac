"""What was learned, as data: small whole numbers that add up to log-odds, the same on every machine."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SCALE", "Trees", "Weights", "load_weights", "trees_of"]

# Leaves are log-odds in units of a hundred-thousandth: their sum is exact, in whatever order it is made.
SCALE = 100_000
# Features have four places.
_PLACES = 10_000


class Trees(NamedTuple):
    """Complete binary trees of one depth; a tree's nodes are numbered level by level from 0.

    Attributes:
        features: for each tree and inner node the feature that is looked at, (trees, 2**depth - 1).
        thresholds: a value above it goes right, (trees, 2**depth - 1).
        leaves: what each leaf adds, in units of 1/SCALE, (trees, 2**depth).
    """

    features: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    leaves: NDArray[np.int64]

    def total(self, values: Sequence[float]) -> int:
        """The sum of the leaves that the values lead to, in units of 1/SCALE."""
        row = np.asarray(values, np.float64)
        trees = np.arange(len(self.features))
        inner = self.features.shape[1]
        node = np.zeros(len(self.features), np.int64)
        while node[0] < inner:
            right = row[self.features[trees, node]] > self.thresholds[trees, node]
            node = 2 * node + 1 + right
        return int(self.leaves[trees, node - inner].sum())


class Weights(NamedTuple):
    """All that was learned.

    Attributes:
        features: the names of the features, in the order in which the trees count them.
        rarity: how telling words are.
        trees: the trees.
        linear: for some features, by their place, what one unit adds, in units of 1/SCALE.
        base: what is added to all, in the same units.
        threshold: log-odds from which on a statement counts as supported, in the same units.
        slope: how fast the probability grows with the log-odds.
    """

    features: tuple[str, ...]
    rarity: Mapping[str, int]
    trees: Trees
    linear: Mapping[int, int]
    base: int
    threshold: int
    slope: float

    def log_odds(self, values: Sequence[float]) -> int:
        """What the features add up to, in units of 1/SCALE; exact."""
        linear = sum(slope * round(values[place] * _PLACES) for place, slope in self.linear.items())
        return self.base + self.trees.total(values) + linear // _PLACES

    def probability(self, log_odds: int) -> float:
        """The log-odds as a probability that is 0.5 at the threshold, to three places."""
        return round(1 / (1 + math.exp(self.slope * (self.threshold - log_odds) / SCALE)), 3)


def trees_of(data: Mapping[str, Any]) -> Trees:
    """Trees as a file of weights has them."""
    return Trees(
        np.array(data["features"], np.int64),
        np.array(data["thresholds"], np.float64),
        np.array(data["leaves"], np.int64),
    )


@cache
def load_weights(name: str) -> Weights:
    """The weights of that name that come with the package."""
    folder = files("ragmetrics_core.models._support")
    data: dict[str, Any] = json.loads(folder.joinpath(f"{name}.json").read_text(encoding="utf-8"))
    rarity: dict[str, int] = {}
    for value, words in json.loads(folder.joinpath("rarity.json").read_text(encoding="utf-8")).items():
        rarity.update(dict.fromkeys(words.split(), int(value)))
    features = tuple(data["features"])
    linear = {features.index(feature): slope for feature, slope in data["linear"].items()}
    return Weights(
        features, rarity, trees_of(data["trees"]), linear, data["base"], data["threshold"], data["slope"]
    )
