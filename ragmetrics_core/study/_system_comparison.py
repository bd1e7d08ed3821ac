"""Comparison of any number of systems: means, all pairs with one adjustment, ranks, and letter groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._comparison import VERDICT, Verdict, verdict_of
from ragmetrics_core.study._distributions import t_test
from ragmetrics_core.study._estimates import Estimate, MeanPart, estimate, score_mean, spread_of
from ragmetrics_core.study._frame import Frame, StudySettings, frame_of
from ragmetrics_core.study._joint_test import Part, joint_test
from ragmetrics_core.study._pairs import doubts_of
from ragmetrics_core.study._powered import LabelledValues, few_notes, labelled_values
from ragmetrics_core.study._question_pairs import Pairing, means_of, pairing_of, renamed, split
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes
from ragmetrics_core.study._tables import Column, MetricName, StudyTable, counted, short, shown, table_of
from ragmetrics_core.study._tests import holm
from ragmetrics_core.wording import number_of

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
        lower_is_better: metrics for which lower is better.
        notes: remarks for readers.
    """

    systems: tuple[ComparedSystem, ...]
    pairs: tuple[SystemPair, ...]
    paired_by: str
    questions: int
    alpha: float = 0.05
    cluster: str | None = None
    people: bool = False
    lower_is_better: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class _Figure(NamedTuple):
    """One metric of all systems.

    Attributes:
        metric: its signature; with people's labels the name of what predicts them.
        is_lower_better: whether lower is better.
        ends: ends of its range.
        known: values of each system, with its labels.
        left_out: number of samples of each system that do not count, by cause.
        weight: weight of the scores beside people's labels; None without labels.
        parts: values of all systems by question; empty if the systems do not pair.
    """

    metric: str
    is_lower_better: bool
    ends: tuple[float, float]
    known: tuple[LabelledValues, ...]
    left_out: tuple[LeftOut, ...]
    weight: float | None
    parts: tuple[Part, ...]

    def of_mean(self, place: int) -> tuple[MeanPart, ...]:
        """The parts of the mean of a system."""
        known = self.known[place]
        return (known.by_scores,) if self.weight is None else known.powered(self.weight)

    def mean(self, place: int) -> Estimate:
        """The mean of a system."""
        known = self.known[place]
        if self.weight is not None:
            return known.powered_mean(self.weight, ends=self.ends)
        return score_mean(known.by_scores.values, known.by_scores.clusters, ends=self.ends)

    def cut(self, difference: Estimate) -> Estimate:
        """The difference with an interval of possible differences."""
        reach = self.ends[1] - self.ends[0]
        return Estimate(*(None if each is None else max(-reach, min(reach, each)) for each in difference))


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
    places, systems = zip(*split(runs, by), strict=True)
    if len(systems) < 2:
        raise ConfigError(
            "a comparison needs two systems: give several runs, or a label that names the system"
        )
    pairing = pairing_of(systems)
    named = [renamed(*each) for each in zip(systems, pairing.members, strict=True)]
    frame = frame_of(named, **studied)
    labels: list[dict[str, float]] = []
    if people:
        if len(frame.metrics) > 1:
            metrics = ", ".join(short(each, frame.metrics) for each in frame.metrics)
            raise ConfigError(f"people's labels need one metric that predicts them: name one of {metrics}")
        labels = [means_of(people[place], of) for place, of in zip(places, pairing.members, strict=True)]
    figures = [_figure(metric, named, labels, pairing, frame) for metric in frame.metrics]
    differences, ps = (_paired if pairing.by else _unpaired)(figures, alpha, frame.seed)
    both = list(combinations(range(len(systems)), 2))
    pairs: list[SystemPair] = []
    rows: list[ComparedSystem] = []
    for figure, of_figure, ps_of in zip(figures, differences, ps, strict=True):
        # whether the first of two systems is better than the second
        better = np.zeros((len(systems), len(systems)), dtype=bool)
        for (one, other), difference, p in zip(both, of_figure, ps_of, strict=True):
            side = int(np.sign(difference.value or 0.0)) * (-1 if figure.is_lower_better else 1)
            verdict = verdict_of(side, p, alpha)
            better[one, other], better[other, one] = verdict == "better", verdict == "worse"
            names = named[one].name, named[other].name
            pairs.append(SystemPair(figure.metric, *names, figure.cut(difference), p, verdict))
        rows += _rows(figure, named, better)
    notes = [*_notes(runs, pairing, frame), *frame.notes]
    if people:
        notes += few_notes(min(each.labelled for each in rows))
        notes.append("the labelled samples must be drawn at random")
    return SystemComparison(
        tuple(rows),
        tuple(pairs),
        pairing.by,
        len(pairing.shared),
        alpha,
        frame.clustering.by,
        people=bool(people),
        lower_is_better=frozenset(each.metric for each in figures if each.is_lower_better),
        notes=tuple(notes),
    )


