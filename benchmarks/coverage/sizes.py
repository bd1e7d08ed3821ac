"""Tests where nothing differs: 1 less the share that is told all the same."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks.coverage.clusters import clustered
from benchmarks.coverage.design import Design, piled, seed_of, told
from ragmetrics_core.study._estimates import Estimate, MeanPart
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tests import mean_test, rank_test, sign_flip
from ragmetrics_core.study._trend import study_trend

__all__ = ["designs"]


def _groups(g: Generator, *, n: int, ranks: bool) -> Estimate:
    one, other = MeanPart(piled(g, 2 * n), range(2 * n)), MeanPart(piled(g, n), range(2 * n, 3 * n))
    return told(rank_test(one, other) if ranks else mean_test(one, other))


def _flips(g: Generator, *, n: int, moving: float, yes_no: bool) -> Estimate:
    moves = g.choice([-1.0, 1.0], n) if yes_no else g.normal(0, 0.3, n)
    return told(sign_flip(np.where(g.random(n) < moving, moves, 0.0), count=1000, seed=seed_of(g)))


def _flips_by_cluster(g: Generator, *, count: int) -> Estimate:
    values, clusters = clustered(g, count)
    return told(sign_flip(values, clusters=clusters, count=1000, seed=seed_of(g)))


def _groups_by_cluster(g: Generator, *, count: int, ranks: bool) -> Estimate:
    values, clusters = clustered(g, count)
    side = g.random(len(values)) < 0.5
    of = np.array(clusters)
    one, other = (MeanPart(values[at], of[at].tolist()) for at in (side, ~side))
    return told(rank_test(one, other) if ranks else mean_test(one, other))


def _trend(g: Generator, *, count: int, naive: bool) -> Estimate:
    """Four runs of two metrics that do not change, but for what a cluster's samples share in each run."""
    values, clusters = clustered(g, count)
    ids = [str(place) for place in range(len(values))]
    labels = {each: {"source": of} for each, of in zip(ids, clusters, strict=True)}
    of = np.array(clusters)
    runs: list[Scores] = []
    for name in "abcd":
        columns: dict[str, dict[str, float]] = {}
        for metric in ("one", "other"):
            column = values + g.normal(size=count)[of] + g.normal(size=len(of))
            columns[metric] = dict(zip(ids, column.tolist(), strict=True))
        runs.append(Scores(name=name, values=columns, labels=labels))
    found = study_trend(runs, cluster="none" if naive else "source", seed=seed_of(g))
    return told(0.0 if any(each.verdict in ("better", "worse") for each in found.points) else None)


def designs() -> Iterator[Design]:
    """Each test that a study prints."""
    for n in (30, 100, 300):
        for moving in (0.25, 1.0):
            data = f"{moving:.0%} of the pairs move"
            for yes_no, kind in ((True, "yes/no"), (False, "graded")):
                draw = partial(_flips, n=n, moving=moving, yes_no=yes_no)
                yield Design(f"1 - size, sign flips, {kind}", data, n, 0.0, draw)
        for ranks, name in ((False, "Welch"), (True, "Mann-Whitney")):
            draw = partial(_groups, n=n, ranks=ranks)
            yield Design(f"1 - size, {name}", "piled at 0 and 1, 2n and n", n, 0.0, draw)
    for count in (20, 40, 100):
        data = f"{count} clusters of 1 to 9"
        draw = partial(_flips_by_cluster, count=count)
        yield Design("1 - size, sign flips by cluster", data, count, 0.0, draw)
        for naive, name in ((True, "naive"), (False, "by cluster")):
            draw = partial(_trend, count=count, naive=naive)
            yield Design(f"1 - size, any change of a trend, {name}", data, count, 0.0, draw)
        for ranks, name in ((False, "Welch"), (True, "ranks")):
            draw = partial(_groups_by_cluster, count=count, ranks=ranks)
            yield Design(f"1 - size, {name} by cluster", data, count, 0.0, draw)
