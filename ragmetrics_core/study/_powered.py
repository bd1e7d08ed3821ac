"""Prediction-powered differences: of two runs of the same samples, and of slices of one."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_spread
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_mean
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._estimate import prediction_powered_mean
from ragmetrics_core.study._group_values import members_of
from ragmetrics_core.study._intervals import Estimate, mean_of
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import StudyTable, TableColumn
from ragmetrics_core.wording import number_of

__all__ = [
    "PoweredComparison",
    "PoweredDifference",
    "PoweredMean",
    "powered_difference",
    "powered_pairs",
    "powered_runs",
    "powered_slices",
    "powered_tables",
]


class PoweredMean(NamedTuple):
    """One slice: labels only, and labels beside scores."""

    name: str
    classical: Estimate
    powered: Estimate
    labelled: int
    scored: int


class PoweredDifference(NamedTuple):
    """What people would say of the first less of the second: by scores, by labels, and by both.

    Attributes:
        one, other: the two runs or slices.
        naive: the difference of the scores, as biased as the judge is.
        classical: of the labels alone.
        powered: prediction-powered.
        labelled: how many samples have a score and a label; of slices in both together.
        scored: how many have a score only.
    """

    one: str
    other: str
    naive: Estimate
    classical: Estimate
    powered: Estimate
    labelled: int
    scored: int


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
    differences: tuple[PoweredDifference, ...]
    slices: tuple[PoweredMean, ...] = ()
    notes: tuple[str, ...] = ()


class _Slice(NamedTuple):
    name: str
    labels: tuple[float, ...]
    predicted: tuple[float, ...]
    rest: tuple[float, ...]
    clusters: tuple[list[Hashable], list[Hashable]] | None

    def mean(self) -> PoweredMean:
        clusters = None if self.clusters is None else [*self.clusters[0], *self.clusters[1]]
        powered, _ = prediction_powered_mean(self.labels, self.predicted, self.rest, clusters=clusters)
        classical = _mean(self.labels, None if self.clusters is None else self.clusters[0])
        return PoweredMean(self.name, classical, powered, len(self.labels), len(self.rest))


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
    shared = [each for each in first if each in second]
    both = [each for each in shared if each in labels[0] and each in labels[1]]
    rest = [each for each in shared if each not in labels[0] or each not in labels[1]]
    if len(both) < 3:
        raise ConfigError(
            f"{number_of(len(both), 'sample')} with labels and values of {signature} in both {one.name} and "
            f"{other.name}: three are needed"
        )
    y = [labels[0][each] - labels[1][each] for each in both]
    f, more = ([first[each] - second[each] for each in ids] for ids in (both, rest))
    clustering = clustering_of([one, other], cluster)
    clusters = clustering.clusters([*both, *rest])
    powered, _ = prediction_powered_mean(y, f, more, clusters=clusters)
    found = PoweredDifference(
        one.name,
        other.name,
        _mean([*f, *more], clusters),
        _mean(y, None if clusters is None else clusters[: len(both)]),
        powered,
        len(both),
        len(rest),
    )
    notes = [*clustering.notes, *_few(len(both))]
    if not rest:
        notes.append("every sample with both scores is labelled: the scores add nothing")
    return PoweredComparison(metric=name, differences=(found,), notes=tuple(notes))


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
    signature = scores.metric(metric)
    name, values = scores.oriented(signature, scores.metrics)
    clustering = clustering_of([scores], cluster)
    slices: list[_Slice] = []
    notes = [*clustering.notes]
    for value, ids in members_of(scores, by).items():
        each = _slice(value, ids, values, labels, clustering)
        if len(each.labels) < 3:
            notes.append(
                f"{by} {value} is left out: {number_of(len(each.labels), 'label')}, three are needed"
            )
        else:
            slices.append(each)
            notes += [f"{by} {value}: {note}" for note in _few(len(each.labels))]
    if len(slices) < 2:
        raise ConfigError(
            f"{number_of(len(slices), 'value')} of the label {by!r} with three labelled samples, and two are "
            f"needed; labels are: {scores.label_names}"
        )
    return PoweredComparison(
        metric=name,
        differences=tuple(_difference(one, other) for one, other in combinations(slices, 2)),
        slices=tuple(each.mean() for each in slices),
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


def powered_difference(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two means of different samples, such as two slices of a run.

    Their errors are independent, and so the squares of their intervals' half widths add up. No interval
    (None) where one of them has none.
    """
    if one.value is None or other.value is None:
        return Estimate(None)
    value = one.value - other.value
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return Estimate(value)
    half = sqrt(((one.high - one.low) / 2) ** 2 + ((other.high - other.low) / 2) ** 2)
    return Estimate(value, value - half, value + half)


