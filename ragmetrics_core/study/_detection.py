"""A metric as a detector of wrong answers: ROC, the best threshold, and calibration."""

from collections.abc import Hashable, Iterable, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._bootstrap import RESAMPLES
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_spread
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, resamples_of
from ragmetrics_core.study._distributions import average_ranks, normal_quantile, t_quantile
from ragmetrics_core.study._intervals import Estimate, wilson_interval
from ragmetrics_core.study._searching import ShareAtThreshold, unseen_shares

__all__ = [
    "Bin",
    "Detection",
    "Threshold",
    "area_under_curve",
    "best_threshold",
    "calibration",
    "detect",
    "roc_points",
]

# More candidates for a threshold than this find nothing better.
_MOST_CUTS = 500

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Clusters = Sequence[Hashable] | None


class Threshold(NamedTuple):
    """Below which score an answer is called wrong.

    Attributes:
        at: the threshold with its interval over resamples: scores of at least that are called correct; of
            at most that where lower is better.
        caught: the share of wrong answers beyond it, among those that it was searched in: it flatters itself.
        passed: the share of correct answers that it lets pass, likewise.
        youden: caught + passed - 1 of the search itself.
        unseen_caught: the share of wrong answers that such a threshold catches among answers that the search
            has not seen; the interval covers the search (`unseen_shares`). None below ten answers.
        unseen_passed: the share of correct answers that it lets pass, likewise.
    """

    at: Estimate
    caught: Estimate
    passed: Estimate
    youden: float
    unseen_caught: Estimate = Estimate(None)
    unseen_passed: Estimate = Estimate(None)


class Bin(NamedTuple):
    """Answers of similar scores: how many, their mean score, and the share of correct ones."""

    low: float
    high: float
    n: int
    mean: float
    correct: Estimate


class Detection(NamedTuple):
    """How well scores tell correct answers from wrong ones.

    Attributes:
        area: the area under the ROC curve: the chance that a correct answer scores better than a wrong one;
            without an interval where all scores are one.
        threshold: the best one; None where there is nothing to tell.
        roc: the curve: share of wrong answers passed, share of correct answers passed.
        bins: calibration, where scores lie within [0, 1].
        error: expected calibration error over the bins.
        brier: mean squared difference of score and correctness.
        correct, wrong: how many answers there are of each.
        note: why there is nothing to tell.
    """

    area: Estimate
    threshold: Threshold | None
    roc: tuple[tuple[float, float], ...]
    bins: tuple[Bin, ...]
    error: float | None
    brier: float | None
    correct: int
    wrong: int
    note: str = ""


def detect(
    scores: Sequence[float],
    correct: Sequence[bool],
    *,
    lower_is_better: bool = False,
    clusters: Clusters = None,
    seed: int = 0,
) -> Detection:
    """Everything about a metric as a detector; see `Detection`.

    Args:
        scores: of the answers.
        correct: which of them are correct.
        lower_is_better: whether correct answers should have the lower scores. Threshold and bins are of the
            scores as they are; error and Brier score compare 1 - score with correctness.
        clusters: each answer's cluster; below 10 there is no interval of the area and the threshold.
        seed: of the bootstrap.
    """
    values, good = np.asarray(scores, dtype=float), np.asarray(correct, dtype=bool)
    positives, negatives = int(good.sum()), int((~good).sum())
    bins, error = calibration(values, good, lower_is_better=lower_is_better)
    is_share = len(values) > 0 and values.min() >= 0 and values.max() <= 1
    brier = float(((values - (~good if lower_is_better else good)) ** 2).mean()) if is_share else None
    if not len(values):
        return Detection(
            Estimate(None), None, (), bins, error, brier, 0, 0, "no answer has a label and a value"
        )
    if not positives or not negatives:
        note = "there is no correct answer" if not positives else "there is no wrong answer"
        return Detection(Estimate(None), None, (), bins, error, brier, positives, negatives, note)
    oriented = -values if lower_is_better else values
    area, roc = area_under_curve(oriented, good, clusters=clusters), roc_points(oriented, good)
    if np.ptp(values) == 0:
        note = f"every score is {values[0]:g}: nothing can be told apart"
        return Detection(area, None, roc, bins, error, brier, positives, negatives, note)
    threshold = best_threshold(oriented, good, clusters=clusters, seed=seed)
    return Detection(
        area,
        _negated(threshold) if threshold and lower_is_better else threshold,
        roc,
        bins,
        error,
        brier,
        positives,
        negatives,
    )


