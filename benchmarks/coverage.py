"""How often a 95 % interval holds the true value, for data whose true value is known.

    python -m benchmarks.coverage [--simulations 2000] [--only WORD]

Every interval of `ragmetrics_core.study` in stated designs. With 2,000 simulations a true coverage of 95 %
comes out between 94.0 and 96.0 % nineteen times in twenty; shares are summed exactly. The mark says where an
interval misses 93 to 97 %. It takes about three minutes; docs/study.md says which intervals fail, and where.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from math import asin, comb, pi, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study.bootstrap import bootstrap_mean
from ragmetrics_core.study.cluster_tests import cluster_rank, cluster_welch
from ragmetrics_core.study.clusters import bootstrap_clusters, cluster_mean, cluster_share
from ragmetrics_core.study.correction import corrected_mean, judge_errors
from ragmetrics_core.study.correlations import kendall_interval, pearson_interval, spearman_interval
from ragmetrics_core.study.detection import area_under_curve, best_threshold
from ragmetrics_core.study.estimate import prediction_powered_mean
from ragmetrics_core.study.intervals import Estimate, beta_interval, mean_of, summary_of, wilson_interval
from ragmetrics_core.study.permutation import sign_flip
from ragmetrics_core.study.reliability import krippendorff_alpha, weighted_kappa
from ragmetrics_core.study.significance import effect_size

__all__ = ["DESIGNS", "Covered", "Design", "coverage"]

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
    held, widths, without = 0, [], 0
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


def _seed(generator: Generator) -> int:
    return int(generator.integers(2**31))


def _share(g: Generator, *, n: int, p: float, interval: Callable[[int, int], Estimate]) -> Estimate:
    return interval(int(g.binomial(n, p)), n)


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


def _shares() -> Iterator[Design]:
    for n in (30, 100, 300):
        for p in (0.02, 0.1, 0.3, 0.5, 0.9):
            for name, interval in (("Wilson", wilson_interval), ("Beta", beta_interval)):
                exact = partial(exact_coverage, interval, n, p)
                draw = partial(_share, n=n, p=p, interval=interval)
                yield Design(f"share, {name}", f"p {p:g}", n, p, draw, exact)


def _student(g: Generator, *, n: int) -> Estimate:
    return mean_of(piled(g, n))


def _student_of_ones(g: Generator, *, n: int, p: float) -> Estimate:
    return mean_of((g.random(n) < p).astype(float))


def _bootstrapped(g: Generator, *, n: int) -> Estimate:
    return bootstrap_mean(piled(g, n), count=RESAMPLES, seed=_seed(g))


def _difference(g: Generator, *, n: int, moving: float) -> Estimate:
    moves = np.where(g.random(n) < moving, g.uniform(-0.5, 1.0, n), 0.0)
    return bootstrap_mean(moves, count=RESAMPLES, seed=_seed(g))


def _means() -> Iterator[Design]:
    for n in (10, 30, 100, 300):
        # 0.2 * 0 + 0.35 * 0.5 + 0.45 * 1
        yield Design("mean, Student", "scores piled at 0 and 1", n, 0.625, partial(_student, n=n))
        yield Design("mean, bootstrap", "scores piled at 0 and 1", n, 0.625, partial(_bootstrapped, n=n))
    for n in (30, 100, 300):
        for p in (0.9, 0.98):
            draw = partial(_student_of_ones, n=n, p=p)
            yield Design("mean, Student", f"{p:.0%} ones, the rest 0", n, p, draw)
        for moving in (0.1, 0.5):
            # those that move do so by -0.5 to 1, by 0.25 in the mean
            data = f"{moving:.0%} of the samples move"
            draw = partial(_difference, n=n, moving=moving)
            yield Design("paired difference, bootstrap", data, n, 0.25 * moving, draw)


def _effect(g: Generator, *, n: int) -> Estimate:
    x, y = summary_of(g.normal(0.91, 0.19, 2 * n).tolist()), summary_of(g.normal(0.71, 0.35, n).tolist())
    return Estimate(None) if x is None or y is None else effect_size(x, y)


def _effects() -> Iterator[Design]:
    # means and sds as in table 2 of the paper
    truth = 0.2 / sqrt((0.19**2 + 0.35**2) / 2)
    for n in (15, 100):
        yield Design("effect size", "normal, sds 0.19 and 0.35, 2n and n", n, truth, partial(_effect, n=n))


_INTERVALS = {"spearman": spearman_interval, "kendall": kendall_interval, "pearson": pearson_interval}


def _correlation(g: Generator, *, n: int, r: float, which: str) -> Estimate:
    x = g.normal(size=n)
    y = r * x + sqrt(1 - r * r) * g.normal(size=n)
    return _INTERVALS[which](x, y, count=RESAMPLES, seed=_seed(g))


def _correlations() -> Iterator[Design]:
    for n in (30, 100):
        for r in (0.0, 0.5, 0.8):
            for which, truth in (
                ("spearman", 6 / pi * asin(r / 2)),
                ("kendall", 2 / pi * asin(r)),
                ("pearson", r),
            ):
                draw = partial(_correlation, n=n, r=r, which=which)
                yield Design(f"{which}, bootstrap", f"normal, r {r:g}", n, truth, draw)


def _area(g: Generator, *, n: int, shift: float) -> Estimate:
    good = np.arange(n) < 0.7 * n
    return area_under_curve(g.normal(size=n) + shift * good, good)


def _detection() -> Iterator[Design]:
    for n in (30, 100, 300):
        for area in (0.6, 0.8, 0.95):
            draw = partial(_area, n=n, shift=NormalDist().inv_cdf(area) * sqrt(2))
            yield Design("area under the curve, DeLong", f"area {area:g}, 70 % correct", n, area, draw)


_LIKERT = np.arange(1.0, 6.0)
_POPULATION = np.array([0.15, 0.15, 0.2, 0.2, 0.3])


def _rated(g: Generator, n: int, q: float) -> tuple[list[float], list[float]]:
    """Two raters who each see a true Likert value with probability q, and else draw one at random."""
    true = g.choice(_LIKERT, n, p=_POPULATION)
    one, other = (np.where(g.random(n) < q, true, g.choice(_LIKERT, n, p=_POPULATION)) for _ in range(2))
    return one.tolist(), other.tolist()


def _kappa(g: Generator, *, n: int, q: float) -> Estimate:
    one, other = _rated(g, n, q)
    return weighted_kappa(one, other, count=RESAMPLES, seed=_seed(g)).value


def _alpha(g: Generator, *, n: int, q: float) -> Estimate:
    units = list(zip(*_rated(g, n, q), strict=True))
    return krippendorff_alpha(units, level="interval", count=RESAMPLES, seed=_seed(g)).value


def _reliability() -> Iterator[Design]:
    for q in (0.5, 0.8):
        for n in (30, 100):
            # both see the truth with q^2; otherwise they are independent draws of one distribution
            data, truth = f"two raters, each right with {q:g}", q * q
            yield Design("weighted kappa, bootstrap", data, n, truth, partial(_kappa, n=n, q=q))
            yield Design("alpha, bootstrap", data, n, truth, partial(_alpha, n=n, q=q))


def _powered(g: Generator, *, n: int) -> Estimate:
    """A judge that is biased upwards, and right more often than not."""
    y = (g.random(10 * n) < 0.6).astype(float)
    f = np.clip(0.3 + 0.5 * y + g.normal(0, 0.2, 10 * n), 0, 1)
    return prediction_powered_mean(y[:n], f[:n], f[n:])[0]


def _estimates() -> Iterator[Design]:
    for n in (30, 100, 300):
        data = "9 scored for each labelled sample"
        yield Design("prediction-powered mean", data, n, 0.6, partial(_powered, n=n))


def _of_clusters(g: Generator, count: int) -> tuple[Array, list[int]]:
    """Clusters of 1 to 9 samples; half of the variance is that of the clusters; mean 0."""
    clusters = np.repeat(np.arange(count), g.integers(1, 10, count))
    return g.normal(size=count)[clusters] + g.normal(size=len(clusters)), clusters.tolist()


def _cluster_mean(g: Generator, *, count: int, naive: bool) -> Estimate:
    values, clusters = _of_clusters(g, count)
    return mean_of(values) if naive else cluster_mean(values, clusters)


def _cluster_share(g: Generator, *, count: int, naive: bool) -> Estimate:
    values, clusters = _of_clusters(g, count)
    flags = values > 0
    return wilson_interval(int(flags.sum()), len(flags)) if naive else cluster_share(flags, clusters)


def _cluster_bootstrap(g: Generator, *, count: int) -> Estimate:
    values, clusters = _of_clusters(g, count)

    def mean(rows: NDArray[np.intp]) -> float:
        return float(values[rows].mean())

    value = float(values.mean())
    return bootstrap_clusters(mean, clusters, value=value, count=RESAMPLES, seed=_seed(g))


def _cluster_area(g: Generator, *, count: int, naive: bool) -> Estimate:
    values, clusters = _of_clusters(g, count)
    good = g.random(len(values)) < 0.6
    # a shift of one in a total variance of two: area Phi(1 / sqrt(2 * 2))
    return area_under_curve(values + good, good, clusters=None if naive else clusters)


def _clusters() -> Iterator[Design]:
    area = NormalDist().cdf(0.5)
    for count in (20, 40, 100):
        for naive, name in ((True, "naive"), (False, "by cluster")):
            data = f"{count} clusters of 1 to 9"
            yield Design(f"mean, {name}", data, count, 0.0, partial(_cluster_mean, count=count, naive=naive))
            share = partial(_cluster_share, count=count, naive=naive)
            yield Design(f"share, {name}", data, count, 0.5, share)
            draw = partial(_cluster_area, count=count, naive=naive)
            yield Design(f"area, {name}", data, count, area, draw)
        draw = partial(_cluster_bootstrap, count=count)
        yield Design("mean, bootstrap by cluster", data, count, 0.0, draw)


def _told(p: float | None) -> Estimate:
    """A test as an interval: it holds the truth (0) where nothing is told; so 1 - its size is printed."""
    return Estimate(0.0, 0.0, 0.0) if p is None or p >= 0.05 else Estimate(1.0, 1.0, 1.0)


def _flips(g: Generator, *, n: int, moving: float, yes_no: bool) -> Estimate:
    moves = g.choice([-1.0, 1.0], n) if yes_no else g.normal(0, 0.3, n)
    return _told(sign_flip(np.where(g.random(n) < moving, moves, 0.0), count=1000, seed=_seed(g)))


def _flips_by_cluster(g: Generator, *, count: int) -> Estimate:
    values, clusters = _of_clusters(g, count)
    return _told(sign_flip(values, clusters=clusters, count=1000, seed=_seed(g)))


def _groups_by_cluster(g: Generator, *, count: int, ranks: bool) -> Estimate:
    values, clusters = _of_clusters(g, count)
    side = g.random(len(values)) < 0.5
    of = np.array(clusters)
    test = cluster_rank if ranks else cluster_welch
    groups = (values[side].tolist(), values[~side].tolist(), of[side].tolist(), of[~side].tolist())
    return _told(test(*groups))


def _tests() -> Iterator[Design]:
    for n in (30, 100, 300):
        for moving in (0.25, 1.0):
            data = f"{moving:.0%} of the pairs move"
            for yes_no, kind in ((True, "yes/no"), (False, "graded")):
                draw = partial(_flips, n=n, moving=moving, yes_no=yes_no)
                yield Design(f"1 - size, sign flips, {kind}", data, n, 0.0, draw)
    for count in (20, 40, 100):
        data = f"{count} clusters of 1 to 9"
        draw = partial(_flips_by_cluster, count=count)
        yield Design("1 - size, sign flips by cluster", data, count, 0.0, draw)
        for ranks, name in ((False, "Welch"), (True, "ranks")):
            draw = partial(_groups_by_cluster, count=count, ranks=ranks)
            yield Design(f"1 - size, {name} by cluster", data, count, 0.0, draw)


def _drawn_scores(g: Generator, n: int) -> tuple[Array, NDArray[np.bool_]]:
    correct = g.random(n) < 0.6
    return g.normal(0.8 * correct, 1.0), correct


def _searched_worth(n: int) -> float:
    """What share of wrong answers a threshold found among n catches, in the mean of many searches."""
    g = np.random.default_rng(12)
    worth: list[float] = []
    for _ in range(600):
        scores, correct = _drawn_scores(g, n)
        order = np.argsort(scores)
        passed = 1 - (np.cumsum(correct[order]) - correct[order]) / correct.sum()
        caught = (np.cumsum(~correct[order]) - ~correct[order]) / (~correct).sum()
        worth.append(NormalDist().cdf(float(scores[order][np.argmax(passed + caught)])))
    return float(np.mean(worth))


def _searched(g: Generator, *, n: int) -> Estimate:
    found = best_threshold(*_drawn_scores(g, n), count=2, seed=_seed(g))
    return Estimate(None) if found is None else found.unseen_caught


def _searches() -> Iterator[Design]:
    for n in (60, 200):
        data = "wrong answers caught, unseen"
        yield Design("searched threshold", data, n, _searched_worth(n), partial(_searched, n=n))


def _corrected(g: Generator, *, n: int, labelled: int) -> Estimate:
    truth = g.random(n + labelled) < 0.4
    said = np.where(truth, g.random(len(truth)) < 0.9, g.random(len(truth)) > 0.7)
    errors = judge_errors(truth[:labelled].tolist(), said[:labelled].tolist())
    try:
        return corrected_mean(int(said[labelled:].sum()), n, errors)
    except ConfigError:  # what the judge tells cannot be told from nothing
        return Estimate(None)


def _corrections() -> Iterator[Design]:
    for n, labelled in ((300, 50), (300, 100), (1000, 200)):
        draw = partial(_corrected, n=n, labelled=labelled)
        yield Design("corrected mean", f"{labelled} labels, errors 10 and 30 %", n, 0.4, draw)


def _all() -> Iterator[Design]:
    for designs in (
        _shares,
        _means,
        _effects,
        _correlations,
        _detection,
        _reliability,
        _estimates,
        _clusters,
        _tests,
        _searches,
        _corrections,
    ):
        yield from designs()


DESIGNS: tuple[Design, ...] = tuple(_all())


def main() -> None:
    """Print the coverage of every design."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--only", default="", help="designs whose name has this word")
    given = parser.parse_args()
    start = time.monotonic()
    print(f"{'interval':<32} {'data':<38} {'n':>4} {'truth':>7} {'coverage':>9} {'width':>7}")
    for design in DESIGNS:
        if given.only not in f"{design.interval} {design.data}":
            continue
        found = design.exact() if design.exact else coverage(design, simulations=given.simulations)
        mark = "" if LOW <= found.share <= HIGH else "  outside 93 to 97 %"
        none = f"  no interval in {found.without}" if found.without else ""
        print(
            f"{design.interval:<32} {design.data:<38} {design.n:>4} {design.truth:>7.3f} {found.share:>9.1%} "
            f"{found.width:>7.3f}{mark}{none}",
            flush=True,
        )
    print(f"{given.simulations} simulations each, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
