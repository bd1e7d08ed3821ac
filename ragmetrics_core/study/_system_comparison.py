"""Comparison of any number of systems: means, all pairs with one adjustment, ranks, and letter groups."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, NamedTuple, Unpack

import numpy as np

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._comparison import VERDICT, Verdict, verdict_of
from ragmetrics_core.study._distributions import t_test
from ragmetrics_core.study._estimates import Estimate, MeanPart, estimate, score_mean, spread_of
from ragmetrics_core.study._frame import Frame, StudySettings, frame_of
from ragmetrics_core.study._joint_test import Tested, joint_test
from ragmetrics_core.study._pairs import doubts_of
from ragmetrics_core.study._powered import LabelledValues, few_notes, labelled_values
from ragmetrics_core.study._question_pairs import Pairing, means_of, pairing_of, renamed, split
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes
from ragmetrics_core.study._tables import (
    Column,
    MetricName,
    StudyTable,
    counted,
    in_notebooks,
    short,
    shown,
    table_of,
)
from ragmetrics_core.study._tests import holm
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "ComparedSystem",
    "SystemComparison",
    "SystemPair",
    "compare_systems",
    "letter_groups",
    "system_comparison_tables",
]


class ComparedSystem(NamedTuple):
    """One metric of one system.

    Attributes:
        metric: the metric, or with people's labels the metric that predicts them.
        system: name of the system.
        mean: mean with its interval; with people's labels the prediction-powered mean.
        n: number of questions.
        first, last: the best and the worst rank that the comparison of all pairs leaves possible.
        letters: letters of its groups; two systems that share a letter are not told apart.
        left_out: number of samples that do not count, by cause.
        labels_only: mean of people's labels alone.
        scores_only: mean of the scores alone, as biased as the judge.
        labelled: number of questions with a label.
    """

    metric: MetricName
    system: str
    mean: Estimate
    n: int
    first: int
    last: int
    letters: Annotated[str, Column("group")]
    left_out: LeftOut
    labels_only: Annotated[Estimate | None, Column("labels only")] = None
    scores_only: Annotated[Estimate | None, Column("scores only")] = None
    labelled: int = 0

    @property
    def rank(self) -> str:
        """The possible ranks: "2 to 4"."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"

    @property
    def without(self) -> Annotated[str, Column("left out")]:
        """Number of samples that do not count, in words."""
        return counted(self.left_out)


class SystemPair(NamedTuple):
    """Two systems in one metric.

    Attributes:
        metric: the metric.
        one, other: the systems.
        difference: mean of `one` minus mean of `other`; the intervals of all pairs hold together.
        p: p adjusted for all pairs of all metrics.
        verdict: whether `one` is better or worse than `other`, or that is undecided.
    """

    metric: MetricName
    one: Annotated[str, Column("first")]
    other: Annotated[str, Column("less second")]
    difference: Estimate
    p: Annotated[float | None, Column("p adjusted", "p")]
    verdict: Annotated[Verdict, VERDICT._replace(title="first is")]


@dataclass(frozen=True)
class SystemComparison:
    """Comparison of systems.

    Attributes:
        systems: each metric of each system, the best system first.
        pairs: each metric of each pair.
        paired_by: "id" or "question text"; "" if the systems do not pair.
        questions: number of questions that all systems share.
        alpha: significance level.
        cluster: label whose values are the clusters; None if questions are independent.
        people: whether the means are of people's labels.
        notes: remarks for readers.
    """

    systems: tuple[ComparedSystem, ...]
    pairs: tuple[SystemPair, ...]
    paired_by: str
    questions: int
    alpha: float = 0.05
    cluster: str | None = None
    people: bool = False
    notes: tuple[str, ...] = ()