def area_under_curve(
    scores: Array, correct: Flags, *, clusters: Clusters = None, level: float = 0.95
) -> Estimate:
    r"""The area under the ROC curve with DeLong's interval on the logit scale.

    .. math:: A = \frac{1}{mn} \sum_{i,j} \left([x_i > y_j] + \tfrac12 [x_i = y_j]\right)

    for m correct and n wrong answers; its variance is that of the shares that each answer wins against the
    other side. With an area of exactly 0 or 1 that variance is 0, and the interval is Wilson's for as many
    trials as there are answers on the smaller side. Scores that are all one have the area 1/2 without an
    interval, for nothing was measured. Undefined (None) when a side is empty. With clusters, what the
    answers of one add is one error, as `cluster_spread` takes it; below 10 there is no interval.

    References:
        DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44(3), 837-845; Obuchowski (1997), Biometrics 53(2).
    """
    x, y = scores[correct], scores[~correct]
    m, n = len(x), len(y)
    if not m or not n:
        return Estimate(None)
    together = average_ranks(np.concatenate([x, y]))
    wins = (together[:m] - average_ranks(x)) / n
    losses = 1 - (together[m:] - average_ranks(y)) / m
    area = float(wins.mean())
    if min(m, n) < 2 or np.ptp(scores) == 0:
        return Estimate(area)
    if clusters is not None and len(set(clusters)) < FEWEST_CLUSTERS:
        return Estimate(area)
    if area in (0.0, 1.0):
        if clusters is not None:
            sides = (
                {each for each, is_on in zip(clusters, side, strict=True) if is_on}
                for side in (correct, ~correct)
            )
            fewest = min(map(len, sides))
            return wilson_interval(round(area) * fewest, fewest, level=level)
        return wilson_interval(round(area) * min(m, n), min(m, n), level=level)
    deviation = sqrt(float(wins.var(ddof=1)) / m + float(losses.var(ddof=1)) / n)
    quantile = normal_quantile(0.5 + level / 2)
    if clusters is not None:
        of_correct = [each for each, good in zip(clusters, correct, strict=True) if good]
        of_wrong = [each for each, good in zip(clusters, correct, strict=True) if not good]
        # what a wrong answer wins, so that answers of one cluster are alike on both sides
        spread = cluster_spread(MeanPart(wins, of_correct), MeanPart(1 - losses, of_wrong, -1.0))
        deviation, quantile = spread.error, t_quantile(0.5 + level / 2, spread.df)
    middle = log(area / (1 - area))
    half = quantile * deviation / (area * (1 - area))
    return Estimate(area, _logistic(middle - half), _logistic(middle + half))


def best_threshold(
    scores: Array,
    correct: Flags,
    *,
    clusters: Clusters = None,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Threshold | None:
    """The threshold with the highest Youden index: caught + passed - 1; of equal ones the lowest.

    It is looked for among the scores; where these are more than 500, among 500 of them by rank. Undefined
    (`None`) when a side is empty.
    """
    if not correct.any() or correct.all():
        return None
    candidates = _Cuts.among(scores, correct)
    cuts = candidates.cuts
    whole = candidates.counted([np.arange(len(scores))])
    index = int(candidates.best(whole)[0])
    drawn: list[float] = []
    for batch in resamples_of(len(scores), clusters, count=min(count, 500), seed=seed):
        best = candidates.best(candidates.counted(batch))
        drawn += cuts[best[best >= 0]].tolist()
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2]).tolist() if drawn else (None, None)
    if clusters is not None and len(set(clusters)) < FEWEST_CLUSTERS:
        low = high = None
    passes = cuts[:, None] <= scores
    of_pass, of_catch = passes & correct, ~passes & ~correct

    def choose(weights: Array) -> Indices:
        return candidates.best(candidates.weighted(weights))

    parts = (
        ShareAtThreshold(of_catch, np.broadcast_to(~correct, of_catch.shape)),
        ShareAtThreshold(of_pass, np.broadcast_to(correct, of_pass.shape)),
    )
    caught, passed = unseen_shares(choose, parts, n=len(scores), clusters=clusters, level=level, seed=seed)
    wrong = int((~correct).sum())
    return Threshold(
        Estimate(float(cuts[index]), low, high),
        Estimate(int(of_catch[index].sum()) / wrong),
        Estimate(int(of_pass[index].sum()) / (len(scores) - wrong)),
        float(candidates.sums(whole)[0, index]) - 1,
        caught,
        passed,
    )


