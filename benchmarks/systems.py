"""False positives and power of the joint comparison of five systems on 60 questions.

    python -m benchmarks.systems                    2,000 simulations a row, about half an hour
    python -m benchmarks.systems --simulations 200

A row prints how often any pair is told apart that does not differ (it should be 4 to 6 % where no system
differs), how often the best and the worst system are told apart, and how often the intervals of all pairs
hold all differences. The questions are hard and easy ones; with clusters (15 sources of four questions) half
of what a system does better or worse on a question is common to the source.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ragmetrics_core.study import Scores
from ragmetrics_core.study._clustering import NO_CLUSTERS
from ragmetrics_core.study._frame import frame_of
from ragmetrics_core.study._joint_test import joint_test
from ragmetrics_core.study._question_pairs import pairing_of, renamed
from ragmetrics_core.study._system_comparison import _figure

SYSTEMS, QUESTIONS, SOURCES = 5, 60, 15
METRIC = "metric/plain.1"

Array = NDArray[np.float64]
Draw = Callable[[Generator], Array]


@dataclass(frozen=True, kw_only=True)
class Design:
    """A row: how scores are drawn, and the means that they have."""

    name: str
    draw: Draw
    means: tuple[float, ...]
    cluster: str = NO_CLUSTERS
    labelled: float = 0.0


def graded(g: Generator, *, means: tuple[float, ...], cluster: float, spread: tuple[float, ...]) -> Array:
    """Scores with a part of the question, of the system on the source, and of the answer; not cut off."""
    source = np.repeat(np.arange(SOURCES), QUESTIONS // SOURCES)
    question = g.choice([0.2, 0.5, 0.9], QUESTIONS)[:, None]
    shared = g.normal(0, 0.15, (SOURCES, SYSTEMS))[source] * np.sqrt(cluster)
    own = g.normal(0, 0.15, (QUESTIONS, SYSTEMS)) * np.sqrt(1 - cluster)
    return np.asarray(question + means + (shared + own) * spread)


def yes_no(g: Generator, *, means: tuple[float, ...], cluster: float) -> Array:
    """Whether an answer is right: as likely as the question and the system make it."""
    source = np.repeat(np.arange(SOURCES), QUESTIONS // SOURCES)
    easy = g.choice([0.1, 0.55, 0.8], QUESTIONS)[:, None]
    luck = np.where(
        g.random((QUESTIONS, SYSTEMS)) < cluster,
        g.random((SOURCES, SYSTEMS))[source],
        g.random((QUESTIONS, SYSTEMS)),
    )
    return np.asarray(luck < easy + means, dtype=float)


def designs() -> Iterator[Design]:
    """The rows of the table."""
    same, alike = (0.0,) * SYSTEMS, (1.0,) * SYSTEMS
    step = (0.0, 0.03, 0.06, 0.09, 0.12)
    one = (0.0, 0.0, 0.0, 0.0, 0.2)
    uneven = (0.3, 0.3, 1.0, 2.0, 2.0)
    for cluster, by in ((0.0, NO_CLUSTERS), (0.5, "source"), (0.5, NO_CLUSTERS)):
        data = "independent" if not cluster else "by source" if by == "source" else "sources ignored"
        for means, name in (
            (same, "no system differs"),
            (step, "steps of 0.03"),
            (one, "one system differs"),
        ):
            if cluster and by == NO_CLUSTERS and means is not same:
                continue
            draw = partial(graded, means=means, cluster=cluster, spread=alike)
            yield Design(name=f"graded, {data}, {name}", draw=draw, means=means, cluster=by)
            yes = partial(yes_no, means=means, cluster=cluster)
            yield Design(name=f"yes/no, {data}, {name}", draw=yes, means=means, cluster=by)
    for means, name in ((same, "no system differs"), (one, "one system differs")):
        draw = partial(graded, means=means, cluster=0.0, spread=uneven)
        yield Design(name=f"graded, uneven spreads, {name}", draw=draw, means=means)
        draw = partial(graded, means=means, cluster=0.5, spread=alike)
        data = f"a third labelled, by source, {name}"
        yield Design(name=data, draw=draw, means=means, cluster="source", labelled=1 / 3)


def simulate(design: Design, g: Generator, count: int) -> tuple[bool, bool, bool]:
    """One simulation: a false positive, the largest difference found, all differences in their intervals."""
    scores = design.draw(g)
    said: Array | None = None
    if design.labelled:
        # people's labels are the values; the judge sees them through noise, and prefers the first system
        said = np.where(g.random(scores.shape) < design.labelled, scores, np.nan)
        scores = scores + g.normal(0, 0.1, scores.shape) + np.array([0.2, 0.0, 0.0, 0.0, 0.0])
    ids = [f"q{place}" for place in range(QUESTIONS)]
    sources = {each: {"source": f"s{place * SOURCES // QUESTIONS}"} for place, each in enumerate(ids)}
    systems = [
        Scores(name=str(place), values={METRIC: dict(zip(ids, column.tolist(), strict=True))}, labels=sources)
        for place, column in enumerate(scores.T)
    ]
    labels: list[dict[str, float]] = []
    if said is not None:
        for column in said.T:
            known = zip(ids, column.tolist(), strict=True)
            labels.append({each: value for each, value in known if np.isfinite(value)})
    pairing = pairing_of(systems)
    named = [renamed(each, of) for each, of in zip(systems, pairing.members, strict=True)]
    frame = frame_of(named, cluster=design.cluster)
    figure = _figure(METRIC, named, labels, pairing, frame)
    (differences,), (ps,) = joint_test([figure.parts], count=count, seed=int(g.integers(2**31)))
    truth = [design.means[one] - design.means[other] for one, other in combinations(range(SYSTEMS), 2)]
    rows = [(true, each, p or 0.0) for true, each, p in zip(truth, differences, ps, strict=True)]
    is_wrong = any(p < 0.05 for true, _, p in rows if not true)
    is_found = rows[SYSTEMS - 2][2] < 0.05
    held = all(
        each.low is not None and each.high is not None and each.low <= true <= each.high
        for true, each, _ in rows
    )
    return is_wrong, is_found, held


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.systems")
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--only", default="", help="rows whose name has this word")
    given = parser.parse_args()
    start = time.monotonic()
    print(f"{'design':<55} {'false positives':>15} {'power':>7} {'all intervals hold':>19}")
    for design in designs():
        if given.only not in design.name:
            continue
        g = np.random.default_rng(1)
        outcomes = [simulate(design, g, given.permutations) for _ in range(given.simulations)]
        wrong, found, held = np.mean(outcomes, axis=0)
        has_true = len(set(design.means)) < SYSTEMS
        power = f"{found:.1%}" if len(set(design.means)) > 1 else ""
        # shares of yes and no are cut off at 0 and 1, so that the differences are not exactly the means'
        kept = "" if design.name.startswith("yes/no") and power else f"{held:.1%}"
        print(f"{design.name:<55} {f'{wrong:.1%}' if has_true else '':>15} {power:>7} {kept:>19}", flush=True)
    print(f"{given.simulations} simulations each, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
