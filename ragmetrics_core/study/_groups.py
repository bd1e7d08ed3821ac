"""Groups of samples: means by a label and across runs, what differs between them, and by how much.

Tables 2 and 3 of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873, with every test named.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._cluster_tests import cluster_effect, cluster_rank, cluster_welch
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._correlations import Correlation, correlate
from ragmetrics_core.study._distributions import Alternative, mann_whitney
from ragmetrics_core.study._group_values import ALL, check_groups, members_of, order_of, sample_notes
from ragmetrics_core.study._intervals import Estimate, Summary, summary_of
from ragmetrics_core.study._means import is_share, score_mean
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes, metrics_of_all
from ragmetrics_core.study._significance import effect_size, holm, welch
from ragmetrics_core.wording import number_of

__all__ = [
    "Contrast",
    "Group",
    "GroupStudy",
    "Linked",
    "Measured",
    "compare_groups",
    "contrast",
    "study_groups",
]

# With fewer values beside the most frequent one Student's interval covers less than it says
# (benchmarks/coverage).
_FEW = 5

# The paper's contribution 4 is about this pair.
_PAIR = ("faithfulness", "factual_correctness")


class Group(NamedTuple):
    """A group of samples: the run that they are of, and the value of the label that they share."""

    run: str
    value: str = ALL

    def __str__(self) -> str:
        """The group in short: "first: true"."""
        return self.run if self.value == ALL else f"{self.run}: {self.value}"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One metric in one group.

    Attributes:
        metric: its signature.
        group: the group.
        summary: mean, sd and n; None without a value.
        interval: the mean with its interval.
        left_out: how many samples of the group have no value, by cause.
        values: the values themselves.
        clusters: each value's cluster; None where the samples are independent.
        ends: of the metric's range.
    """

    metric: str
    group: Group
    summary: Summary | None
    interval: Estimate
    left_out: LeftOut = ()
    values: tuple[float, ...] = ()
    clusters: tuple[Hashable, ...] | None = None
    ends: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Two groups compared in one metric.

    Attributes:
        metric: the metric.
        kind: "label" compares two values of the label within a run, "baseline" a run with the baseline.
        upper: the group that is taken to be better, or that is compared with the baseline.
        lower: the other one.
        alternative: "greater" tests whether `upper` is above `lower`, "less" (where lower is better) whether
            it is below, "two-sided" whether they differ.
        difference: mean of `upper` less mean of `lower`.
        welch: p of Welch's t-test; with clusters, with the errors of whole clusters.
        holm: the same, adjusted for all tests of the study, those of ranks among them.
        rank: p of the Mann-Whitney test; with clusters, of the area with the
            errors of whole clusters.
        rank_holm: the same, adjusted likewise.
        effect: standardised difference with its interval.
        lower_is_better: whether the low end of the metric's range is the good one.
        note: why there is no test.
    """

    metric: str
    kind: Literal["label", "baseline"]
    upper: Group
    lower: Group
    alternative: Alternative
    difference: float | None
    welch: float | None
    rank: float | None
    effect: Estimate
    holm: float | None = None
    rank_holm: float | None = None
    lower_is_better: bool = False
    note: str = ""


class Linked(NamedTuple):
    """How two metrics go together within a group, as the paper's contribution 4 asks."""

    group: Group
    correlation: Correlation
    left_out: int


@dataclass(frozen=True, kw_only=True)
class GroupStudy:
    """Everything about the groups.

    Attributes:
        by: the label that makes the groups; None for whole runs.
        metrics: the metrics in their order.
        measured: each metric in each group.
        contrasts: every test; all of them are adjusted together.
        linked: the correlation of two metrics within each group.
        pair: these two metrics.
        baseline: the run that others are compared with.
        alpha: below which p a difference is called significant.
        cluster: the label whose values are the clusters; None where samples are independent.
        notes: what a reader should know.
    """

    by: str | None
    metrics: tuple[str, ...]
    measured: tuple[Measured, ...]
    contrasts: tuple[Contrast, ...]
    linked: tuple[Linked, ...] = ()
    pair: tuple[str, str] | None = None
    baseline: str | None = None
    alpha: float = 0.05
    cluster: str | None = None
    notes: tuple[str, ...] = ()


