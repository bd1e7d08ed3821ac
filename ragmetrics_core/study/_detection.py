"""A metric as a detector of wrong answers: ROC, the best threshold, and calibration."""

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._distributions import normal_quantile, t_quantile
from ragmetrics_core.study._intervals import Estimate, wilson_interval, wilson_of
from ragmetrics_core.study._parts import (
    Clusters,
    MeanPart,
    are_own,
    are_too_few,
    cluster_codes,
    clusters_of,
    spread_of,
)
from ragmetrics_core.study._resampling import RESAMPLES, resampled
from ragmetrics_core.study._tables import Column
from ragmetrics_core.study._tests import win_shares

__all__ = [
    "Bin",
    "Detection",
    "Threshold",
    "area_parts",
    "area_under_curve",
    "best_threshold",
    "calibration",
    "detect",
    "roc_points",
]

# More candidates for a threshold than this find nothing better.
_MOST_CUTS = 500

# Of the cross-validation of a search, and of the bootstrap around it.
_FOLDS = 5
_SHUFFLES = 10
_OUTER = 200

# cells of one batch of weights
_BATCH = 4_000_000

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Threshold(NamedTuple):
    """Below which score an answer is called wrong.

    Attributes:
        at: the threshold with its interval over resamples: scores of at least that are called correct; of
            at most that where lower is better.
        caught: the share of wrong answers beyond it, among those that it was searched in: it flatters itself.
        passed: the share of correct answers that it lets pass, likewise.
        youden: caught + passed - 1 of the search itself.
        unseen_caught: the share of wrong answers that such a threshold catches among answers that the search
            has not seen; the interval covers the search. None below ten answers.
        unseen_passed: the share of correct answers that it lets pass, likewise.
    """

    at: Annotated[Estimate, Column("threshold")]
    caught: float
    passed: float
    youden: float
    unseen_caught: Annotated[Estimate, Column("caught")]
    unseen_passed: Annotated[Estimate, Column("passed")]


class Bin(NamedTuple):
    """Answers of similar scores: how many, their mean score, and the share of correct ones."""

    low: float
    high: float
    n: int
    mean: Annotated[float, Column("mean score")]
    correct: Estimate

    @property
    def scores(self) -> str:
        """From where to where: "0.1 to 0.2"."""
        return f"{self.low:.1f} to {self.high:.1f}"


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
    clusters: Clusters = (),
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
    clusters = clusters_of(len(values), clusters)
    positives, negatives = int(good.sum()), int((~good).sum())
    bins, error = calibration(values, good, lower_is_better=lower_is_better)
    is_share = len(values) > 0 and values.min() >= 0 and values.max() <= 1
    brier = float(((values - (good ^ lower_is_better)) ** 2).mean()) if is_share else None
    area, roc, threshold, note = Estimate(None), tuple[tuple[float, float], ...](), None, ""
    if not len(values):
        note = "no answer has a label and a value"
    elif not positives or not negatives:
        note = "there is no correct answer" if not positives else "there is no wrong answer"
    else:
        oriented = -values if lower_is_better else values
        area, roc = area_under_curve(oriented, good, clusters), roc_points(oriented, good)
        if np.ptp(values) == 0:
            note = f"every score is {values[0]:g}: nothing can be told apart"
        elif threshold := best_threshold(oriented, good, clusters, seed=seed):
            threshold = threshold._replace(at=-threshold.at) if lower_is_better else threshold
    return Detection(area, threshold, roc, bins, error, brier, positives, negatives, note)


def area_parts(scores: Array, correct: Flags, clusters: Clusters) -> tuple[MeanPart, MeanPart]:
    """The area under the ROC curve as parts: what each correct answer wins, less what each wrong one wins.

    Their difference has the error of the area A, and the value 2A - 1.
    """
    wins, losses = win_shares(scores[correct], scores[~correct])
    of_correct, of_wrong = (
        [cluster for cluster, is_on in zip(clusters, side, strict=True) if is_on]
        for side in (correct, ~correct)
    )
    return MeanPart(wins, of_correct), MeanPart(losses, of_wrong, -1.0)


