"""What people would say of all samples: from scores of all and labels of some."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._distributions import normal_quantile, t_quantile
from ragmetrics_core.study._group_values import members_of
from ragmetrics_core.study._labels import Value
from ragmetrics_core.study._parts import (
    Clusters,
    Estimate,
    MeanPart,
    are_own,
    are_too_few,
    check_clusters,
    clusters_of,
    estimate,
    score_mean,
    spread_of,
    wilson_interval,
)
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes
from ragmetrics_core.study._tables import Column, StudyTable, counted, table_of
from ragmetrics_core.wording import number_of

__all__ = [
    "JudgeErrors",
    "LabelledValues",
    "PoweredComparison",
    "QualityEstimate",
    "corrected_mean",
    "corrected_share",
    "estimate_quality",
    "estimate_tables",
    "judge_errors",
    "labelled_values",
    "on_unit_scale",
    "powered_pairs",
    "powered_runs",
    "powered_slices",
    "powered_tables",
    "prediction_powered_mean",
    "scale_of",
]

Array = NDArray[np.float64]


class LabelledValues(NamedTuple):
    """Samples some of which people labelled: labels and predictions of these, predictions of the rest."""

    labels: Array
    predicted: Array
    rest: Array
    clusters: tuple[Clusters, Clusters]

    @property
    def counts(self) -> tuple[int, int]:
        """How many are labelled, and how many are not."""
        return len(self.clusters[0]), len(self.clusters[1])

    @property
    def by_labels(self) -> MeanPart:
        """The mean of the labels alone."""
        return MeanPart(self.labels, self.clusters[0])

    @property
    def by_scores(self) -> MeanPart:
        """The mean of all predictions: as biased as the judge is."""
        return MeanPart(np.concatenate([self.predicted, self.rest]), [*self.clusters[0], *self.clusters[1]])

    @property
    def weight(self) -> float:
        """How much the predictions count for the smallest variance: 0 where there are too few."""
        n, more = self.counts
        if n < 2 or more < 2:
            return 0.0
        spread = float(np.concatenate([self.predicted, self.rest]).var(ddof=1))
        shared = float(np.cov(self.labels, self.predicted)[0, 1])
        return float(np.clip(shared / ((1 + n / more) * spread), 0.0, 1.0)) if spread else 0.0

    def powered(self, weight: float | None = None) -> tuple[MeanPart, ...]:
        """The parts of the prediction-powered mean, the labelled one first; see `prediction_powered_mean`."""
        weight = self.weight if weight is None else weight
        if not weight or min(self.counts) < 2:
            return (self.by_labels,)
        errors = self.labels - weight * self.predicted
        return MeanPart(errors, self.clusters[0]), MeanPart(self.rest, self.clusters[1], weight)

    def powered_mean(self, weight: float | None = None, *, level: float = 0.95) -> Estimate:
        """The prediction-powered mean."""
        mean = estimate(*self.powered(weight), level=level, bound=1)
        # labels and scores that do not vary tell nothing of the spread
        return mean if min(self.counts) < 2 or mean.width else Estimate(mean.value)

    def less(self, other: "LabelledValues") -> Estimate:
        """The difference of two prediction-powered means, whose samples may share clusters."""
        (labelled, *rest), (of_other, *others) = self.powered(), (part.turned for part in other.powered())
        return estimate(labelled, of_other, *rest, *others, bound=2)


def prediction_powered_mean(
    labels: ArrayLike,
    predicted: ArrayLike,
    unlabelled: ArrayLike,
    *,
    weight: float | None = None,
    clusters: Clusters = (),
    level: float = 0.95,
) -> tuple[Estimate, float | None]:
    r"""The prediction-powered mean of labels, with its interval and the weight of the predictions.

    .. math:: \hat\theta = \lambda \bar f_{N} + \overline{(y - \lambda f)}_{n}, \quad
        \hat\lambda = \frac{\mathrm{cov}(y, f)}{(1 + n/N) \, \mathrm{var}(f)}, \quad
        \mathrm{se}^2 = \lambda^2 \frac{s^2_f}{N} + \frac{s^2_{y - \lambda f}}{n}

    for n labelled samples with predictions f, and N further predictions. The weight is kept within [0, 1].
    The interval is :math:`\hat\theta \pm t_\nu \, \mathrm{se}`, for both variances are estimated, with the
    degrees of freedom of `spread_of` and no more than the labelled samples have alone: the weight is fitted
    to them. (The source takes the normal's quantile; with few labels even predictions that tell nothing would
    then make the interval narrower.) With weight 0 it is the classical mean with Student's interval. Without
    labels it is undefined (None).

    Args:
        labels: what people said.
        predicted: the predictions for the same samples.
        unlabelled: the predictions for others.
        weight: of the predictions; without it the one with the smallest variance.
        clusters: of the labelled samples, then of the others; what a cluster adds is one error; below 10
            labelled ones of several samples there is no interval.
        level: confidence.

    References:
        Angelopoulos, Bates, Fannjiang, Jordan, Zrnic (2023), Science 382, 669-674;
        Angelopoulos, Duchi, Zrnic (2023), "PPI++". https://arxiv.org/abs/2311.01453
    """
    y, f, rest = (np.asarray(each, dtype=float) for each in (labels, predicted, unlabelled))
    clusters = clusters_of(len(y) + len(rest), clusters)
    values = LabelledValues(y, f, rest, (clusters[: len(y)], clusters[len(y) :]))
    if not len(y):
        return Estimate(None), None
    weight = values.weight if weight is None or min(values.counts) < 2 else weight
    return values.powered_mean(weight, level=level), weight


class PoweredFigure(NamedTuple):
    """What people would say of a slice, or of the first less the second: by scores, by labels, and by both.

    Attributes:
        one, other: the two runs or slices; "" where it is one.
        naive: of the scores, as biased as the judge is.
        classical: of the labels alone.
        powered: prediction-powered.
        labelled: how many samples have a score and a label; of two slices in both together.
        scored: how many have a score only.
    """

    one: Annotated[str, Column("first")]
    other: Annotated[str, Column("less second")]
    naive: Annotated[Estimate, Column("scores only")]
    classical: Annotated[Estimate, Column("labels only")]
    powered: Annotated[Estimate, Column("prediction-powered")]
    labelled: int
    scored: Annotated[int, Column("scored only")]


@dataclass(frozen=True, kw_only=True)
class PoweredComparison:
    """Differences as people would judge them.

    Attributes:
        metric: the metric that predicts the labels; "1 - hallucination" where lower is better.
        differences: each pair.
        slices: each slice; empty where runs are compared.
        notes: what a reader should know.
    """

    metric: str
    differences: tuple[PoweredFigure, ...]
    slices: tuple[PoweredFigure, ...] = ()
    notes: tuple[str, ...] = ()


def labelled_values(
    values: Mapping[str, float],
    labels: Mapping[str, float],
    clustering: Clustering,
    ids: Sequence[str] | None = None,
) -> LabelledValues:
    """The values of samples, or of some of them, with the labels of those that have one."""
    scored = [each for each in (values if ids is None else ids) if each in values]
    both, rest = [each for each in scored if each in labels], [each for each in scored if each not in labels]
    return LabelledValues(
        np.array([labels[each] for each in both], dtype=float),
        np.array([values[each] for each in both], dtype=float),
        np.array([values[each] for each in rest], dtype=float),
        (clustering.clusters(both), clustering.clusters(rest)),
    )


def powered_runs(
    one: Scores,
    other: Scores,
    labels: tuple[Mapping[str, float], Mapping[str, float]],
    *,
    metric: str,
    cluster: str | None = None,
) -> PoweredComparison:
    """How much better people would call one run's answers than another's, to the same questions.

    Args:
        one: a run.
        other: another of the same samples.
        labels: what people said of some answers of each, on the metric's scale; those that are labelled in
            both count.
        metric: a name or signature.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.

    Raises:
        ConfigError: the metric is unknown, or fewer than three samples have both labels and both scores.
    """
    signature = one.metric(metric)
    if other.metric(metric) != signature:
        raise ConfigError(f"{one.name} measured {signature}, but {other.name} {other.metric(metric)}")
    name, first = one.oriented(signature, one.metrics)
    second = other.oriented(signature, one.metrics).values
    clustering = clustering_of([one, other], cluster)
    differences = labelled_values(
        {each: first[each] - second[each] for each in first if each in second},
        {each: labels[0][each] - labels[1][each] for each in labels[0] if each in labels[1]},
        clustering,
    )
    labelled, scored = differences.counts
    if labelled < 3:
        raise ConfigError(
            f"{number_of(labelled, 'sample')} with labels and values of {signature} in both {one.name} and "
            f"{other.name}: three are needed"
        )
    notes = [*clustering.notes, *_few(labelled)]
    if not scored:
        notes.append("every sample with both scores is labelled: the scores add nothing")
    row = _figure((one.name, differences), (other.name, None))
    return PoweredComparison(metric=name, differences=(row,), notes=tuple(notes))


def powered_slices(
    scores: Scores, labels: Mapping[str, float], *, metric: str, by: str, cluster: str | None = None
) -> PoweredComparison:
    """How much better people would call the answers of one slice of a run than those of another.

    Args:
        scores: the run.
        labels: what people said of some samples, on the metric's scale.
        metric: a name or signature.
        by: the label whose values are the slices; each two of them are compared.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.

    Raises:
        ConfigError: the metric or the label is unknown, or fewer than two slices have three labels.
    """
    name, values = scores.oriented(scores.metric(metric), scores.metrics)
    clustering = clustering_of([scores], cluster)
    slices: dict[str, LabelledValues] = {}
    notes = [*clustering.notes]
    for value, ids in members_of(scores, by).items():
        of_slice = labelled_values(values, labels, clustering, ids)
        labelled, _ = of_slice.counts
        if labelled < 3:
            notes.append(f"{by} {value} is left out: {number_of(labelled, 'label')}, three are needed")
        else:
            slices[value] = of_slice
            notes += [f"{by} {value}: {note}" for note in _few(labelled)]
    if len(slices) < 2:
        raise ConfigError(
            f"{number_of(len(slices), 'value')} of the label {by!r} with three labelled samples, and two are "
            f"needed; labels are: {scores.label_names}"
        )
    return PoweredComparison(
        metric=name,
        differences=tuple(_figure(*pair) for pair in combinations(slices.items(), 2)),
        slices=tuple(_figure(each, ("", None)) for each in slices.items()),
        notes=tuple(notes),
    )


def powered_pairs(
    labels: tuple[ArrayLike, ArrayLike],
    predicted: tuple[ArrayLike, ArrayLike],
    unlabelled: tuple[ArrayLike, ArrayLike],
    *,
    level: float = 0.95,
) -> tuple[Estimate, float | None]:
    """The prediction-powered difference of two runs of the same samples, second less first.

    It is the prediction-powered mean of the differences, sample by sample; each argument has the first run's
    numbers, then the second's in the same order. See `prediction_powered_mean`.
    """
    differences = (
        np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
        for first, second in (labels, predicted, unlabelled)
    )
    return prediction_powered_mean(*differences, level=level)


def powered_tables(comparison: PoweredComparison) -> Iterator[StudyTable]:
    """Each difference three ways, then the slices."""
    own = ["each interval is a 95 % one of its own"] if len(comparison.differences) > 1 else []
    yield table_of(
        "differences",
        f"Differences as people would judge them, predicted by {comparison.metric}",
        PoweredFigure,
        comparison.differences,
        "one other powered classical naive labelled scored",
        (
            "scores only: as biased as the judge is; labelled samples must be drawn at random",
            *own,
            *comparison.notes,
        ),
    )
    if comparison.slices:
        columns, titles = "one powered classical labelled scored", {"one": "slice"}
        yield table_of("slices", "The slices", PoweredFigure, comparison.slices, columns, titles=titles)


def _figure(one: tuple[str, LabelledValues], other: tuple[str, LabelledValues | None]) -> PoweredFigure:
    """The mean of some samples, or the difference of two slices, whose samples may share clusters."""
    (name, first), (other_name, second) = one, other
    both = [first] if second is None else [first, second]
    by_scores, *less_scores = (each.by_scores for each in both)
    by_labels, *less_labels = (each.by_labels for each in both)
    return PoweredFigure(
        name,
        other_name,
        estimate(by_scores, *(part.turned for part in less_scores)),
        estimate(by_labels, *(part.turned for part in less_labels)),
        first.powered_mean() if second is None else first.less(second),
        *(sum(counts) for counts in zip(*(each.counts for each in both), strict=True)),
    )


def _few(labelled: int) -> Iterator[str]:
    if labelled < 30:
        yield f"only {labelled} samples are labelled: the intervals take the mean to be about normal"


class JudgeErrors(NamedTuple):
    """How a judge that says yes or no errs, by people's labels on the same population.

    Attributes:
        sensitivity: the share of what people call good that the judge calls good.
        specificity: the share of what people call bad that the judge calls bad.
        good, bad: how many labels each rests on.
        youden: sensitivity + specificity - 1 with its interval; 0 is a judge that tells nothing.
    """

    sensitivity: Estimate
    specificity: Estimate
    good: int
    bad: int
    youden: Estimate


def judge_errors(people: Sequence[bool], judge: Sequence[bool], *, level: float = 0.95) -> JudgeErrors:
    """The errors of a judge, from what people and the judge say of the same samples.

    The interval of what the judge tells is Newcombe's, from Wilson's of both shares.

    References:
        Newcombe (1998), Statistics in Medicine 17(8), 873-890, method 10.
    """
    both = list(zip(people, judge, strict=True))
    good = [yes for person, yes in both if person]
    bad = [not yes for person, yes in both if not person]
    one, other = (wilson_interval(sum(each), len(each), level=level) for each in (good, bad))
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
        people: what people say of the labelled samples.
        judge: what the judge says of them.
        rest: what it says of the others.
        clusters: of the labelled samples, then of the others.
        level: confidence.

    Raises:
        ConfigError: as `corrected_mean`, or there are labels of fewer than 10 clusters.
    """
    if are_own(clusters):
        return corrected_mean(sum(rest), len(rest), judge_errors(people, judge, level=level), level=level)
    labelled = list(zip(people, judge, clusters, strict=False))
    of_good, of_bad = (
        MeanPart(
            [float(yes == kind) for person, yes, _ in labelled if person == kind],
            [of for person, _, of in labelled if person == kind],
        )
        for kind in (True, False)
    )
    _check(len(rest), len(of_good.clusters), len(of_bad.clusters))
    check_clusters([of for _, _, of in labelled], by="the labels")
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
            f"sensitivity + specificity - 1 is {told}, which cannot be told from 0: the correction divides "
            "by it"
        )


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
    clustering = clustering_of([scores], cluster)
    known = labelled_values(values, labels, clustering)
    labelled, scored = known.counts
    if labelled < 2:
        raise ConfigError(
            f"{number_of(labelled, 'sample')} of {scores.name} with both a label and a value of {signature}"
            ": two are needed"
        )
    # Student's as the powered one, which is this one where the scores tell nothing
    classical, powered = estimate(known.by_labels, level=level), known.powered_mean(level=level)
    classical, powered = (each if each.width else Estimate(each.value) for each in (classical, powered))
    everything = known.by_scores
    naive = score_mean(everything.values, everything.clusters, ends=scores.ends(signature), level=level)
    notes = [*clustering.notes, *measured_notes([scores], [signature])]
    corrected: Estimate | None = None
    columns = [column.tolist() for column in (known.labels, known.predicted, known.rest)]
    if scored and {value for column in columns for value in column} <= {0.0, 1.0}:
        people, judge, rest = ([bool(each) for each in column] for column in columns)
        try:
            corrected = corrected_share(people, judge, rest, everything.clusters, level=level)
        except ConfigError as error:
            notes.append(f"no mean corrected by the judge's errors: {error}")
        else:
            errors = judge_errors(people, judge, level=level)
            shares = [errors.sensitivity, errors.specificity]
            if not are_own(everything.clusters):  # their intervals are of samples on their own
                shares = [Estimate(each.value) for each in shares]
            notes.append(f"sensitivity {shares[0]}, specificity {shares[1]}, by the labels")
    if powered.low is None:
        notes.append(
            "the labelled samples are of too few clusters for an interval"
            if are_too_few(known.clusters[0])
            else "the labels do not vary: both together have no interval"
        )
    notes += _few(labelled)
    if not scored:
        notes.append("every scored sample is labelled: the scores add nothing")
    notes += [
        "the labelled samples must be drawn at random from all: where people labelled the hard ones, no "
        "estimate here is right",
        "the intervals are of the population that the samples were drawn from, not of these samples alone, "
        "whose mean is known better",
    ]
    absent = Counter(
        scores.why_absent(signature, each) + (" though labelled" if each in labels else "")
        for each in scores.samples
        if each not in values
    )
    saved = None
    if classical.width and powered.width:
        saved = max(0, round(labelled * (classical.width / powered.width) ** 2) - labelled)
    return QualityEstimate(
        metric=name,
        naive=naive,
        classical=classical,
        powered=powered,
        weight=known.weight,
        labelled=labelled,
        scored=scored,
        saved=saved,
        corrected=corrected,
        scale=scale,
        left_out=tuple(absent.items()),
        notes=tuple(notes),
    )


