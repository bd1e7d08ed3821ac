"""The mean that people would give to all samples, from scores of all and labels of some."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_spread
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_mean
from ragmetrics_core.study._correction import cluster_corrected_mean, corrected_mean, judge_errors
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._intervals import Estimate, mean_of
from ragmetrics_core.study._labels import Value
from ragmetrics_core.study._means import score_mean
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes
from ragmetrics_core.wording import number_of

__all__ = ["QualityEstimate", "estimate_quality", "on_unit_scale", "prediction_powered_mean", "scale_of"]


@dataclass(frozen=True, kw_only=True)
class QualityEstimate:
    """Three estimates of the mean quality as people judge it.

    Attributes:
        metric: the metric that predicts the labels; "1 - hallucination" where lower is better.
        naive: the mean score of all samples; its interval is of the scores, not of what people would say.
        classical: the mean label of the labelled samples.
        powered: the prediction-powered mean.
        weight: how much the scores are trusted: 0 is the classical estimate, 1 takes them as labels with
            their measured bias removed.
        labelled: how many samples have a score and a label.
        scored: how many have a score only.
        corrected: the mean corrected by the judge's errors, where labels and scores say yes or no.
        scale: the ends of the labels' scale, which are 0 and 1 here; None where the caller did not say.
        cluster: the label whose values are the clusters; None where samples are independent.
        saved: how many further labels the classical estimate would have needed for the same interval.
        left_out: samples without a score, by cause, and labels of samples without one.
        notes: what a reader should know.
    """

    metric: str
    naive: Estimate
    classical: Estimate
    powered: Estimate
    weight: float | None
    labelled: int
    scored: int
    saved: int | None
    corrected: Estimate | None = None
    scale: tuple[float, float] | None = None
    cluster: str | None = None
    left_out: LeftOut = ()
    notes: tuple[str, ...] = ()


def estimate_quality(
    scores: Scores,
    labels: Mapping[str, float],
    *,
    metric: str,
    scale: tuple[float, float] | None = None,
    cluster: str | None = None,
    level: float = 0.95,
) -> QualityEstimate:
    """Estimate the mean label of all samples that have a score.

    Where lower is better, what is left to the other end of the range is taken for the label: 1 - score.

    Args:
        scores: the run.
        labels: what people said of some samples, on the metric's scale.
        metric: a name or signature.
        scale: the ends of the scale that the labels were given on, to be told.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        level: confidence.

    Raises:
        ConfigError: the metric is unknown, fewer than two samples have a score and a label, or there are too
            few clusters.
    """
    signature = scores.metric(metric)
    name, values = scores.oriented(signature, scores.metrics)
    both = [each for each in values if each in labels]
    if len(both) < 2:
        raise ConfigError(
            f"{number_of(len(both), 'sample')} of {scores.name} with both a label and a value of {signature}"
            ": two are needed"
        )
    others = [each for each in values if each not in labels]
    rest = [values[each] for each in others]
    y, f = [labels[each] for each in both], [values[each] for each in both]
    clustering = clustering_of([scores], cluster)
    clusters = clustering.clusters([*both, *others])
    powered, weight = prediction_powered_mean(y, f, rest, clusters=clusters, level=level)
    ends = scores.ends(signature)
    of_labelled = None if clusters is None else clusters[: len(both)]
    # Student's as the powered one, which is this one where the scores tell nothing
    classical = mean_of(y, level=level) if of_labelled is None else cluster_mean(y, of_labelled, level=level)
    # labels that do not vary tell nothing of their spread
    classical, powered = (
        Estimate(each.value) if each.low == each.high else each for each in (classical, powered)
    )
    naive = score_mean([*f, *rest], clusters, ends=ends, level=level)
    notes: list[str] = [*clustering.notes, *measured_notes([scores], [signature])]
    corrected: Estimate | None = None
    if {*y, *f, *rest} <= {0.0, 1.0} and rest:
        people, judge, said = ([bool(each) for each in column] for column in (y, f, rest))
        errors = judge_errors(people, judge, level=level)
        try:
            corrected = (
                corrected_mean(sum(said), len(said), errors, level=level)
                if clusters is None
                else cluster_corrected_mean(people, judge, said, clusters, level=level)
            )
        except ConfigError as error:
            notes.append(f"no mean corrected by the judge's errors: {error}")
        else:
            # as samples of their own, where there are clusters: then their intervals are not told
            shares = [
                each if clusters is None else Estimate(each.value)
                for each in (errors.sensitivity, errors.specificity)
            ]
            notes.append(f"sensitivity {shares[0]}, specificity {shares[1]}, by the labels")
    if powered.low is None:
        few = clusters is not None and len(set(clusters[: len(both)])) < FEWEST_CLUSTERS
        notes.append(
            "the labelled samples are of too few clusters for an interval"
            if few
            else "the labels do not vary: both together have no interval"
        )
    if len(both) < 30:
        notes.append(
            f"only {number_of(len(both), 'sample is', 'samples are')} labelled: "
            "the intervals take the mean to be about normal"
        )
    if not rest:
        notes.append("every scored sample is labelled: the scores add nothing")
    absent: dict[str, int] = {}
    for each in scores.samples:
        if each not in values:
            cause = scores.why_absent(signature, each) + (" though labelled" if each in labels else "")
            absent[cause] = absent.get(cause, 0) + 1
    notes.append(
        "the labelled samples must be drawn at random from all: where people labelled the hard ones, no "
        "estimate "
        "here is right"
    )
    notes.append(
        "the intervals are of the population that the samples were drawn from, not of these samples alone, "
        "whose mean is known better"
    )
    return QualityEstimate(
        metric=name,
        naive=naive,
        classical=classical,
        powered=powered,
        weight=weight,
        labelled=len(both),
        scored=len(rest),
        saved=_saved(classical, powered, len(both)),
        corrected=corrected,
        scale=scale,
        cluster=clustering.by,
        left_out=tuple(absent.items()),
        notes=tuple(notes),
    )


def prediction_powered_mean(
    labels: ArrayLike,
    predicted: ArrayLike,
    unlabelled: ArrayLike,
    *,
    weight: float | None = None,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[Estimate, float | None]:
    r"""The prediction-powered mean of labels, with its interval and the weight of the predictions.

    .. math:: \hat\theta = \lambda \bar f_{N} + \overline{(y - \lambda f)}_{n}, \quad
        \hat\lambda = \frac{\mathrm{cov}(y, f)}{(1 + n/N) \, \mathrm{var}(f)}, \quad
        \mathrm{se}^2 = \lambda^2 \frac{s^2_f}{N} + \frac{s^2_{y - \lambda f}}{n}

    for n labelled samples with predictions f, and N further predictions. The weight is kept within [0, 1].
    The interval is :math:`\hat\theta \pm t_\nu \, \mathrm{se}` with the degrees of freedom of Welch's test,
    for both variances are estimated. (The source takes the normal's quantile; with few labels even
    predictions that tell nothing would then make the interval narrower.) With weight 0 it is the classical
    mean with Student's interval. Without labels it is undefined (None).

    Args:
        labels: what people said.
        predicted: the predictions for the same samples.
        unlabelled: the predictions for others.
        weight: of the predictions; without it the one with the smallest variance.
        clusters: of the labelled samples, then of the others; what a cluster adds is one error, with no more
            degrees of freedom than the labelled clusters give; below 10 of these there is no interval.
        level: confidence.

    References:
        Angelopoulos, Bates, Fannjiang, Jordan, Zrnic (2023), Science 382, 669-674;
        Angelopoulos, Duchi, Zrnic (2023), "PPI++". https://arxiv.org/abs/2311.01453
    """
    y, f, rest = (np.asarray(each, dtype=float) for each in (labels, predicted, unlabelled))
    n, more = len(y), len(rest)
    if n == 0:
        return Estimate(None), None
    if n < 2 or more < 2:
        alone = mean_of(y, level=level) if clusters is None else cluster_mean(y, clusters[:n], level=level)
        return alone, 0.0
    if weight is None:
        spread = float(np.concatenate([f, rest]).var(ddof=1))
        shared = float(np.cov(y, f)[0, 1])
        weight = 0.0 if spread == 0 else float(np.clip(shared / ((1 + n / more) * spread), 0.0, 1.0))
    value = weight * float(rest.mean()) + float((y - weight * f).mean())
    if clusters is not None:
        if len(set(clusters[:n])) < FEWEST_CLUSTERS:
            return Estimate(value), weight
        labelled = MeanPart(y - weight * f, clusters[:n])
        both = cluster_spread(labelled, MeanPart(rest, clusters[n:], weight))
        # the labelled samples weigh most, and have fewer clusters than all have
        df = min(both.df, cluster_spread(labelled).df)
        half = t_quantile(0.5 + level / 2, df) * both.error
        return Estimate(value, value - half, value + half), weight
    of_rest, of_errors = (
        weight**2 * float(rest.var(ddof=1)) / more,
        float((y - weight * f).var(ddof=1)) / n,
    )
    variance = of_rest + of_errors
    if not variance:  # no label and no score varies: nothing is known of the spread
        return Estimate(value), weight
    df = variance**2 / (of_rest**2 / (more - 1) + of_errors**2 / (n - 1))
    half = t_quantile(0.5 + level / 2, df) * sqrt(variance)
    return Estimate(value, value - half, value + half), weight


def on_unit_scale(values: Sequence[Value], *, scale: tuple[float, float] | None = None) -> list[float]:
    """Labels as numbers from 0 to 1, as scores are.

    Args:
        values: truth values, shares, or numbers on a scale.
        scale: its ends; without it those of `scale_of`.

    Raises:
        ConfigError: a value is a text or outside the scale, or the scale cannot be told.

    >>> on_unit_scale([1.0, 4.0, 5.0])
    [0.0, 0.75, 1.0]
    """
    low, high = scale_of(values) if scale is None else scale
    numbers = _numbers(values)
    outside = next((each for each in numbers if not low <= each <= high), None)
    if outside is not None:
        raise ConfigError(
            f"the label {outside:g} is outside the scale {low:g} to {high:g}: name its ends with --scale"
        )
    return [(each - low) / (high - low) for each in numbers]


def scale_of(values: Sequence[Value]) -> tuple[float, float]:
    """The ends of the scale of labels, where they tell it: 0 to 1, or 1 to 5 where somebody said 5.

    Raises:
        ConfigError: a value is a text, or the values do not tell their scale: ratings of 1 to 4 may be of
            1 to 4 or of 1 to 5, and all ones may be the best or the worst.

    >>> scale_of([0.0, 1.0]), scale_of([0.25, 0.5]), scale_of([2.0, 5.0])
    ((0.0, 1.0), (0.0, 1.0), (1.0, 5.0))
    """
    numbers = _numbers(values)
    if all(isinstance(each, bool) for each in values):
        return 0.0, 1.0
    if not all(each in (1, 2, 3, 4, 5) for each in numbers):
        return 0.0, 1.0
    if 5 in numbers:
        return 1.0, 5.0
    seen = f"{min(numbers):g} to {max(numbers):g}" if min(numbers) != max(numbers) else f"all {numbers[0]:g}"
    raise ConfigError(
        f"the labels are {seen}, which does not tell their scale: name its ends with --scale, as --scale 1:5"
    )


def _numbers(values: Sequence[Value]) -> list[float]:
    numbers: list[float] = []
    for value in values:
        if isinstance(value, str):
            raise ConfigError(f"the label {value!r} is a text: a mean needs numbers or truth values")
        numbers.append(float(value))
    return numbers


def _saved(classical: Estimate, powered: Estimate, labelled: int) -> int | None:
    """How many more labels would shrink the classical interval to the powered one's width."""
    wide, narrow = _width(classical), _width(powered)
    if not wide or not narrow:
        return None
    return max(0, round(labelled * (wide / narrow) ** 2) - labelled)


def _width(figure: Estimate) -> float | None:
    return None if figure.low is None or figure.high is None else figure.high - figure.low
