"""Prediction-powered means and differences of human labels, from scores of all samples and labels of some."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._estimates import Clusters, Estimate, MeanPart, clusters_of, estimate
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import Column, StudyTable, in_notebooks, table_of
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "LabelledValues",
    "PoweredComparison",
    "PoweredFigure",
    "few_notes",
    "labelled_values",
    "powered_runs",
    "powered_tables",
    "prediction_powered_mean",
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
        """Numbers of labelled and unlabelled samples."""
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
        """Weight of the predictions with the smallest variance; 0 if there are too few samples."""
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

    def powered_mean(
        self,
        weight: float | None = None,
        *,
        level: float = 0.95,
        ends: tuple[float, float] = (-inf, inf),
    ) -> Estimate:
        """The prediction-powered mean; with the weight 0 that of the labels alone."""
        mean = estimate(*self.powered(weight), level=level, bound=1, ends=ends)
        # labels and scores that do not vary tell nothing of the spread
        return mean if mean.width else Estimate(mean.value)


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
        labels: human labels.
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
    """Estimated difference of human labels (first minus second): scores, labels, and both.

    Attributes:
        one, other: the two runs.
        naive: estimate from the scores, as biased as the judge.
        classical: estimate from the labels.
        powered: prediction-powered estimate.
        labelled: number of samples with a score and a label.
        scored: number of samples with a score only.
    """

    one: Annotated[str, Column("first")]
    other: Annotated[str, Column("less second")]
    naive: Annotated[Estimate, Column("scores only")]
    classical: Annotated[Estimate, Column("labels only")]
    powered: Annotated[Estimate, Column("prediction-powered")]
    labelled: int
    scored: Annotated[int, Column("scored only")]


@dataclass(frozen=True)
class PoweredComparison:
    """The difference of two runs as people would judge it.

    Attributes:
        metric: metric that predicts the labels; "1 - hallucination" if lower is better.
        difference: the difference.
        notes: remarks for readers.
    """

    metric: str
    difference: PoweredFigure
    notes: tuple[str, ...] = ()


def labelled_values(
    values: Mapping[str, float],
    labels: Mapping[str, float],
    clustering: Clustering,
    ids: Sequence[str] | None = None,
) -> LabelledValues:
    """The values of samples, or of some of them, with the labels of those that have one."""
    scored = [each for each in (values if ids is None else ids) if each in values]
    both, rest = ([name for name in scored if (name in labels) == is_in] for is_in in (True, False))

    def column(of: Mapping[str, float], names: Sequence[str]) -> Array:
        return np.array([of[name] for name in names], dtype=float)

    clusters = clustering.clusters(both), clustering.clusters(rest)
    return LabelledValues(column(labels, both), column(values, both), column(values, rest), clusters)


def powered_runs(
    one: Scores,
    other: Scores,
    labels: tuple[Mapping[str, float], Mapping[str, float]],
    *,
    metric: str,
    cluster: str | None = None,
) -> PoweredComparison:
    """Estimate the difference of two runs' human labels on the same samples.

    Args:
        one: a run.
        other: another run of the same samples.
        labels: human labels of some answers of each run, on the metric's scale; samples with labels in both
            runs count.
        metric: a name or signature.
        cluster: label whose values group dependent samples, or "none"; see `clustering_of`.

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
    notes = [*clustering.notes, *few_notes(labelled)]
    if not scored:
        notes.append("every sample with both scores is labelled: the scores add nothing")
    both = estimate(differences.by_scores), estimate(differences.by_labels), differences.powered_mean()
    return PoweredComparison(name, PoweredFigure(one.name, other.name, *both, labelled, scored), tuple(notes))


@in_notebooks
def powered_tables(comparison: PoweredComparison) -> Iterator[StudyTable]:
    """Table of the difference."""
    yield table_of(
        "differences",
        f"Difference as people would judge it, predicted by {comparison.metric}",
        PoweredFigure,
        [comparison.difference],
        "one other powered classical naive labelled scored",
        (
            "scores only: as biased as the judge is; labelled samples must be drawn at random",
            *comparison.notes,
        ),
    )


def few_notes(labelled: int) -> Iterator[str]:
    if labelled < 30:
        yield f"only {labelled} samples are labelled: the intervals take the mean to be about normal"