def area_under_curve(
    scores: Array, correct: Flags, clusters: Clusters = (), *, level: float = 0.95
) -> Estimate:
    r"""The area under the ROC curve with DeLong's interval on the logit scale.

    .. math:: A = \frac{1}{mn} \sum_{i,j} \left([x_i > y_j] + \tfrac12 [x_i = y_j]\right)

    for m correct and n wrong answers; its variance is that of the shares that each answer wins against the
    other side, with what the answers of one cluster add as one error (`spread_of`). With an area of exactly 0
    or 1 that variance is 0, and the interval is Wilson's for as many trials as there are clusters on the
    smaller side. Scores that are all one have the area 1/2 without an interval, for nothing was measured.
    Undefined (None) when a side is empty; no interval (None) below 10 clusters of several.

    References:
        DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44(3), 837-845; Obuchowski (1997), Biometrics 53(2).
    """
    if not correct.any() or correct.all():
        return Estimate(None)
    clusters = clusters_of(len(scores), clusters)
    parts = area_parts(scores, correct, clusters)
    area = parts[0].mean
    if min(len(part.clusters) for part in parts) < 2 or np.ptp(scores) == 0 or are_too_few(clusters):
        return Estimate(area)
    if area in (0.0, 1.0):
        fewest = min(len(set(part.clusters)) for part in parts)
        return wilson_interval(round(area) * fewest, fewest, level=level)
    spread, share = spread_of(*parts), 0.5 + level / 2
    quantile = normal_quantile(share) if are_own(clusters) else t_quantile(share, spread.df)
    middle, half = log(area / (1 - area)), quantile * spread.error / (area * (1 - area))
    return Estimate(area, _logistic(middle - half), _logistic(middle + half))


def best_threshold(
    scores: Array,
    correct: Flags,
    clusters: Clusters = (),
    *,
    level: float = 0.95,
    count: int = RESAMPLES,
    seed: int = 0,
) -> Threshold | None:
    """The threshold with the highest Youden index: caught + passed - 1; of equal ones the lowest.

    It is looked for among the scores; where these are more than 500, among 500 of them by rank. What it
    catches and passes on answers that the search has not seen is told by `_unseen`. Undefined (`None`) when a
    side is empty.
    """
    if not correct.any() or correct.all():
        return None
    clusters, cuts = clusters_of(len(scores), clusters), np.unique(scores)
    if len(cuts) > _MOST_CUTS:
        cuts = cuts[np.linspace(0, len(cuts) - 1, _MOST_CUTS).astype(int)]
    # how many cuts each answer reaches, wrong and right ones apart: so no answer is looked at for each cut
    cells = 2 * np.searchsorted(cuts, scores, side="right") + correct

    def youden(weights: Array) -> Array:
        """The index at each cut, in each row; not a number where a side is empty."""
        rows = [np.bincount(cells, weights=row, minlength=2 * len(cuts) + 2) for row in weights]
        below = np.array(rows).reshape(len(rows), -1, 2).cumsum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = below[:, :-1] / below[:, -1:]
        return np.asarray(shares[:, :, 0] - shares[:, :, 1])

    def choose(weights: Array) -> Indices:
        found = youden(weights)
        # of equal ones the lowest, whatever the rounding
        return np.where(np.isfinite(found).all(axis=1), np.argmax(np.round(found, 12), axis=1), -1)

    (of_cuts,) = youden(np.ones((1, len(scores))))
    index = int(choose(np.ones((1, len(scores))))[0])
    drawn = resampled(choose, clusters, count=min(count, 500), seed=seed)  # type: ignore[arg-type]
    low, high = np.quantile(cuts[drawn[drawn >= 0].astype(int)], [0.5 - level / 2, 0.5 + level / 2]).tolist()
    at = Estimate(float(cuts[index]), *(() if are_too_few(clusters) else (low, high)))
    passes = cuts[:, None] <= scores
    caught, passed = _unseen(
        choose, (~passes & ~correct, ~correct), (passes & correct, correct), clusters, level=level, seed=seed
    )
    of_pass, of_catch = passes[index][correct].mean(), (~passes[index])[~correct].mean()
    return Threshold(at, float(of_catch), float(of_pass), float(of_cuts[index]), caught, passed)