class _Way(NamedTuple):
    estimate: str
    mean: Estimate
    labelled: int
    scored_only: int
    rests_on: str


def estimate_tables(quality: QualityEstimate) -> Iterator[StudyTable]:
    """Naive, classical and prediction-powered, beside each other."""
    notes: list[str] = []
    if quality.scale is not None:
        low, high = quality.scale
        notes.append(f"labels are read on the scale {low:g} to {high:g}, as 0 to 1")
    if quality.weight is not None:
        notes.append(f"the scores are trusted with weight {quality.weight:.2f}")
    if quality.saved:
        notes.append(f"for the same interval the classical estimate needs about {quality.saved} more labels")
    if quality.left_out:
        notes.append(f"left out: {counted(quality.left_out)}")
    labelled, scored = quality.labelled, quality.scored
    rows = [
        _Way("prediction-powered", quality.powered, labelled, scored, "labels and scores together"),
        _Way("classical", quality.classical, labelled, 0, "labels only"),
        _Way("naive", quality.naive, 0, labelled + scored, "scores taken for labels: biased as the judge is"),
    ]
    if quality.corrected is not None:
        rests_on = "scores of the others, corrected by the judge's errors on the labelled ones"
        rows.append(_Way("corrected", quality.corrected, labelled, scored, rests_on))
    title = f"Mean quality as people judge it, predicted by {quality.metric}"
    columns = "estimate mean labelled scored_only rests_on"
    yield table_of("estimate", title, _Way, rows, columns, (*notes, *quality.notes))


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
    if all(isinstance(each, bool) for each in values) or not set(numbers) <= {1, 2, 3, 4, 5}:
        return 0.0, 1.0
    if 5 in numbers:
        return 1.0, 5.0
    seen = f"{min(numbers):g} to {max(numbers):g}" if min(numbers) != max(numbers) else f"all {numbers[0]:g}"
    raise ConfigError(
        f"the labels are {seen}, which does not tell their scale: name its ends with --scale, as --scale 1:5"
    )


def _numbers(values: Sequence[Value]) -> list[float]:
    if texts := [value for value in values if isinstance(value, str)]:
        raise ConfigError(f"the label {texts[0]!r} is a text: a mean needs numbers or truth values")
    return [float(value) for value in values]
