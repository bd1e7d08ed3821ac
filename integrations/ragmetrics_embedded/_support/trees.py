"""Trained weights as data: small integers that add up to log-odds, the same on every machine."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PLACES",
    "SCALE",
    "WEIGHED",
    "Adapted",
    "Trees",
    "Weights",
    "load_rarity",
    "load_weights",
    "penalty",
    "weights_of",
]

# Leaves are log-odds in units of a hundred-thousandth: their sum is exact, in whatever order it is made.
SCALE: Final = 100_000
# Features have four places.
PLACES: Final = 10_000
# A conflict counts from these log-odds on; where the rest of the statement stands in one sentence, from 0 on.
_CLEAR: Final = 0.75
# From this share on the rest stands in one sentence, the more the better.
_REST: Final = 0.9
# With up to so many words of content a statement says one thing, and one wrong word makes it false; in one
# with twice as many, one word in another place says little.
_ONE_THING: Final = 6
# What `penalty` looks at besides the trees' sum.
WEIGHED: Final = ("rest", "all", "content")

# Further log-odds change no probability.
_MOST_ODDS: Final = 50.0

Numbers = float | NDArray[np.float64]


class Trees(NamedTuple):
    """Complete binary trees of one depth; a tree's nodes are numbered level by level from 0.

    Attributes:
        features: the feature of each tree and inner node, (trees, 2**depth - 1).
        thresholds: a value above it goes right, (trees, 2**depth - 1).
        leaves: the value of each leaf, in units of 1/SCALE, (trees, 2**depth).
        base: the value added to all, in the same units.
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
    """Reduction of a short statement's log-odds for conflicts and absent words.

    A statement found in one sentence except for a difference is rejected more readily than one combined from
    many positions, where a different word at a position is common.

    Args:
        against: the log-odds that the statement says something else.
        rest: share of it in the best sentence, without the most significant absent word.
        covered: share of it in any sentence, from 0 to 1.
        content: number of its content words.
    """
    alone = np.clip((rest - _REST) / (1 - _REST), 0.0, 1.0)
    conflict = (1 + alone) * np.maximum(against - _CLEAR + _CLEAR * alone, 0.0)
    short = np.clip(2 - content / _ONE_THING, 0.0, 1.0)
    return np.asarray(short * (conflict + 1 - covered))


class Weights(NamedTuple):
    """All trained weights, for and against a statement.

    The second part was trained on false twins: true statements with one change.

    Attributes:
        support: trees over the features.
        linear: the value of one unit of some features, by index, in units of 1/SCALE.
        veto: trees over the features.
        weighed: indices of the three further features of `penalty`.
        threshold: lowest log-odds of a supported statement, in units of 1/SCALE.
        slope: how fast the probability grows with the log-odds.
    """

    support: Trees
    linear: Mapping[int, int]
    veto: Trees
    weighed: tuple[int, ...]
    threshold: int
    slope: float

    def log_odds(self, values: Sequence[float]) -> int:
        """Log-odds that the statement is supported, in units of 1/SCALE; exact."""
        linear = sum(slope * round(values[place] * PLACES) for place, slope in self.linear.items())
        against = self.veto.total(values) / SCALE
        taken = penalty(against, *(values[place] for place in self.weighed))
        return self.support.total(values) + linear // PLACES - round(SCALE * float(taken))

    def probability(self, log_odds: int) -> float:
        """The log-odds as a probability to three places; at least 0.5 only from the threshold on."""
        return _probability(self.slope * (log_odds - self.threshold) / SCALE)


class Adapted(NamedTuple):
    """The bundled weights, corrected by training on a user's labels.

    Attributes:
        bundled: the bundled weights.
        offset: the log-odds that are added, in units of 1/SCALE.
        slope: the factor of the bundled log-odds, in units of 1/PLACES.
        linear: of some features, by index: the log-odds of one unit in units of 1/SCALE, and the lowest and
            highest value that counts, in units of 1/PLACES.
        threshold: lowest log-odds of a supported statement.
    """

    bundled: Weights
    offset: int
    slope: int
    linear: Mapping[int, tuple[int, int, int]]
    threshold: int = 0

    def log_odds(self, values: Sequence[float]) -> int:
        """Log-odds that the statement is supported, in units of 1/SCALE; exact."""
        total = self.slope * self.bundled.log_odds(values)
        for place, (weight, low, high) in self.linear.items():
            total += weight * min(max(round(values[place] * PLACES), low), high)
        return self.offset + total // PLACES

    def probability(self, log_odds: int) -> float:
        """The log-odds as a probability to three places; at least 0.5 only from the threshold on."""
        return _probability(log_odds / SCALE)


def _probability(log_odds: float) -> float:
    """The probability to three places; at least 0.5 only for log-odds of at least 0."""
    bounded = min(max(log_odds, -_MOST_ODDS), _MOST_ODDS)
    value = round(1 / (1 + math.exp(-bounded)), 3)
    return value if log_odds >= 0 else min(value, 0.499)


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
    weighed = tuple([data["features"].index(feature) for feature in WEIGHED])
    return Weights(support, linear, veto, weighed, data["threshold"], data["slope"])


def _data(name: str) -> Any:
    path = files("ragmetrics_embedded._support").joinpath(f"{name}.json")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def load_weights(name: str) -> Weights:
    """The weights that come with the package: "vectors", or "plain" for features without word vectors."""
    return weights_of(_data(name))


@cache
def load_rarity() -> Mapping[str, int]:
    """Significance of words: a hundred times the negative logarithm of their frequency in texts."""
    return {word: int(value) for value, words in _data("rarity").items() for word in words.split()}
