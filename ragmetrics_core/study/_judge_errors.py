"""Errors of a yes/no judge, and shares corrected by these errors."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._distributions import normal_quantile, t_quantile
from ragmetrics_core.study._estimates import (
    Clusters,
    Estimate,
    MeanPart,
    are_singletons,
    check_clusters,
    spread_of,
    wilson_interval,
)

__all__ = ["JudgeErrors", "corrected_mean", "corrected_share", "judge_errors"]


class JudgeErrors(NamedTuple):
    """Errors of a yes/no judge, by people's labels on the same population.

    Attributes:
        sensitivity: share of samples that people call good which the judge calls good.
        specificity: share of samples that people call bad which the judge calls bad.
        good, bad: numbers of labels behind each.
        youden: sensitivity + specificity - 1 with its interval; 0 means an uninformative judge.
    """

    sensitivity: Estimate
    specificity: Estimate
    good: int
    bad: int
    youden: Estimate


def judge_errors(people: Sequence[bool], judge: Sequence[bool], *, level: float = 0.95) -> JudgeErrors:
    """Errors of a judge, from labels and verdicts on the same samples.

    The interval of Youden's index is Newcombe's, from Wilson's intervals of both shares.

    References:
        Newcombe (1998), Statistics in Medicine 17(8), 873-890, method 10.
    """
    both = list(zip(people, judge, strict=True))
    good, bad = ([yes == kind for person, yes in both if person == kind] for kind in (True, False))
    one, other = (wilson_interval(sum(right), len(right), level=level) for right in (good, bad))
    told = Estimate(None)
    if good and bad:
        (p, p_low, p_high), (q, q_low, q_high) = ([each or 0.0 for each in share] for share in (one, other))
        value = p + q - 1
        down, up = (sqrt(a**2 + b**2) for a, b in ((p - p_low, q - q_low), (p_high - p, q_high - q)))
        told = Estimate(value, value - down, value + up)
    return JudgeErrors(one, other, len(good), len(bad), told)


def corrected_mean(yes: int, n: int, errors: JudgeErrors, *, level: float = 0.95) -> Estimate:
    r"""The share that people would call good, from the share that a judge with known errors does.

    .. math:: \hat\theta = \frac{\hat p + \hat q_0 - 1}{\hat q_0 + \hat q_1 - 1}

    for specificity :math:`q_0` and sensitivity :math:`q_1`, kept within [0, 1]. The interval has the
    uncertainty of all three shares, each with the counts that the source adds.

    Args:
        yes: number of samples without a label that the judge calls good.
        n: number of samples without a label.
        errors: errors from labels of a random part of the same population.
        level: confidence level.

    Raises:
        ConfigError: there are no samples, no good or no bad labels, or Youden's index, by which the
            correction divides, may be 0.

    References:
        Rogan and Gladen (1978), American Journal of Epidemiology 107(1), 71-76; Lee et al. (2025), "How to
        Correctly Report LLM-as-a-Judge Evaluations", https://arxiv.org/abs/2511.21140.
    """
    one, other = errors.sensitivity.value, errors.specificity.value
    _check(n, errors.good, errors.bad)
    _check_told(errors.youden)
    assert one is not None
    assert other is not None
    z = normal_quantile(0.5 + level / 2)
    value = _within((yes / n + other - 1) / (one + other - 1))
    p, more = (yes + z * z / 2) / (n + z * z), n + z * z
    q1, of_good = (one * errors.good + 1) / (errors.good + 2), errors.good + 2
    q0, of_bad = (other * errors.bad + 1) / (errors.bad + 2), errors.bad + 2
    told = q0 + q1 - 1
    middle = _within((p + q0 - 1) / told)
    spread0, spread1 = q0 * (1 - q0) / of_bad, q1 * (1 - q1) / of_good
    shift = 2 * z * z * (-(1 - middle) * spread0 + middle * spread1)
    variance = p * (1 - p) / more + (1 - middle) ** 2 * spread0 + middle**2 * spread1
    half = z * sqrt(variance) / told
    return Estimate(value, max(0.0, middle + shift - half), min(1.0, middle + shift + half))


def corrected_share(
    people: Sequence[bool],
    judge: Sequence[bool],
    rest: Sequence[bool],
    clusters: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    r"""`corrected_mean` from the samples themselves: what a cluster adds to all three shares is one error.

    .. math:: \mathrm{se}^2 = \mathrm{se}^2\left(
        \frac{\hat p - \hat\theta \hat q_1 + (1 - \hat\theta) \hat q_0}{\hat q_0 + \hat q_1 - 1}\right)

    with the error of `spread_of` for the weighted sum of the three shares, and Student's quantile.

    Args:
        people: people's labels.
        judge: the judge's verdicts on the labelled samples.
        rest: the judge's verdicts on the other samples.
        clusters: clusters of the labelled samples, then of the others.
        level: confidence level.

    Raises:
        ConfigError: as `corrected_mean`, or there are labels of fewer than 10 clusters.
    """
    if are_singletons(clusters):
        return corrected_mean(sum(rest), len(rest), judge_errors(people, judge, level=level), level=level)
    labelled = list(zip(people, judge, clusters, strict=False))
    kinds = ([(yes == kind, of) for person, yes, of in labelled if person == kind] for kind in (True, False))
    of_good, of_bad = (
        MeanPart([float(is_right) for is_right, _ in of], [in_ for _, in_ in of]) for of in kinds
    )
    _check(len(rest), len(of_good.clusters), len(of_bad.clusters))
    check_clusters(clusters[: len(people)], by="the labels")
    of_rest = MeanPart([float(yes) for yes in rest], clusters[len(people) :])
    told = of_bad.mean + of_good.mean - 1
    # the labels as a whole have clusters enough
    spread, quantile = spread_of(of_good, of_bad), 0.5 + level / 2
    half = t_quantile(quantile, max(spread.df, 1.0)) * spread.error
    _check_told(Estimate(told, told - half, told + half))
    value = _within((of_rest.mean + of_bad.mean - 1) / told)
    spread = spread_of(
        of_rest._replace(weight=1 / told),
        of_good._replace(weight=-value / told),
        of_bad._replace(weight=(1 - value) / told),
    )
    half = t_quantile(quantile, spread.df) * spread.error
    return Estimate(value, max(0.0, value - half), min(1.0, value + half))


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))


def _check(n: int, good: int, bad: int) -> None:
    if not n or not good or not bad:
        raise ConfigError(
            f"a corrected mean needs samples and labels of both kinds; there are {n} samples, {good} labels "
            f"that say good and {bad} that say bad"
        )


def _check_told(told: Estimate) -> None:
    if told.low is None or told.low <= 0:
        raise ConfigError(
            f"sensitivity + specificity - 1 is {told}, which may be 0: the correction divides by it"
        )
