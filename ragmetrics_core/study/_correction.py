"""A judge's known errors, and a mean corrected by them."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_spread
from ragmetrics_core.study._clusters import check_clusters
from ragmetrics_core.study._distributions import normal_quantile, t_quantile
from ragmetrics_core.study._intervals import Estimate, wilson_interval

__all__ = ["JudgeErrors", "cluster_corrected_mean", "corrected_mean", "judge_errors"]


class JudgeErrors(NamedTuple):
    """How a judge that says yes or no errs, by people's labels on the same population.

    Attributes:
        sensitivity: the share of what people call good that the judge calls good.
        specificity: the share of what people call bad that the judge calls bad.
        good, bad: how many labels each rests on.
        told: sensitivity + specificity - 1 with its interval; 0 is a judge that tells nothing.
    """

    sensitivity: Estimate
    specificity: Estimate
    good: int
    bad: int
    told: Estimate


def judge_errors(people: Sequence[bool], judge: Sequence[bool], *, level: float = 0.95) -> JudgeErrors:
    """The errors of a judge, from what people and the judge say of the same samples.

    The interval of what the judge tells is Newcombe's, from Wilson's of both shares.

    References:
        Newcombe (1998), Statistics in Medicine 17(8), 873-890, method 10.
    """
    both = list(zip(people, judge, strict=True))
    good, bad = sum(person for person, _ in both), sum(not person for person, _ in both)
    one = wilson_interval(sum(person and said for person, said in both), good, level=level)
    other = wilson_interval(sum(not person and not said for person, said in both), bad, level=level)
    told = Estimate(None)
    if one.value is not None and other.value is not None:
        assert one.low is not None
        assert one.high is not None
        assert other.low is not None
        assert other.high is not None
        value = one.value + other.value - 1
        down = sqrt((one.value - one.low) ** 2 + (other.value - other.low) ** 2)
        up = sqrt((one.high - one.value) ** 2 + (other.high - other.value) ** 2)
        told = Estimate(value, value - down, value + up)
    return JudgeErrors(one, other, good, bad, told)


def corrected_mean(yes: int, n: int, errors: JudgeErrors, *, level: float = 0.95) -> Estimate:
    r"""The share that people would call good, from the share that a judge with known errors does.

    .. math:: \hat\theta = \frac{\hat p + \hat q_0 - 1}{\hat q_0 + \hat q_1 - 1}

    for specificity :math:`q_0` and sensitivity :math:`q_1`, kept within [0, 1]. The interval has the
    uncertainty of all three shares, each with the counts that the source adds.

    Args:
        yes: how many of the samples the judge calls good; samples without a label.
        n: how many samples.
        errors: of labels of a random part of the same population.
        level: confidence.

    Raises:
        ConfigError: there is no sample, a label of each kind is lacking, or what the judge tells cannot be
            told from nothing: the correction divides by it.

    References:
        Rogan and Gladen (1978), American Journal of Epidemiology 107(1), 71-76; Lee et al. (2025), "How to
        Correctly Report LLM-as-a-Judge Evaluations", https://arxiv.org/abs/2511.21140.
    """
    one, other = errors.sensitivity.value, errors.specificity.value
    if n == 0 or one is None or other is None:
        raise _lacking(n, errors.good, errors.bad)
    if errors.told.low is None or errors.told.low <= 0:
        raise _nothing_told(errors.told)
    z = normal_quantile(0.5 + level / 2)
    value = min(1.0, max(0.0, (yes / n + other - 1) / (one + other - 1)))
    p, more = (yes + z * z / 2) / (n + z * z), n + z * z
    q1, of_good = (one * errors.good + 1) / (errors.good + 2), errors.good + 2
    q0, of_bad = (other * errors.bad + 1) / (errors.bad + 2), errors.bad + 2
    told = q0 + q1 - 1
    middle = (p + q0 - 1) / told
    middle = min(1.0, max(0.0, middle))
    spread0, spread1 = q0 * (1 - q0) / of_bad, q1 * (1 - q1) / of_good
    shift = 2 * z * z * (-(1 - middle) * spread0 + middle * spread1)
    variance = p * (1 - p) / more + (1 - middle) ** 2 * spread0 + middle**2 * spread1
    half = z * sqrt(variance) / told
    return Estimate(value, max(0.0, middle + shift - half), min(1.0, middle + shift + half))


def cluster_corrected_mean(
    people: Sequence[bool],
    judge: Sequence[bool],
    rest: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
) -> Estimate:
    r"""`corrected_mean` for samples that are clustered: what a cluster adds to all three shares is one error.

    .. math:: \mathrm{se}^2 = \mathrm{se}^2\left(
        \frac{\hat p - \hat\theta \hat q_1 + (1 - \hat\theta) \hat q_0}{\hat q_0 + \hat q_1 - 1}\right)

    with the error of `cluster_spread` for the weighted sum of the three shares, and Student's quantile.

    Args:
        people: what people say of the labelled samples.
        judge: what the judge says of them.
        rest: what it says of the others.
        clusters: of the labelled samples, then of the others.
        level: confidence.

    Raises:
        ConfigError: as `corrected_mean`, or there are labels of fewer than 10 clusters.
    """
    good = [place for place, is_good in enumerate(people) if is_good]
    bad = [place for place, is_good in enumerate(people) if not is_good]
    labelled, others = clusters[: len(people)], clusters[len(people) :]
    if not rest or not good or not bad:
        raise _lacking(len(rest), len(good), len(bad))
    check_clusters(labelled, by="the labels")
    of_good = MeanPart([float(judge[each]) for each in good], [labelled[each] for each in good])
    of_bad = MeanPart([float(not judge[each]) for each in bad], [labelled[each] for each in bad])
    of_rest = MeanPart([float(each) for each in rest], others)
    p, q1, q0 = (float(np.mean(np.asarray(each.values))) for each in (of_rest, of_good, of_bad))
    told = q0 + q1 - 1
    spread = cluster_spread(of_good, of_bad)
    half = t_quantile(0.5 + level / 2, max(spread.df, 1.0)) * spread.error
    if told - half <= 0:
        raise _nothing_told(Estimate(told, told - half, told + half))
    value = min(1.0, max(0.0, (p + q0 - 1) / told))
    spread = cluster_spread(
        of_rest._replace(weight=1 / told),
        of_good._replace(weight=-value / told),
        of_bad._replace(weight=(1 - value) / told),
    )
    half = t_quantile(0.5 + level / 2, spread.df) * spread.error
    return Estimate(value, max(0.0, value - half), min(1.0, value + half))


def _lacking(n: int, good: int, bad: int) -> ConfigError:
    return ConfigError(
        f"a corrected mean needs samples and labels of both kinds; there are {n} samples, {good} "
        f"labels that say good and {bad} that say bad"
    )


def _nothing_told(told: Estimate) -> ConfigError:
    return ConfigError(
        f"sensitivity + specificity - 1 is {told}, which cannot be told from 0: the correction divides by it"
    )