def _unseen(
    choose: Callable[[Array], Indices],
    caught: tuple[Flags, Flags],
    passed: tuple[Flags, Flags],
    clusters: Clusters,
    *,
    level: float,
    seed: int,
) -> tuple[Estimate, Estimate]:
    r"""Two shares by cross-validation, with an interval that covers the search, by a nested bootstrap.

    The share: a cut is chosen in four fifths of the samples and counted in the last fifth, over ten shuffles.
    The interval: clusters are drawn with replacement 200 times, and in each of these the whole procedure is
    done again, with all copies of a sample in one fold; their standard deviation s makes Wilson's interval
    for :math:`p(1-p)/s^2` samples, with Student's quantile. So it knows that another sample would have found
    another cut. No share (None) below ten samples or clusters.

    Args:
        choose: from weights of samples, one row for each search, to the place of the cut; -1 for none.
        caught: for each cut which samples count, and out of which ones.
        passed: likewise.
        clusters: each sample's cluster, which is in one fold.
        level: confidence.
        seed: of the folds and the draws.

    References:
        Varma and Simon (2006), "Bias in error estimation when using cross-validation for model selection",
        BMC Bioinformatics 7:91.
    """
    codes = cluster_codes(clusters)
    size = int(codes.max()) + 1
    if size < 2 * _FOLDS:
        return Estimate(None), Estimate(None)
    generator = np.random.default_rng(seed)

    def counted(weights: Array) -> tuple[Array, Array]:
        """For each row of weights of clusters, hits and trials of both shares over all folds."""
        rows = max(1, _BATCH // (len(codes) * _FOLDS))
        hits, trials = np.zeros((len(weights), 2)), np.zeros((len(weights), 2))
        for start in range(0, len(weights), rows):
            batch = weights[start : start + rows]
            # a random fold for each cluster, as even as can be
            order = generator.permuted(np.tile(np.arange(size) % _FOLDS, (len(batch), 1)), axis=1)
            for fold in range(_FOLDS):
                chosen = choose((batch * (order != fold))[:, codes])
                rest = (batch * (order == fold))[:, codes] * (chosen >= 0)[:, None]
                for place, (of_hit, of) in enumerate((caught, passed)):
                    hits[start : start + rows, place] += (rest * of_hit[chosen]).sum(axis=1)
                    trials[start : start + rows, place] += rest @ of
        return hits, trials

    hits, of = counted(np.ones((_SHUFFLES, size)))
    drawn = generator.multinomial(size, np.full(size, 1 / size), size=_OUTER).astype(float)
    again_hits, again_of = counted(drawn)

    def share_of(place: int) -> Estimate:
        trials = float(of[:, place].sum()) / _SHUFFLES
        if not trials:
            return Estimate(None)
        share = float(hits[:, place].sum() / of[:, place].sum())
        known = again_of[:, place] > 0
        again = again_hits[known, place] / again_of[known, place]
        spread = float(again.std(ddof=1)) if len(again) > 1 else 0.0
        worth = min(trials, share * (1 - share) / spread**2) if spread and 0 < share < 1 else trials
        return wilson_of(share, worth, t_quantile(0.5 + level / 2, size - 1))

    return share_of(0), share_of(1)


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
    edges = np.linspace(0, 1, bins + 1).tolist()
    place = np.clip(np.digitize(scores, edges[1:-1], right=False), 0, bins - 1)
    found: list[Bin] = []
    error = 0.0
    for number in np.unique(place).tolist():
        inside = place == number
        count, mean = int(inside.sum()), float(scores[inside].mean())
        share = wilson_interval(int(correct[inside].sum()), count)
        found.append(Bin(edges[number], edges[number + 1], count, mean, share))
        expected = 1 - mean if lower_is_better else mean
        error += abs(expected - (share.value or 0.0)) * count / len(scores)
    return tuple(found), error


def _logistic(value: float) -> float:
    # either form alone would overflow at one end
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))