class _Figure(NamedTuple):
    """One metric of all systems.

    Attributes:
        metric: its signature; with people's labels the name of what predicts them.
        is_lower_better: whether lower is better.
        ends: ends of its range.
        known: values of each system, with its labels.
        weight: weight of the scores beside people's labels, or None.
        left_out: number of questions of each system that do not count, by cause.
    """

    metric: str
    is_lower_better: bool
    ends: tuple[float, float]
    known: Sequence[LabelledValues]
    weight: float | None
    left_out: Sequence[LeftOut]

    @property
    def parts(self) -> list[Sequence[MeanPart]]:
        """The parts of each system's mean."""
        if self.weight is None:
            return [(each.by_scores,) for each in self.known]
        return [each.powered(self.weight) for each in self.known]


def compare_systems(
    runs: Sequence[Scores],
    *,
    by: str | None = None,
    people: Sequence[Mapping[str, float]] = (),
    alpha: float = 0.05,
    **studied: Unpack[StudySettings],
) -> SystemComparison:
    """Compare any number of systems, all pairs at once.

    Systems that answer the same questions are paired, by id or by the text of the question: `joint_test`
    permutes the systems within each question. Only questions with a score of every system count. Systems that
    share no questions are compared by Welch's test, adjusted by Holm. There is one adjustment, over all pairs
    of all metrics.

    Args:
        runs: a run for each system; or runs with several systems each, and `by`.
        by: label that names the system.
        people: for each run, people's labels of some of its samples, on the metric's scale: the means are
            then prediction-powered, from the labels and the scores of one metric.
        alpha: significance level for the adjusted p.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: there are fewer than two systems, they were measured differently, a system lacks scores
            or labels, or there are too few clusters.
    """
    parted = split(runs, by)
    systems = [system for _, system in parted]
    if len(systems) < 2:
        raise ConfigError(
            "a comparison needs two systems: give several runs, or a label that names the system"
        )
    if len({system.name for system in systems}) < len(systems):
        raise ConfigError("two systems have one name: give each run a name of its own")
    pairing = pairing_of(systems)
    named = [renamed(*each) for each in zip(systems, pairing.members, strict=True)]
    frame = frame_of(named, **studied)
    labels: list[dict[str, float]] = []
    if people:
        if len(frame.metrics) > 1:
            metrics = ", ".join(short(each, frame.metrics) for each in frame.metrics)
            raise ConfigError(f"people's labels need one metric that predicts them: name one of {metrics}")
        labels = [means_of(people[place], of) for (place, _), of in zip(parted, pairing.members, strict=True)]
    figures = [_figure(metric, named, labels, pairing, frame) for metric in frame.metrics]
    parts = [figure.parts for figure in figures]
    tested = joint_test(parts, alpha=alpha, seed=frame.seed) if pairing.by else _unpaired(parts, alpha)
    names = [system.name for system in named]
    rows: list[ComparedSystem] = []
    pairs: list[SystemPair] = []
    for figure, differences, ps in zip(figures, *tested, strict=True):
        of_figure = [*_pairs(figure, names, differences, ps, alpha)]
        pairs += of_figure
        rows += _rows(figure, names, of_figure)
    notes = [*_notes(runs, pairing, frame), *frame.notes]
    if lower := [short(each.metric, frame.metrics) for each in figures if each.is_lower_better]:
        notes.append(f"lower is better: {', '.join(lower)}")
    if people:
        notes.append("mean: prediction-powered, from people's labels of some answers and the scores of all")
        notes.append("the labelled answers must be drawn at random")
        notes += few_notes(min(each.labelled for each in rows))
    by_label = frame.clustering.by
    found = pairing.by, len(pairing.shared), alpha, by_label, bool(people), tuple(notes)
    return SystemComparison(tuple(rows), tuple(pairs), *found)