def study_groups(
    runs: Sequence[Scores],
    *,
    by: str | None = None,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    pair: tuple[str, str] | None = None,
    alpha: float = 0.05,
    one_sided: bool = False,
    cluster: str | None = None,
    seed: int = 0,
) -> GroupStudy:
    """Compare metrics between the values of a label, and between runs.

    Args:
        runs: one or several, measured in the same way.
        by: the label that makes the groups, such as `retrieval_correct`; each pair of values is tested.
        metrics: names or signatures; without it all that the runs share.
        baseline: the name of the run that every other one is compared with, two-sided, group by group.
        pair: two metrics whose correlation within each group is told; without it faithfulness and factual
            correctness, where they were measured.
        alpha: below which p a difference is called significant.
        one_sided: test two values that mean good and bad (true and false, yes and no, correct and wrong)
            one-sided, as the paper does: good above bad, or below it where lower is better.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        seed: of the bootstrap for correlations and effect sizes.

    Raises:
        ConfigError: no sample has the label, it has one value only, the baseline is no run, or the runs were
            measured in different ways.
    """
    if not runs:
        raise ConfigError("the study needs at least one run")
    if baseline is not None and baseline not in {run.name for run in runs}:
        names = ", ".join(run.name for run in runs)
        raise ConfigError(f"the baseline {baseline!r} is none of the runs ({names})")
    chosen = metrics_of_all(runs, metrics)
    members = {run.name: members_of(run, by) for run in runs}
    known = {name for run in runs for labels in run.labels.values() for name in labels}
    check_groups(by, members, known)
    clustering = clustering_of(runs, cluster)
    measured = [
        _measured(run, metric, Group(run.name, value), ids, clustering)
        for run in runs
        for value, ids in members[run.name].items()
        for metric in chosen
    ]
    linked_metrics = _pair_of(runs[0], pair)
    linked = [
        _linked(run, Group(run.name, value), linked_metrics, ids, clustering, seed)
        for run in runs
        for value, ids in members[run.name].items()
        if linked_metrics and all(metric in run.values for metric in linked_metrics)
    ]
    return GroupStudy(
        by=by,
        metrics=chosen,
        measured=tuple(measured),
        contrasts=compare_groups(
            measured,
            baseline=baseline,
            one_sided=one_sided,
            lower_is_better=frozenset[str]().union(*(run.lower_is_better for run in runs)),
        ),
        linked=tuple(linked),
        pair=linked_metrics,
        baseline=baseline,
        alpha=alpha,
        cluster=clustering.by,
        notes=(
            *sample_notes(runs, by, members),
            *clustering.notes,
            *measured_notes(runs, chosen),
            *small_groups(measured),
        ),
    )


def compare_groups(
    measured: Sequence[Measured],
    *,
    baseline: str | None = None,
    one_sided: bool = False,
    lower_is_better: Collection[str] = (),
) -> tuple[Contrast, ...]:
    """All tests between groups, adjusted together.

    Args:
        measured: each metric in each group.
        baseline: the run that every other one is compared with.
        one_sided: whether values that mean good and bad are tested one-sided.
        lower_is_better: the metrics whose low end is the good one.
    """
    known = {(each.metric, each.group): each for each in measured}
    metrics = tuple(dict.fromkeys(each.metric for each in measured))
    groups = tuple(dict.fromkeys(each.group for each in measured))
    found: list[Contrast] = []
    for run in dict.fromkeys(group.run for group in groups):
        values = [group.value for group in groups if group.run == run]
        for one, other in combinations(values, 2):
            upper, lower, alternative = order_of(one, other)
            if not one_sided:
                alternative = "two-sided"
            for metric in metrics:
                if both := _both(known, metric, Group(run, upper), Group(run, lower)):
                    is_turned = alternative == "greater" and metric in lower_is_better
                    tested: Alternative = "less" if is_turned else alternative
                    found.append(contrast(*both, "label", tested))
    for group in groups:
        if baseline is not None and group.run != baseline:
            for metric in metrics:
                if both := _both(known, metric, group, Group(baseline, group.value)):
                    found.append(contrast(*both, "baseline", "two-sided"))
    adjusted = holm([*(each.welch for each in found), *(each.rank for each in found)])
    return tuple(
        replace(
            each,
            holm=p,
            rank_holm=rank,
            lower_is_better=each.metric in lower_is_better,
        )
        for each, p, rank in zip(found, adjusted[: len(found)], adjusted[len(found) :], strict=True)
    )


