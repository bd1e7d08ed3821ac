"""Pairs of two runs by sample, with lost scores, their mean difference and the detectable difference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.models.identity import WITHOUT_IDENTITY, is_unnamed
from ragmetrics_core.samples import label_in
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._estimates import (
    Clusters,
    Estimate,
    MeanPart,
    are_singletons,
    are_too_few,
    clusters_of,
    mean_of,
    spread_of,
)
from ragmetrics_core.study._resampling import bootstrap_mean
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "FEWEST",
    "POWER",
    "Pairs",
    "detectable_difference",
    "doubts_of",
    "lacking_in",
    "paired_difference",
    "pairs_of",
    "without_doubtful",
]

Array = NDArray[np.float64]

POWER = 0.8

# With fewer pairs no paired test finds anything at 0.05, however large the differences: 2 / 2^5 > 0.05.
FEWEST = 6


class Pairs(NamedTuple):
    """One metric's scores in two runs, sample by sample.

    Attributes:
        ids: samples with a value in both runs.
        before, after: their values.
        sure_ids: samples that the first run scored: the pairs of a decision.
        sure_before: their values in the first run.
        sure_after: their values in the second run; without one, the worse bound of an incomplete score, else
            the bad end of the metric's range.
        lost: number of samples that only the first run scored, including samples missing in the second.
        gained: number of samples that only the second run scored.
        failed: whether the second run scored less than half of the first run's samples, or none.
    """

    ids: tuple[str, ...]
    before: Array
    after: Array
    sure_ids: tuple[str, ...]
    sure_before: Array
    sure_after: Array
    lost: int
    gained: int
    failed: bool


def pairs_of(before: Scores, after: Scores, metric: str) -> Pairs:
    """Pair the scores of a metric by sample."""
    after = without_doubtful(after, metric, before)
    first = {name: value for name, value in before.values[metric].items() if name not in before.doubled}
    second = after.values.get(metric, {})
    worst = (max if metric in before.lower_is_better else min)(before.worst(metric), after.worst(metric))
    sure = {**dict.fromkeys(first, worst), **after.sure.get(metric, {}), **second}
    ids, sure_ids = tuple(sample_id for sample_id in first if sample_id in second), tuple(first)
    lost = len(first) - len(ids)

    def column(values: Mapping[str, float], of: Sequence[str]) -> Array:
        return np.array([values[sample_id] for sample_id in of], dtype=float)

    return Pairs(
        ids=ids,
        before=column(first, ids),
        after=column(second, ids),
        sure_ids=sure_ids,
        sure_before=column(first, sure_ids),
        sure_after=column(sure, sure_ids),
        lost=lost,
        gained=len(second) - len(ids),
        failed=not second or 2 * lost > len(first),
    )


def without_doubtful(scores: Scores, metric: str, before: Scores) -> Scores:
    """The scores of a run without those that its rejected rows put in doubt.

    These are the scores of each id that several rows have. Of the other rejected rows, one is the row of each
    sample that the run lacks, and those that were rejected before, too, had no score then. As many as are
    left may each be the row of any sample: they are taken for those that scored best before.
    """
    more = max(0, len(scores.unread - before.unread) - lacking_in(scores, before))
    measured = before if metric in before.values else scores
    best: Mapping[str, float] = measured.oriented(metric, ()).values if more else {}
    known = [name for name in best if name in scores.values[metric] and name not in scores.doubled]
    doubtful = {*scores.doubled, *sorted(known, key=lambda name: (-best[name], name))[:more]}
    return replace(scores.only(scores.labels.keys() - doubtful), labels=scores.labels)


def lacking_in(scores: Scores, before: Scores) -> int:
    """Number of samples of an earlier run that are not in a run."""
    return sum(sample_id not in scores.labels for sample_id in before.labels)


def paired_difference(
    differences: Array, clusters: Clusters, *, level: float = 0.95, seed: int = 0
) -> Estimate:
    """The mean difference: its bootstrap interval, or Student's by cluster."""
    if are_singletons(clusters):
        return bootstrap_mean(differences, clusters, level=level, seed=seed)
    return mean_of(differences, clusters, level=level)


def detectable_difference(
    differences: Array, clusters: Clusters = (), *, tests: int = 1, alpha: float = 0.05
) -> float | None:
    r"""The difference that is detected in four of five cases, with this n, spread and number of tests.

    .. math:: (t_{1-\alpha/2m} + t_{0.8}) \, \mathrm{se} + c / n

    with the error and degrees of freedom of `spread_of`. m is the number of tests in the family: in the worst
    case Holm holds the smallest p to :math:`\alpha / m`. A difference must also have an interval on one side
    of zero; that asks for no more than :math:`m = 1`, so that the test decides. c is the size of the
    differences where all that are not zero have one, as of yes/no scores: the exact test moves in steps.
    Undefined (`None`) without spread, for fewer than two pairs, and below 10 clusters of several.
    """
    n = len(differences)
    clusters = clusters_of(n, clusters)
    if are_too_few(clusters):
        return None
    error, df = spread_of(MeanPart(differences, clusters))
    if not error:  # no spread was seen, which tells nothing of the spread that there is
        return None
    sizes = np.unique(np.abs(np.round(differences, 12)))
    moved = sizes[sizes > 0]
    step = float(moved[0]) / n if len(moved) == 1 and are_singletons(clusters) else 0.0
    return (t_quantile(1 - alpha / (2 * max(tests, 1)), df) + t_quantile(POWER, df)) * error + step


def doubts_of(
    before: Scores, after: Scores, wanted: Sequence[str] | None, *, cluster: str | None
) -> Iterator[str]:
    """Other possible causes of the difference of two runs; a gate refuses these."""
    if wanted is None and (lacking := [each for each in before.metrics if each not in after.metrics]):
        yield f"{after.name} does not measure {', '.join(lacking)}, as {before.name} does"
    compared = before.metrics if wanted is None else tuple(map(before.metric, wanted))
    if before.declining is not after.declining and (unasked := after.unasked(compared)):
        yield (
            f"nothing in {after.name} asks whether an answer declines, which may raise {', '.join(unasked)}: "
            "measure abstention too"
        )
    for kind in dict.fromkeys((*before.models, *after.models)):
        one, other = (run.models.get(kind) for run in (before, after))
        if one and other and one != other:
            yield f"the {kind} of {after.name} is {other}, that of {before.name} {one}"
        elif one and other and before.models is not after.models and is_unnamed(one):
            yield f"the {kind} of {before.name} and of {after.name}, {one}, {WITHOUT_IDENTITY}"
    changed = [each for each, digest in before.expected.items() if after.expected.get(each, digest) != digest]
    if changed:
        first = f"{changed[0]!r}" if len(changed) == 1 else f"the first is {changed[0]!r}"
        count = number_of(len(changed), "sample has", "samples have")
        yield f"{count} other expected texts in {after.name} than in {before.name} ({first})"
    regrouped = [
        sample_id
        for sample_id, labels in before.labels.items()
        if cluster and label_in(labels, cluster) != label_in(after.labels.get(sample_id, labels), cluster)
    ]
    if regrouped:
        count = number_of(len(regrouped), "sample has", "samples have")
        moves = f"which moves the intervals ({regrouped[0]!r})"
        yield f"{count} another {cluster} in {after.name} than in {before.name}, {moves}"