def _figure(
    metric: str,
    systems: Sequence[Scores],
    labels: Sequence[Mapping[str, float]],
    pairing: Pairing,
    frame: Frame,
) -> _Figure:
    """The values of a metric, or of what predicts people's labels."""
    name, is_lower_better = metric, metric in systems[0].lower_is_better
    values = [system.values[metric] for system in systems]
    if labels:
        oriented = [system.oriented(metric, frame.metrics) for system in systems]
        name, is_lower_better, values = oriented[0].name, False, [each.values for each in oriented]
    questions = [list(column) for column in values]
    if pairing.by:
        shared = [each for each in pairing.shared if all(each in column for column in values)]
        questions = [shared] * len(systems)
    left_out: list[LeftOut] = []
    for system, asked in zip(systems, questions, strict=True):
        own = system.left_out(metric, system.samples)
        others = len(system.samples) - len(asked) - sum(count for _, count in own)
        left_out.append((*own, ("not scored in every system", others)) if others else own)
        if not asked:
            raise ConfigError(f"{system.name} has no score of {metric} to compare ({counted(left_out[-1])})")
    of_systems = zip(values, labels or [{} for _ in systems], questions, strict=True)
    known = [labelled_values(column, said, frame.clustering, ids) for column, said, ids in of_systems]
    weight = _weight(known, systems) if labels else None
    return _Figure(name, is_lower_better, systems[0].ends(metric), known, weight, left_out)


def _weight(known: Sequence[LabelledValues], systems: Sequence[Scores]) -> float:
    """One weight of the scores for all systems, so that the differences are those of the means."""
    for each, system in zip(known, systems, strict=True):
        if each.counts[0] < 3:
            count = number_of(each.counts[0], "labelled answer")
            raise ConfigError(f"{system.name} has {count} with a score, and three are needed")
    if min(each.counts[1] for each in known) < 2:
        return 0.0
    labels, predicted, rest = (np.concatenate(each) for each in zip(*(of[:3] for of in known), strict=True))
    return LabelledValues(labels, predicted, rest, (range(len(labels)), range(len(rest)))).weight


def _unpaired(figures: Sequence[Sequence[Sequence[MeanPart]]], alpha: float) -> Tested:
    """Welch's test of each pair, adjusted by Holm, with intervals at Bonferroni's level."""
    both = list(combinations(range(len(figures[0])), 2))
    level = 1 - alpha / (len(both) * len(figures))
    differences: list[Estimate] = []
    ps: list[float | None] = []
    for parts in figures:
        for one, other in both:
            # those of the labelled answers lead
            taken = [part.subtracted for part in parts[other]]
            led = [parts[one][0], taken[0], *parts[one][1:], *taken[1:]]
            difference, spread = estimate(*led, level=level, bound=2), spread_of(*led)
            df = min(spread.df, spread_of(*led[:2]).df)
            ps.append(t_test((difference.value or 0.0) / spread.error, df) if difference.width else None)
            differences.append(difference)
    adjusted, size = holm(ps), len(both)
    starts = range(0, len(ps), size)
    return [differences[at : at + size] for at in starts], [adjusted[at : at + size] for at in starts]


def _pairs(
    figure: _Figure,
    names: Sequence[str],
    differences: Sequence[Estimate],
    ps: Sequence[float | None],
    alpha: float,
) -> Iterator[SystemPair]:
    """Each pair, with intervals of possible differences."""
    reach = figure.ends[1] - figure.ends[0]
    for (one, other), difference, p in zip(combinations(names, 2), differences, ps, strict=True):
        side = int(np.sign(difference.value or 0.0)) * (-1 if figure.is_lower_better else 1)
        cut = Estimate(*(None if each is None else max(-reach, min(reach, each)) for each in difference))
        yield SystemPair(figure.metric, one, other, cut, p, verdict_of(side, p, alpha))


