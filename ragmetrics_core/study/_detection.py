"""A metric as a detector of wrong answers: ROC, the best threshold, and calibration."""

from collections.abc import Sequence
from math import exp, log
from typing import Annotated, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.study._distributions import normal_quantile, t_quantile
from ragmetrics_core.study._estimates import (
    Clusters,
    Estimate,
    MeanPart,
    are_singletons,
    are_too_few,
    cluster_codes,
    clusters_of,
    spread_of,
    wilson_interval,
)
from ragmetrics_core.study._resampling import Resampling, resampled
from ragmetrics_core.study._tables import Column
from ragmetrics_core.study._tests import win_shares

__all__ = [
    "Bin",
    "Detection",
    "Threshold",
    "area_under_curve",
    "best_threshold",
    "bin_places",
    "calibration",
    "detect",
    "reliability_bar",
    "roc_points",
]

# More candidates for a threshold than this find nothing better.
_MOST_CUTS = 500

# How many resamples are searched for a threshold.
_SEARCHES = 500

# Characters of a bar.
_WIDTH = 20

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Threshold(NamedTuple):
    """Threshold between correct and wrong answers.

    Attributes:
        at: threshold with its interval over resamples. Scores at or above it (at or below it if lower is
            better) count as correct.
        caught: share of wrong answers beyond the threshold. It is too high, because the threshold was chosen
            on the same answers.
        passed: share of correct answers that pass, with the same bias.
    """

    at: Annotated[Estimate, Column("threshold")]
    caught: float
    passed: float


class Bin(NamedTuple):
    """Answers with similar scores: their number, mean score and share of correct answers."""

    low: float
    high: float
    n: int
    mean: Annotated[float, Column("mean score")]
    correct: Estimate

    @property
    def scores(self) -> str:
        """Range of the scores: "0.1 to 0.2"."""
        return f"{self.low:.1f} to {self.high:.1f}"

    @property
    def figure(self) -> str:
        """The share of correct answers as a bar, with a mark at the mean score."""
        return reliability_bar(self.correct.value or 0.0, self.mean)


class Detection(NamedTuple):
    """A metric as a detector of wrong answers.

    Attributes:
        area: area under the ROC curve: the probability that a correct answer scores better than a wrong one;
            without an interval if all scores are equal.
        threshold: best threshold; None if undefined.
        roc: points of the ROC curve: share of wrong answers passed, share of correct answers passed.
        bins: calibration, if scores lie within [0, 1].
        error: expected calibration error over the bins.
        brier: mean squared difference between score and correctness.
        correct, wrong: numbers of correct and wrong answers.
        note: why figures are missing.
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
    """Evaluate a metric as a detector of wrong answers; see `Detection`.

    Args:
        scores: scores of the answers.
        correct: whether each answer is correct.
        lower_is_better: whether correct answers should have lower scores. Threshold and bins use the original
            scores; error and Brier score compare 1 - score with correctness.
        clusters: cluster of each answer; below 10 clusters there is no interval for area and threshold.
        seed: random seed of the bootstrap.
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


def area_under_curve(
    scores: Array, correct: Flags, clusters: Clusters = (), *, level: float = 0.95
) -> Estimate:
    r"""The area under the ROC curve with DeLong's interval on the logit scale.

    .. math:: A = \frac{1}{mn} \sum_{i,j} \left([x_i > y_j] + \tfrac12 [x_i = y_j]\right)

    for m correct and n wrong answers; its variance is that of the shares that each answer wins against the
    other side, with what the answers of one cluster add as one error (`spread_of`). With an area of exactly 0
    or 1 that variance is 0, and the interval is Wilson's for as many trials as there are clusters on the
    smaller side. Equal scores have the area 1/2 without an interval, because they carry no information.
    Undefined (None) when a side is empty; no interval (None) below 10 clusters of several.

    References:
        DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44(3), 837-845; Obuchowski (1997), Biometrics 53(2).
    """
    if not correct.any() or correct.all():
        return Estimate(None)
    clusters = clusters_of(len(scores), clusters)
    # what each correct answer wins has the mean A, and what each wrong one wins 1 - A
    wins, losses = win_shares(scores[correct], scores[~correct])
    codes = cluster_codes(clusters)
    parts = MeanPart(wins, codes[correct].tolist()), MeanPart(losses, codes[~correct].tolist(), -1.0)
    area = parts[0].mean
    if min(len(wins), len(losses)) < 2 or np.ptp(scores) == 0 or are_too_few(clusters):
        return Estimate(area)
    if area in (0.0, 1.0):
        fewest = min(len(set(part.clusters)) for part in parts)
        return wilson_interval(round(area) * fewest, fewest, level=level)
    spread, share = spread_of(*parts), 0.5 + level / 2
    quantile = normal_quantile(share) if are_singletons(clusters) else t_quantile(share, spread.df)
    middle, half = log(area / (1 - area)), quantile * spread.error / (area * (1 - area))
    return Estimate(area, _logistic(middle - half), _logistic(middle + half))


