"""A design: an interval, data whose true value is known, and how often the one holds the other."""

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ragmetrics_core.study._estimates import Estimate

__all__ = [
    "HIGH",
    "LOW",
    "RESAMPLES",
    "Array",
    "Covered",
    "Design",
    "coverage",
    "exact_coverage",
    "piled",
    "seed_of",
    "told",
]

# fewer resamples than in use: it does not move the coverage, and there are thousands of simulations
RESAMPLES = 400
LOW, HIGH = 0.93, 0.97

Array = NDArray[np.float64]


class Design(NamedTuple):
    """One interval in one design.

    Attributes:
        interval: which interval.
        data: what the data are.
        n: how many samples.
        truth: the true value.
        draw: one simulation's figure with its interval.
        exact: the coverage without simulation, where it can be summed.
    """

    interval: str
    data: str
    n: int
    truth: float
    draw: Callable[[Generator], Estimate]
    exact: "Callable[[], Covered] | None" = None


class Covered(NamedTuple):
    """The share of intervals that held the truth, their mean width, and how many had none."""

    share: float
    width: float
    without: int


def coverage(design: Design, *, simulations: int, seed: int = 0) -> Covered:
    """Simulate a design."""
    generator = np.random.default_rng(seed)
    held, widths, without = 0, list[float](), 0
    for _ in range(simulations):
        found = design.draw(generator)
        if found.low is None or found.high is None:
            without += 1
            continue
        held += found.low - 1e-12 <= design.truth <= found.high + 1e-12
        widths.append(found.high - found.low)
    count = simulations - without
    return Covered(held / count if count else 0.0, float(np.mean(widths)) if widths else 0.0, without)


def piled(generator: Generator, n: int, shift: float = 0.0) -> Array:
    """Scores that pile up at 0 and 1: 20 % zeros, 45 % ones, the rest between; mean 0.625 without a shift."""
    kind = generator.random(n)
    return np.where(kind < 0.2 - shift, 0.0, np.where(kind < 0.55 - shift, generator.random(n), 1.0))


def seed_of(generator: Generator) -> int:
    """The seed of one simulation's own random draws."""
    return int(generator.integers(2**31))


def exact_coverage(interval: Callable[[int, int], Estimate], n: int, p: float) -> Covered:
    """The coverage of an interval for a share, summed over all outcomes: nothing is left to chance."""
    held = width = 0.0
    for hits in range(n + 1):
        found = interval(hits, n)
        assert found.low is not None
        assert found.high is not None
        chance = comb(n, hits) * p**hits * (1 - p) ** (n - hits)
        held += chance * (found.low <= p <= found.high)
        width += chance * (found.high - found.low)
    return Covered(held, width, 0)


def told(p: float | None) -> Estimate:
    """A test as an interval: it holds the truth (0) where nothing is told; so 1 - its size is printed."""
    return Estimate(0.0, 0.0, 0.0) if p is None or p >= 0.05 else Estimate(1.0, 1.0, 1.0)