def _rows(figure: _Figure, names: Sequence[str], pairs: Sequence[SystemPair]) -> list[ComparedSystem]:
    """The systems in a metric, the best first."""
    wins = {(each.one, each.other) for each in pairs if each.verdict == "better"}
    wins |= {(each.other, each.one) for each in pairs if each.verdict == "worse"}
    rows: list[ComparedSystem] = []
    for name, known, left_out in zip(names, figure.known, figure.left_out, strict=True):
        everything = known.by_scores
        mean = by_scores = score_mean(everything.values, everything.clusters, ends=figure.ends)
        by_labels: Estimate | None = None
        if figure.weight is not None:
            mean, by_labels = (known.powered_mean(each, ends=figure.ends) for each in (figure.weight, 0.0))
        first = 1 + sum((other, name) in wins for other in names)
        last = len(names) - sum((name, other) in wins for other in names)
        counts = sum(known.counts), first, last, "", left_out
        rows.append(ComparedSystem(figure.metric, name, mean, *counts, by_labels, by_scores, known.counts[0]))
    rows.sort(key=lambda row: (row.mean.value or 0.0) * (1 if figure.is_lower_better else -1))
    letters = letter_groups([row.system for row in rows], wins)
    return [row._replace(letters=letters[row.system]) for row in rows]


def letter_groups(order: Sequence[str], differ: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Letters such that two systems share one exactly if they are not told apart.

    Args:
        order: the systems, the best first.
        differ: the pairs that differ.

    References:
        Piepho (2004), Journal of Computational and Graphical Statistics 13(2), 456-466.

    >>> letter_groups(["best", "middle", "worst"], [("best", "worst")])
    {'best': 'a', 'middle': 'ab', 'worst': 'b'}
    """
    groups = {frozenset(order)}
    for pair in differ:
        whole = {group for group in groups if group.issuperset(pair)}
        parts = groups - whole | {group - {each} for group in whole for each in pair}
        groups = {part for part in parts if not any(part < larger for larger in parts)}
    ranked = sorted(groups, key=lambda group: [place for place, each in enumerate(order) if each in group])
    letters = dict.fromkeys(order, "")
    for place, group in enumerate(ranked):
        for each in group:
            letters[each] += chr(ord("a") + place % 26) * (1 + place // 26)
    return letters


def _notes(runs: Sequence[Scores], pairing: Pairing, frame: Frame) -> Iterator[str]:
    count = len(pairing.members)
    if pairing.by:
        shared = number_of(len(pairing.shared), "question")
        yield f"paired by {pairing.by}: all {count} systems have {shared} in common"
        if several := len({key for of in pairing.members for key, ids in of.items() if len(ids) > 1}):
            answers = number_of(several, "question has", "questions have")
            yield f"{answers} several answers of one system: the mean of their scores counts"
    else:
        yield f"not paired: {pairing.reason}; the tests take the answers for independent"
    for run in runs:
        if not run.finished:
            yield f"{run.name} did not finish: what it has is compared"
    yield from measured_notes(runs, frame.metrics)
    for run in runs[1:]:
        # an id that does not pair is that of another question
        before = runs[0] if pairing.by == "id" else replace(runs[0], expected={})
        yield from doubts_of(before, run, frame.metrics, cluster=None)


@in_notebooks
def system_comparison_tables(study: SystemComparison) -> Iterator[StudyTable]:
    """The systems with ranks and letter groups, then every pair."""
    tests = number_of(len(study.pairs), "comparison")
    told = f"group: systems that share a letter are not told apart at {study.alpha:g}"
    notes = [f"{told}; rank: the ranks that this leaves possible"]
    if ps := [each.p for each in study.pairs if each.p is not None]:
        notes.append(
            f"that all systems are alike has p {shown(min(ps), 'p')}, the smallest of the table pairs"
        )
    columns, title = "metric system mean n rank letters without", "Systems, the best first"
    if study.people:
        columns = "metric system mean labels_only scores_only labelled n rank letters without"
        title += ", as people would judge them"
    yield table_of("systems", title, ComparedSystem, study.systems, columns, [*notes, *study.notes])
    test = "Welch's test, adjusted by Holm"
    if study.paired_by:
        test = "joint permutation test of the systems within each question, adjusted"
    by = f"; whole clusters by {study.cluster}" if study.cluster else ""
    level = f"{1 - study.alpha:.0%}"
    note = f"p adjusted: {test} for all {tests}{by}; the {level} intervals of all pairs hold together"
    columns = "metric one other difference p verdict"
    yield table_of("pairs", "Every pair of systems", SystemPair, study.pairs, columns, [note])
