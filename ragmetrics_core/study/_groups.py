"""Groups of samples: means by a label and across runs, what differs between them, and by how much.

Tables 2 and 3 of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873, with every test named.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Annotated, Literal, NamedTuple, Unpack

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._distributions import Alternative
from ragmetrics_core.study._estimates import (
    Clusters,
    Estimate,
    MeanPart,
    Summary,
    are_singletons,
    is_share,
    score_mean,
    summary_of,
)
from ragmetrics_core.study._frame import StudySettings, frame_of
from ragmetrics_core.study._group_values import ALL, check_groups, members_of, sample_notes, truth_of_groups
from ragmetrics_core.study._question_pairs import pairing_note
from ragmetrics_core.study._scores import LeftOut, Scores
from ragmetrics_core.study._tables import (
    Cell,
    Column,
    Mark,
    Marked,
    MetricName,
    StudyTable,
    TableColumn,
    counted,
    in_notebooks,
    plain_table,
    short,
    table_of,
)
from ragmetrics_core.study._tests import effect_size, holm, mean_test, rank_test
from ragmetrics_core.texts.wording import number_of

__all__ = ["Contrast", "Group", "GroupStudy", "Measured", "group_tables", "study_groups"]

# With fewer values beside the most frequent one Student's interval covers less than it says
# (benchmarks/coverage).
_FEW = 5

_SIGNS: dict[Alternative, str] = {"greater": ">", "less": "<", "two-sided": "≠"}


class Group(NamedTuple):
    """A group of samples: their run, and their common value of the label."""

    run: str
    value: str = ALL

    def __str__(self) -> str:
        """The group in short: "first: true"."""
        return self.run if self.value == ALL else f"{self.run}: {self.value}"


@dataclass(frozen=True)
class Measured:
    """One metric in one group.

    Attributes:
        metric: its signature.
        group: the group.
        values: the values themselves.
        clusters: each value's cluster.
        ends: ends of the metric's range.
        left_out: number of samples in the group without a value, by cause.
    """

    metric: MetricName
    group: Group
    values: tuple[float, ...]
    clusters: Clusters
    ends: tuple[float, float]
    left_out: LeftOut

    @cached_property
    def summary(self) -> Summary | None:
        """Mean, sd and n; None if there are no values."""
        return summary_of(self.values)

    @cached_property
    def interval(self) -> Annotated[Estimate, Column("mean")]:
        """The mean with its interval."""
        return score_mean(self.values, self.clusters, ends=self.ends)

    @property
    def sd(self) -> float | None:
        """The standard deviation; None for one value."""
        return None if self.summary is None or self.summary.n == 1 else self.summary.sd

    @property
    def without(self) -> Annotated[str, Column("left out")]:
        """Number of samples without a value, in words."""
        return counted(self.left_out)


@dataclass(frozen=True)
class Contrast:
    """Two groups compared in one metric.

    Attributes:
        metric: the metric.
        kind: "label" compares two values of the label within a run, "baseline" a run with the baseline.
        upper: group that is expected to be better, or is compared with the baseline.
        lower: the other group.
        alternative: "greater" tests whether `upper` is above `lower`, "less" (where lower is better) whether
            it is below, "two-sided" whether they differ.
        difference: mean of `upper` minus mean of `lower`.
        welch: p of Welch's t-test, with cluster-robust errors if there are clusters.
        holm: the same, adjusted for all tests of the study, including rank tests.
        rank: p of the Mann-Whitney test; with clusters, p of the area with cluster-robust errors.
        rank_holm: the same, adjusted for all tests of the study.
        effect: standardised difference with its interval.
        lower_is_better: whether lower is better.
        alpha: significance level for the adjusted p.
        note: why there is no test.
    """

    metric: MetricName
    kind: Literal["label", "baseline"]
    upper: Group
    lower: Group
    alternative: Alternative
    difference: Annotated[float | None, Column("diff")]
    welch: Annotated[float | None, Column("p welch", "p")]
    rank: Annotated[float | None, Column("p rank", "p")]
    effect: Annotated[Estimate, Column("effect size")]
    holm: Annotated[float | None, Column("p holm", "p")] = None
    rank_holm: Annotated[float | None, Column("p rank holm", "p")] = None
    lower_is_better: bool = False
    alpha: float = 0.05
    note: str = ""

    @property
    def within(self) -> str:
        """The common run or label value of the two groups."""
        return self.upper.run if self.kind == "label" else self.upper.value

    @property
    def claim(self) -> str:
        """The tested claim: "true > false"."""
        upper, lower = (
            (each.value if self.kind == "label" else each.run) for each in (self.upper, self.lower)
        )
        return f"{upper} {_SIGNS[self.alternative]} {lower}"

    @property
    def verdict(self) -> Marked:
        """The direction of a significant difference, and whether it is the good one."""
        if self.holm is None:
            return Marked(f"no test: {self.note}", "")
        if self.holm >= self.alpha:
            return Marked("cannot tell", "")
        is_higher = (self.difference or 0.0) > 0
        mark: Mark = "weak" if is_higher == self.lower_is_better else "good"
        return Marked("higher" if is_higher else "lower", mark)


@dataclass(frozen=True)
class GroupStudy:
    """Comparison of groups.

    Attributes:
        by: label that defines the groups; None for whole runs.
        metrics: the metrics in their order.
        measured: each metric in each group.
        contrasts: all tests, adjusted together.
        baseline: name of the run that others are compared with.
        alpha: significance level.
        cluster: label whose values are the clusters; None if samples are independent.
        notes: remarks for readers.
    """

    by: str | None
    metrics: tuple[str, ...]
    measured: tuple[Measured, ...]
    contrasts: tuple[Contrast, ...]
    baseline: str | None = None
    alpha: float = 0.05
    cluster: str | None = None
    notes: tuple[str, ...] = ()


def study_groups(
    runs: Sequence[Scores],
    *,
    by: str | None = None,
    baseline: str | None = None,
    alpha: float = 0.05,
    one_sided: bool = False,
    **studied: Unpack[StudySettings],
) -> GroupStudy:
    """Compare metrics between the values of a label, and between runs.

    Args:
        runs: one or several, measured in the same way.
        by: the label that makes the groups, such as `retrieval_correct`; each pair of values is tested.
        baseline: the name of the run that every other one is compared with, two-sided, group by group.
        alpha: below which p a difference is called significant.
        one_sided: test two values that mean good and bad (true and false, yes and no, correct and wrong)
            one-sided, as the paper does: good above bad, or below it where lower is better.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: no sample has the label, it has one value only, the baseline is not a run, or the runs
            were measured in different ways.
    """
    if not runs:
        raise ConfigError("the study needs at least one run")
    if baseline is not None and baseline not in {run.name for run in runs}:
        names = ", ".join(run.name for run in runs)
        raise ConfigError(f"the baseline {baseline!r} is none of the runs ({names})")
    frame = frame_of(runs, **studied)
    members = {run.name: members_of(run, by) for run in runs}
    check_groups(by, members, runs)
    measured: list[Measured] = []
    for run in runs:
        for value, ids in members[run.name].items():
            for metric in frame.metrics:
                scored = run.values[metric]
                values, clusters = frame.columns(scored, (name for name in ids if name in scored))
                # without clusters, runs of the same samples are taken for independent, as in the paper
                if frame.clustering.by is None:
                    clusters = [(run.name, cluster) for cluster in clusters]
                ends, left_out = run.ends(metric), run.left_out(metric, ids)
                group = Group(run.name, value)
                measured.append(Measured(metric, group, tuple(values), clusters, ends, left_out))
    lower = frozenset[str]().union(*(run.lower_is_better for run in runs))
    truth = truth_of_groups(by, {each.group.value for each in measured})
    contrasts = _contrasts(
        measured, baseline, lower, truth, one_sided=one_sided, alpha=alpha, seed=frame.seed
    )
    pairs = filter(None, [pairing_note(runs, by)])
    notes = (*pairs, *sample_notes(runs, by, members), *frame.notes, *_small_groups(measured))
    return GroupStudy(
        by, frame.metrics, tuple(measured), contrasts, baseline, alpha, frame.clustering.by, notes
    )


def _small_groups(measured: Sequence[Measured]) -> Iterator[str]:
    """A sentence for each group that is too small or varies too little for meaningful figures."""
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
        if each.values and each.interval.low is None and not are_singletons(each.clusters):
            count = len(set(each.clusters))
            yield f"{each.metric} in {each.group}: {count} clusters are too few for an interval or a test"
        elif len(each.values) >= 10 and len(set(each.values)) > 1 and not is_share(each.values, each.ends):
            (value, count), *_ = Counter(each.values).most_common(1)
            if len(each.values) - count < _FEW:
                alike = f"{count} of {len(each.values)} values of {each.metric} in {each.group} are {value:g}"
                yield f"{alike}: the interval of the mean is too narrow"


def _contrasts(
    measured: Sequence[Measured],
    baseline: str | None,
    lower_is_better: Collection[str],
    truth: Mapping[str, bool],
    *,
    one_sided: bool,
    alpha: float,
    seed: int,
) -> tuple[Contrast, ...]:
    """All tests between groups, adjusted together."""
    known = {(each.metric, each.group): each for each in measured}
    metrics, groups = (dict.fromkeys(each) for each in zip(*known, strict=True))
    pairs: list[tuple[Group, Group, Literal["label", "baseline"], bool]] = []
    for one, other in combinations(groups, 2):
        if one.run == other.run:
            meanings = truth.get(one.value), truth.get(other.value)
            upper, lower = (other, one) if meanings == (False, True) else (one, other)
            pairs.append((upper, lower, "label", one_sided and set(meanings) == {True, False}))
    for group in groups:
        if baseline is not None and group.run != baseline:
            pairs.append((group, Group(baseline, group.value), "baseline", False))
    contrasts = [
        _contrast(
            known[metric, upper],
            known[metric, lower],
            kind,
            "two-sided" if not is_directed else "less" if metric in lower_is_better else "greater",
            seed,
        )
        for upper, lower, kind, is_directed in pairs
        for metric in metrics
        if (metric, lower) in known
    ]
    adjusted = holm([p for each in contrasts for p in (each.welch, each.rank)])
    return tuple(
        replace(each, holm=p, rank_holm=rank, lower_is_better=each.metric in lower_is_better, alpha=alpha)
        for each, p, rank in zip(contrasts, adjusted[::2], adjusted[1::2], strict=True)
    )


def _contrast(
    upper: Measured, lower: Measured, kind: Literal["label", "baseline"], alternative: Alternative, seed: int
) -> Contrast:
    """Compare one metric between two groups; not adjusted for other tests."""
    one, other = (MeanPart(each.values, each.clusters) for each in (upper, lower))
    difference = p = rank = None
    effect, note = Estimate(None), ""
    if empty := [each.group for each in (upper, lower) if not each.values]:
        note = f"{empty[0]} has no value"
    else:
        difference = one.mean - other.mean
        p = mean_test(one, other, alternative=alternative)
        rank = rank_test(one, other, alternative=alternative)
        effect = effect_size(one, other, seed=seed)
        if min(len(upper.values), len(lower.values)) < 2:
            note = "fewer than two values"
        elif p is None and len({*upper.values}) == len({*lower.values}) == 1:
            note = "neither group varies"
        elif p is None:
            note = "fewer than 10 clusters in a group, or neither varies"
    sides = upper.metric, kind, upper.group, lower.group, alternative
    return Contrast(*sides, difference, p, rank, effect, note=note)


@in_notebooks
def group_tables(study: GroupStudy) -> Iterator[StudyTable]:
    """Means (s.d.) with marks, then means with intervals and n, then every test."""
    names = {metric: short(metric, study.metrics) for metric in study.metrics}
    lower = [
        name
        for metric, name in names.items()
        if any(each.lower_is_better for each in study.contrasts if each.metric == metric)
    ]
    turned = [f"lower is better: {', '.join(lower)}"] if lower else []
    yield _overview(study, names.values(), turned)
    titles, order = {"group.value": study.by or "group"}, study.metrics.index
    means = sorted(study.measured, key=lambda each: order(each.metric))
    columns = "metric group.run group.value interval sd summary.n without"
    yield table_of("means", "Means with 95 % intervals", Measured, means, columns, titles=titles)
    if study.contrasts:
        count = sum((each.welch is not None) + (each.rank is not None) for each in study.contrasts)
        by = f"; errors are those of whole clusters by {study.cluster}" if study.cluster else ""
        note = (
            "p welch is Welch's t-test, p rank the Mann-Whitney test; p holm and p rank holm are these "
            f"adjusted for all {count} tests of this table{by}"
        )
        columns = "metric within claim difference welch holm rank rank_holm effect verdict"
        tests = sorted(study.contrasts, key=lambda each: order(each.metric))
        yield table_of("tests", "Tests", Contrast, tests, columns, [note, *turned])


def _overview(study: GroupStudy, names: Iterable[str], turned: Sequence[str]) -> StudyTable:
    """Mean (s.d.) n, one column for each metric, as tables 2 and 3 of the paper print them."""
    marks: dict[tuple[str, Group], Mark] = {
        (each.metric, each.upper): each.verdict.mark for each in study.contrasts if each.kind == "baseline"
    }
    rows: dict[Group, dict[str, Cell]] = {}
    for each in study.measured:
        own = "baseline" if each.group.run == study.baseline else marks.get((each.metric, each.group))
        rows.setdefault(each.group, {})[each.metric] = Marked(each.summary, own or "")
    notes = ["mean (s.d.) and n"]
    if study.baseline:
        notes.append(
            f"against {study.baseline}: green is significantly better, red significantly worse "
            f"(Welch's t-test, Holm, alpha {study.alpha:g})"
        )
        notes += turned
    summaries = (TableColumn(name, "summary") for name in names)
    columns: tuple[str | TableColumn, ...] = "run", study.by or "group", *summaries
    lines = ((*group, *(cells[metric] for metric in study.metrics)) for group, cells in rows.items())
    title = f"Means by {study.by}" if study.by else "Means"
    return plain_table("groups", title, columns, lines, (*notes, *study.notes))