class _Cuts(NamedTuple):
    """Candidates for a threshold, and how many of them each answer reaches.

    What lies on either side of each cut is summed from how many answers reach how many cuts, right and wrong
    ones apart: so no answer is looked at for each cut.
    """

    cuts: Array
    cells: Indices

    @classmethod
    def among(cls, scores: Array, correct: Flags) -> "_Cuts":
        """The cuts to be looked at: the scores, or some of them."""
        cuts = np.unique(scores)
        if len(cuts) > _MOST_CUTS:
            cuts = cuts[np.linspace(0, len(cuts) - 1, _MOST_CUTS).astype(int)]
        return cls(cuts, 2 * np.searchsorted(cuts, scores, side="right") + correct)

    def counted(self, resamples: Iterable[Indices]) -> Array:
        """How many answers of each resample reach how many cuts: a line of them, the wrong and the right."""
        size = 2 * len(self.cuts) + 2
        return np.array([np.bincount(self.cells[rows], minlength=size) for rows in resamples], dtype=float)

    def weighted(self, weights: Array) -> Array:
        """The same where each answer counts as often as its weight says, line by line."""
        size = 2 * len(self.cuts) + 2
        rows = [np.bincount(self.cells, weights=line, minlength=size) for line in weights]
        return np.array(rows, dtype=float)

    def sums(self, counted: Array) -> Array:
        """The share of wrong answers caught and that of right ones passed at each cut, together."""
        below = counted.reshape(len(counted), -1, 2).cumsum(axis=1)
        wrong, right = below[:, :, 0], below[:, :, 1]
        caught, failed = (_shares(each[:, :-1], each[:, -1]) for each in (wrong, right))
        return caught + 1 - failed

    def best(self, counted: Array) -> Indices:
        """The place of the best cut in each line, of equal ones the lowest; -1 where a side is empty."""
        sides = counted.reshape(len(counted), -1, 2).sum(axis=1)
        # of equal ones the lowest, whatever the rounding
        return np.where((sides > 0).all(axis=1), np.argmax(np.round(self.sums(counted), 12), axis=1), -1)


def _shares(hits: Array, of: Array) -> Array:
    return np.divide(hits, of[:, None], out=np.zeros_like(hits), where=of[:, None] > 0)


def roc_points(scores: Array, correct: Flags) -> tuple[tuple[float, float], ...]:
    """The corners of the ROC curve from (0, 0) to (1, 1)."""
    cuts, places = np.unique(scores, return_inverse=True)
    sides = (np.bincount(places[side], minlength=len(cuts))[::-1].cumsum() for side in (~correct, correct))
    wrong, right = (passed / passed[-1] for passed in sides)
    return ((0.0, 0.0), *zip(wrong.tolist(), right.tolist(), strict=True))


def calibration(
    scores: Array, correct: Flags, *, bins: int = 10, lower_is_better: bool = False
) -> tuple[tuple[Bin, ...], float | None]:
    """The share of correct answers by score, in bins of equal width, and the expected calibration error.

    The error is the mean over answers of |mean score - share correct| of their bin (Guo et al. 2017), with
    the complement of the score where lower is better. A score is no probability of being correct by itself:
    this says how far it is from one. Nothing for scores outside [0, 1] or without an answer.
    """
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return (), None
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.digitize(scores, edges[1:-1], right=False), 0, bins - 1)
    found: list[Bin] = []
    error = 0.0
    for number in range(bins):
        inside = place == number
        count = int(inside.sum())
        if count:
            mean = float(scores[inside].mean())
            share = wilson_interval(int(correct[inside].sum()), count)
            found.append(Bin(float(edges[number]), float(edges[number + 1]), count, mean, share))
            expected = 1 - mean if lower_is_better else mean
            error += abs(expected - (share.value or 0.0)) * count / len(scores)
    return tuple(found), error


def _negated(found: Threshold) -> Threshold:
    """The threshold of negated scores as one of the scores themselves."""
    at = found.at
    assert at.value is not None
    turned = None if at.low is None else -at.low, None if at.high is None else -at.high
    return found._replace(at=Estimate(-at.value, turned[1], turned[0]))


def _logistic(value: float) -> float:
    # either form alone would overflow at one end
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))