def powered_tables(found: PoweredComparison) -> Iterator[StudyTable]:
    """Each difference three ways, then the slices."""
    yield StudyTable(
        name="differences",
        title=f"Differences as people would judge them, predicted by {found.metric}",
        columns=(
            TableColumn("first"),
            TableColumn("less second"),
            TableColumn("prediction-powered", "estimate"),
            TableColumn("labels only", "estimate"),
            TableColumn("scores only", "estimate"),
            TableColumn("labelled", "count"),
            TableColumn("scored only", "count"),
        ),
        rows=tuple(
            (each.one, each.other, each.powered, each.classical, each.naive, each.labelled, each.scored)
            for each in found.differences
        ),
        notes=(
            "scores only: as biased as the judge is; labelled samples must be drawn at random",
            *(("each interval is a 95 % one of its own",) if len(found.differences) > 1 else ()),
            *found.notes,
        ),
    )
    if found.slices:
        yield StudyTable(
            name="slices",
            title="The slices",
            columns=(
                TableColumn("slice"),
                TableColumn("prediction-powered", "estimate"),
                TableColumn("labels only", "estimate"),
                TableColumn("labelled", "count"),
                TableColumn("scored only", "count"),
            ),
            rows=tuple(
                (each.name, each.powered, each.classical, each.labelled, each.scored) for each in found.slices
            ),
        )


def _slice(
    name: str,
    ids: Sequence[str],
    values: Mapping[str, float],
    labels: Mapping[str, float],
    clustering: Clustering,
) -> _Slice:
    both = [each for each in ids if each in values and each in labels]
    rest = [each for each in ids if each in values and each not in labels]
    one, other = clustering.clusters(both), clustering.clusters(rest)
    return _Slice(
        name,
        tuple(labels[each] for each in both),
        tuple(values[each] for each in both),
        tuple(values[each] for each in rest),
        None if one is None or other is None else (one, other),
    )


def _difference(one: _Slice, other: _Slice) -> PoweredDifference:
    first, second = one.mean(), other.mean()
    if one.clusters is None or other.clusters is None:
        powered = powered_difference(first.powered, second.powered)
        classical = powered_difference(first.classical, second.classical)
        naive = powered_difference(
            mean_of([*one.predicted, *one.rest]), mean_of([*other.predicted, *other.rest])
        )
    else:
        powered, classical, naive = (
            _clustered(parts(one), parts(other)) for parts in (_powered, _labels, _scores)
        )
    return PoweredDifference(
        one.name,
        other.name,
        naive,
        classical,
        powered,
        first.labelled + second.labelled,
        first.scored + second.scored,
    )


def _powered(each: _Slice) -> list[MeanPart]:
    """The parts that a prediction-powered mean is the sum of, the labelled one first."""
    assert each.clusters is not None
    labelled, rest = each.clusters
    _, weight = prediction_powered_mean(each.labels, each.predicted, each.rest, clusters=[*labelled, *rest])
    weight = weight or 0.0
    errors = np.asarray(each.labels) - weight * np.asarray(each.predicted)
    return [MeanPart(errors, labelled), *([MeanPart(each.rest, rest, weight)] if rest else [])]


def _labels(each: _Slice) -> list[MeanPart]:
    assert each.clusters is not None
    return [MeanPart(each.labels, each.clusters[0])]


def _scores(each: _Slice) -> list[MeanPart]:
    assert each.clusters is not None
    return [MeanPart([*each.predicted, *each.rest], [*each.clusters[0], *each.clusters[1]])]


def _clustered(one: Sequence[MeanPart], other: Sequence[MeanPart]) -> Estimate:
    """The difference of two sums of means whose samples may share clusters."""
    turned = [each._replace(weight=-each.weight) for each in other]
    value = sum(each.weight * float(np.mean(np.asarray(each.values))) for each in [*one, *turned])
    if min(len(set(each.clusters)) for each in (one[0], other[0])) < FEWEST_CLUSTERS:
        return Estimate(value)
    spread = cluster_spread(*one, *turned)
    df = min(spread.df, cluster_spread(one[0], turned[0]).df)
    half = t_quantile(0.975, df) * spread.error
    return Estimate(value, value - half, value + half)


def _mean(values: Sequence[float], clusters: Sequence[Hashable] | None) -> Estimate:
    return mean_of(values) if clusters is None else cluster_mean(values, clusters)


def _few(labelled: int) -> Iterator[str]:
    if labelled < 30:
        yield f"only {labelled} samples are labelled: the intervals take the mean to be about normal"