def contrast(
    upper: Measured,
    lower: Measured,
    kind: Literal["label", "baseline"],
    alternative: Alternative,
) -> Contrast:
    """Compare one metric between two groups; not adjusted for other tests."""
    one, other = upper.summary, lower.summary
    p, effect, difference, note = None, Estimate(None), None, ""
    if one is None or other is None:
        empty = upper.group if one is None else lower.group
        note = f"{empty} has no value"
    else:
        difference = one.mean - other.mean
        p, effect = welch(one, other, alternative=alternative), effect_size(one, other)
        if p is None:
            note = "fewer than two values" if min(one.n, other.n) < 2 else "neither group varies"
    rank = None
    if upper.values and lower.values:
        if upper.clusters is not None and lower.clusters is not None:
            groups = upper.values, lower.values, upper.clusters, lower.clusters
            p = cluster_welch(*groups, alternative=alternative)
            rank, effect = cluster_rank(*groups, alternative=alternative), cluster_effect(*groups)
            note = note or ("" if p is not None else "fewer than 10 clusters in a group, or neither varies")
        else:
            known = min(len(upper.values), len(lower.values)) > 1
            rank = mann_whitney(upper.values, lower.values, alternative=alternative) if known else None
    return Contrast(
        metric=upper.metric,
        kind=kind,
        upper=upper.group,
        lower=lower.group,
        alternative=alternative,
        difference=difference,
        welch=p,
        rank=rank,
        effect=effect,
        note=note,
    )


def small_groups(measured: Sequence[Measured]) -> Iterator[str]:
    """A sentence for each group that is too small, or too much alike, for its figures to mean much."""
    sizes: dict[Group, list[int]] = {}
    for each in measured:
        sizes.setdefault(each.group, []).append(each.summary.n if each.summary else -1)
    for group, counts in sizes.items():
        if max(counts) < 0:
            yield f"{group} has no score at all: every test with it is left out"
        elif 0 < min(counts) < 10:
            few = number_of(min(counts), "value")
            yield f"{group} has only {few} in some metric: its tests and intervals mean little"
    for each in measured:
        if each.clusters and each.interval.low is None:
            count = len(set(each.clusters))
            yield f"{each.metric} in {each.group}: {count} clusters are too few for an interval or a test"
        elif len(each.values) >= 10 and len(set(each.values)) > 1 and not is_share(each.values, each.ends):
            (value, count), *_ = Counter(each.values).most_common(1)
            if len(each.values) - count < _FEW:
                alike = f"{count} of {len(each.values)} values of {each.metric} in {each.group} are {value:g}"
                yield f"{alike}: the interval of the mean is too narrow"


def _measured(run: Scores, metric: str, group: Group, ids: Sequence[str], clustering: Clustering) -> Measured:
    of_metric = run.values[metric]
    known = [each for each in ids if each in of_metric]
    values, clusters = tuple(of_metric[each] for each in known), clustering.clusters(known)
    absent = Counter(run.why_absent(metric, each) for each in ids if each not in of_metric)
    summary = summary_of(values)
    return Measured(
        metric=metric,
        group=group,
        summary=summary,
        interval=score_mean(values, clusters, ends=run.ends(metric)),
        ends=run.ends(metric),
        left_out=tuple(absent.most_common()),
        values=values,
        clusters=None if clusters is None else tuple(clusters),
    )


def _linked(
    run: Scores, group: Group, pair: tuple[str, str], ids: Sequence[str], clustering: Clustering, seed: int
) -> Linked:
    one, other = run.values[pair[0]], run.values[pair[1]]
    both = [each for each in ids if each in one and each in other]
    found = correlate(
        [one[each] for each in both],
        [other[each] for each in both],
        clusters=clustering.clusters(both),
        seed=seed,
    )
    return Linked(group, found, len(ids) - len(both))


def _pair_of(run: Scores, pair: tuple[str, str] | None) -> tuple[str, str] | None:
    one, other = pair or _PAIR
    try:
        return run.metric(one), run.metric(other)
    except ConfigError:
        if pair is not None:
            raise
        return None


def _both(
    known: Mapping[tuple[str, Group], Measured], metric: str, one: Group, other: Group
) -> tuple[Measured, Measured] | None:
    first, second = known.get((metric, one)), known.get((metric, other))
    return (first, second) if first and second else None