def _figure(
    metric: str,
    systems: Sequence[Scores],
    labels: Sequence[Mapping[str, float]],
    pairing: Pairing,
    frame: Frame,
) -> _Figure:
    """The values of a metric, or of what predicts people's labels."""
    name, values = metric, [system.values[metric] for system in systems]
    if labels:
        oriented = [system.oriented(metric, frame.metrics) for system in systems]
        name, values = oriented[0].name, [each.values for each in oriented]
    questions = [list(column) for column in values]
    if pairing.by:
        shared = [each for each in pairing.shared if all(each in column for column in values)]
        questions = [shared] * len(systems)
    if not all(questions):
        lacking = systems[questions.index([])].name
        why = "no question has one in every system" if pairing.by else f"{lacking} has none"
        raise ConfigError(f"the systems cannot be compared by {metric}: {why}")
    left_out = tuple(_left_out(*each, metric, pairing) for each in zip(systems, questions, strict=True))
    of_systems = zip(values, labels or [{} for _ in systems], questions, strict=True)
    known = [labelled_values(column, said, frame.clustering, ids) for column, said, ids in of_systems]
    weight = _weight(known, systems) if labels else None
    parts: list[Part] = []
    if pairing.by:
        clusters = frame.clustering.clusters(questions[0])
        scores = np.array([[column[each] for column in values] for each in questions[0]])
        if weight is None:
            parts = [Part(scores, clusters)]
        else:
            said = np.array([[of.get(each, np.nan) for of in labels] for each in questions[0]])
            parts = [Part(said - weight * scores, clusters)]
            if weight:
                parts.append(Part(np.where(np.isnan(said), weight * scores, np.nan), clusters))
    is_lower_better = not labels and metric in systems[0].lower_is_better
    ends = systems[0].ends(metric)
    return _Figure(name, is_lower_better, ends, tuple(known), left_out, weight, tuple(parts))


def _left_out(system: Scores, questions: Sequence[str], metric: str, pairing: Pairing) -> LeftOut:
    """Number of questions of a system that do not count, by cause."""
    if not pairing.by:
        return system.left_out(metric, system.samples)
    apart = len(system.samples) - len(pairing.shared)
    own = system.left_out(metric, pairing.shared)
    others = len(pairing.shared) - len(questions) - sum(count for _, count in own)
    causes = *own, ("without a score of another system", others), ("not asked of every system", apart)
    return tuple((cause, count) for cause, count in causes if count)


def _weight(known: Sequence[LabelledValues], systems: Sequence[Scores]) -> float:
    """One weight of the scores for all systems, so that means and differences agree."""
    for each, system in zip(known, systems, strict=True):
        if each.counts[0] < 3:
            count = number_of(each.counts[0], "labelled sample")
            raise ConfigError(f"{system.name} has {count} with a score, and three are needed")
    if min(each.counts[1] for each in known) < 2:
        return 0.0
    columns = (np.concatenate(each) for each in zip(*(of[:3] for of in known), strict=True))
    labels, predicted, rest = columns
    return LabelledValues(labels, predicted, rest, (range(len(labels)), range(len(rest)))).weight


_Tested = tuple[Sequence[Sequence[Estimate]], Sequence[Sequence[float | None]]]


def _paired(figures: Sequence[_Figure], alpha: float, seed: int) -> _Tested:
    return joint_test([figure.parts for figure in figures], alpha=alpha, seed=seed)


def _unpaired(figures: Sequence[_Figure], alpha: float, seed: int) -> _Tested:
    """Welch's test of each pair, adjusted by Holm, with intervals at Bonferroni's level."""
    both = list(combinations(range(len(figures[0].known)), 2))
    tests = len(both) * len(figures)
    differences: list[list[Estimate]] = []
    ps: list[float | None] = []
    for figure in figures:
        differences.append([])
        for one, other in both:
            (first, *rest), (second, *others) = (figure.of_mean(place) for place in (one, other))
            parts = first, second.turned, *rest, *(part.turned for part in others)
            difference = estimate(*parts, level=1 - alpha / tests, bound=2)
            spread = spread_of(*parts)
            differences[-1].append(difference)
            known = difference.low is not None and difference.value is not None and spread.error > 0
            df = min(spread.df, spread_of(*parts[:2]).df)
            ps.append(t_test((difference.value or 0.0) / spread.error, df) if known else None)
    adjusted = holm(ps)
    return differences, [adjusted[at : at + len(both)] for at in range(0, tests, len(both))]