def best_threshold(
    scores: Array, correct: Flags, clusters: Clusters = (), *, level: float = 0.95, **how: Unpack[Resampling]
) -> Threshold | None:
    """The threshold with the highest Youden index, caught + passed - 1; the lowest of equal ones.

    Candidates are the scores, or 500 of them by rank if there are more. Undefined (`None`) if there are no
    correct or no wrong answers.
    """
    if not correct.any() or correct.all():
        return None
    clusters, cuts = clusters_of(len(scores), clusters), np.unique(scores)
    if len(cuts) > _MOST_CUTS:
        cuts = cuts[np.linspace(0, len(cuts) - 1, _MOST_CUTS).astype(int)]
    # how many cuts each answer reaches, wrong and right ones apart: so no answer is looked at for each cut
    cells = 2 * np.searchsorted(cuts, scores, side="right") + correct

    def best(weights: Array) -> Array:
        """The best threshold for each row of weights; NaN if there are no correct or no wrong answers."""
        rows = [np.bincount(cells, weights=row, minlength=2 * len(cuts) + 2) for row in weights]
        below = np.array(rows).reshape(len(rows), -1, 2).cumsum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = below[:, :-1] / below[:, -1:]
        # of equal ones the lowest, whatever the rounding
        places = np.argmax(np.round(shares[:, :, 0] - shares[:, :, 1], 12), axis=1)
        return np.where(np.isfinite(shares).all(axis=(1, 2)), cuts[places], np.nan)

    (at,) = best(np.ones((1, len(scores)))).tolist()
    ends: list[float] = []
    if not are_too_few(clusters):
        count, seed = how.get("count", _SEARCHES), how.get("seed", 0)
        drawn = resampled(best, clusters, count=count, seed=seed)
        ends = np.nanquantile(drawn, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    passes = scores >= at
    return Threshold(Estimate(at, *ends), float((~passes)[~correct].mean()), float(passes[correct].mean()))


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

    The error is the mean over answers of |mean score - share correct| in their bin (Guo et al. 2017), with
    the complement of the score if lower is better. Scores are not probabilities of being correct; the error
    measures how far they are from these. Empty for scores outside [0, 1] and without answers.
    """
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return (), None
    edges = np.linspace(0, 1, bins + 1).tolist()
    place = bin_places(scores, bins)
    made: list[Bin] = []
    for number in np.unique(place).tolist():
        inside = scores[place == number], correct[place == number]
        n, share = len(inside[0]), wilson_interval(int(inside[1].sum()), len(inside[0]))
        made.append(Bin(edges[number], edges[number + 1], n, float(inside[0].mean()), share))
    expected = ((1 - each.mean if lower_is_better else each.mean, each) for each in made)
    errors = (abs(mean - (each.correct.value or 0.0)) * each.n for mean, each in expected)
    return tuple(made), sum(errors) / len(scores)


def bin_places(scores: Array, bins: int = 10) -> NDArray[np.intp]:
    """The bin of each score from 0 to 1; a score on an edge belongs to the bin below, as in scikit-learn."""
    return np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], scores)


def reliability_bar(share: float, at: float) -> str:
    """A share as a bar, with a mark at a probability.

    >>> reliability_bar(0.5, 0.75)
    '##########.....|....'
    """
    filled, place = round(_WIDTH * share), min(round(_WIDTH * at), _WIDTH - 1)
    bar = "#" * filled + "." * (_WIDTH - filled)
    return f"{bar[:place]}|{bar[place + 1 :]}"


def _logistic(value: float) -> float:
    # either form alone would overflow at one end
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))