def _rows(figure: _Figure, systems: Sequence[Scores], better: NDArray[np.bool_]) -> Iterator[ComparedSystem]:
    """The systems in a metric, the best first."""
    means = [figure.mean(place) for place in range(len(systems))]
    sign = 1 if figure.is_lower_better else -1
    order = sorted(range(len(systems)), key=lambda place: sign * (means[place].value or 0.0))
    letters = letter_groups(order, better | better.T)
    for place in order:
        known = figure.known[place]
        labelled, scored = known.counts
        labels_only = scores_only = None
        if figure.weight is not None:
            scores = known.by_scores
            labels_only = known.powered_mean(0.0, ends=figure.ends)
            scores_only = score_mean(scores.values, scores.clusters, ends=figure.ends)
        yield ComparedSystem(
            figure.metric,
            systems[place].name,
            means[place],
            labelled + scored,
            1 + int(better[:, place].sum()),
            len(systems) - int(better[place].sum()),
            letters[place],
            figure.left_out[place],
            labels_only,
            scores_only,
            labelled,
        )


def letter_groups(order: Sequence[int], differ: NDArray[np.bool_]) -> dict[int, str]:
    """Letters such that two systems share one exactly if they are not told apart.

    Args:
        order: the systems, the best first.
        differ: whether two systems are told apart.

    References:
        Piepho (2004), Journal of Computational and Graphical Statistics 13(2), 456-466.

    >>> differ = np.zeros((3, 3), dtype=bool)
    >>> differ[0, 2] = differ[2, 0] = True
    >>> letter_groups([0, 1, 2], differ)
    {0: 'a', 1: 'ab', 2: 'b'}
    """
    groups = [frozenset(order)]
    for one, other in combinations(order, 2):
        if differ[one, other]:
            parts = {part for group in groups for part in _apart(group, one, other)}
            groups = [part for part in parts if not any(part < larger for larger in parts)]
    rank = {system: place for place, system in enumerate(order)}
    groups.sort(key=lambda group: sorted(rank[system] for system in group))
    names = [chr(ord("a") + place % 26) * (1 + place // 26) for place in range(len(groups))]
    return {
        system: "".join(name for name, group in zip(names, groups, strict=True) if system in group)
        for system in order
    }


def _apart(group: frozenset[int], one: int, other: int) -> Sequence[frozenset[int]]:
    return (group - {one}, group - {other}) if {one, other} <= group else (group,)


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


def system_comparison_tables(study: SystemComparison) -> Iterator[StudyTable]:
    """The systems with ranks and letter groups, then every pair."""
    level, tests = f"{1 - study.alpha:.0%}", number_of(len(study.pairs), "comparison")
    smallest = min((each.p for each in study.pairs if each.p is not None), default=None)
    notes = list(study.notes)
    if smallest is not None:
        notes.insert(
            0, f"that all systems are alike has p {shown(smallest, 'p')}, the smallest of the table pairs"
        )
    told = f"group: systems that share a letter are not told apart at {study.alpha:g}"
    notes.insert(0, f"{told}; rank: the ranks that this leaves possible")
    metrics = list(dict.fromkeys(each.metric for each in study.systems))
    if lower := [short(each, metrics) for each in metrics if each in study.lower_is_better]:
        notes.append(f"lower is better: {', '.join(lower)}")
    columns, title = "metric system mean n rank letters without", "Systems, the best first"
    if study.people:
        title += " as people judge them"
        columns = "metric system mean labels_only scores_only labelled n rank letters without"
        notes.append("mean: prediction-powered, from people's labels and the scores together")
    yield table_of("systems", title, ComparedSystem, study.systems, columns, notes)
    test = (
        f"joint permutation test of the systems within each question, adjusted for all {tests}"
        if study.paired_by
        else f"Welch's test, adjusted for all {tests} (Holm)"
    )
    by = f"; whole clusters by {study.cluster}" if study.cluster else ""
    together = f"p adjusted: {test}{by}; the {level} intervals of all pairs hold together"
    columns = "metric one other difference p verdict"
    yield table_of("pairs", "Every pair of systems", SystemPair, study.pairs, columns, [together])
