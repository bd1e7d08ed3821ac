"""Comparison of two runs, sample by sample: differences with intervals and tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import Declines
from ragmetrics_core.samples import SESSION
from ragmetrics_core.study._estimates import Clusters, Estimate, are_too_few, score_mean
from ragmetrics_core.study._frame import Frame, StudySettings, frame_of
from ragmetrics_core.study._pairs import (
    FEWEST,
    Pairs,
    detectable_difference,
    doubts_of,
    paired_difference,
    pairs_of,
)
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import (
    Column,
    Mark,
    MetricName,
    StudyTable,
    TableColumn,
    in_notebooks,
    plain_table,
    short,
    table_of,
)
from ragmetrics_core.study._tests import holm, sign_flip
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "VERDICT",
    "PairedMetric",
    "Passes",
    "RunComparison",
    "Verdict",
    "compare_runs",
    "comparison_tables",
    "verdict_of",
]

Verdict = Literal["better", "worse", "cannot tell"]

Array = NDArray[np.float64]

_MARKS: Mapping[str, Mark] = {"better": "good", "worse": "weak"}
VERDICT = Column("verdict", mark=_MARKS.get)

# With fewer samples that moved the bootstrap covers less than it says (benchmarks/coverage).
_FEW = 20
# Lost sessions that a note names.
_NAMED = 5


def _lost_mark(lost: int) -> Mark:
    return "weak" if lost else ""


def _margin_mark(within: bool | None) -> Mark:
    return "good" if within else "weak"


class Passes(NamedTuple):
    """Numbers of samples that pass a threshold in each run and in one run only.

    Attributes:
        threshold: lowest passing score; the highest one if lower is better.
        before, after: number of samples that pass.
        gained, lost: number of samples that pass only in the second run, and only in the first.
        p: exact two-sided p of McNemar's test; with clusters, of their flipped signs.
        holm: the same, adjusted for all tests of the comparison.
    """

    threshold: float
    before: int
    after: int
    gained: int
    lost: int
    p: Annotated[float | None, Column("p mcnemar", "p")]
    holm: Annotated[float | None, Column("its p holm", "p")] = None

    @property
    def both(self) -> str:
        """Number of passes: "12 to 15"."""
        return f"{self.before} to {self.after}"

    @property
    def changed(self) -> str:
        """Numbers of gained and lost passes: "+4 -1"."""
        return f"+{self.gained} -{self.lost}"


@dataclass(frozen=True, kw_only=True)
class PairedMetric:
    """One metric in two runs, paired by sample.

    The verdict comes from the pessimistic comparison. It pairs all samples that the first run scored, and
    uses the worst possible score if the second run has none.

    Attributes:
        metric: signature of the metric.
        n: number of samples with a value in both runs.
        before, after: means of these with their intervals.
        difference: mean of their differences (second minus first) with its paired interval.
        pessimistic: the same with lost scores at their worst; equal to `difference` if no score is lost.
        p: p of the sign-flip permutation test on the pessimistic differences.
        holm: the same, adjusted for all tests of the comparison. Each metric has a test on scores and a test
            on passes, which are one test for yes/no scores.
        passes: samples that pass a threshold.
        detectable: difference that would be detected in four of five cases with this n, spread and number of
            tests.
        verdict: "better" or "worse" if the pessimistic interval lies on one side of zero and adjusted p is
            below alpha; else "cannot tell".
        within_margin: whether the second run is shown to be worse by no more than the margin: the bad end of
            the pessimistic interval does not reach it, and there are enough pairs; None if no margin is set.
        lower_is_better: whether lower is better.
        lost: number of samples that only the first run scored, including samples missing in the second.
        gained: number of samples that only the second run scored.
        failed: whether the second run scored less than half of the first run's samples, or none.
        note: remark for readers.
    """

    metric: MetricName
    n: int
    before: Estimate
    after: Estimate
    difference: Estimate
    pessimistic: Annotated[Estimate, Column("at worst")]
    p: Annotated[float | None, Column("p flip", "p")]
    passes: Passes
    detectable: float | None
    lost: Annotated[int, Column(mark=_lost_mark)]
    gained: int
    holm: Annotated[float | None, Column("p holm", "p")]
    verdict: Annotated[Verdict, VERDICT]
    within_margin: Annotated[bool | None, Column("not inferior", mark=_margin_mark)]
    lower_is_better: bool
    failed: bool
    note: str


@dataclass(frozen=True)
class RunComparison:
    """Comparison of two runs.

    Attributes:
        before, after: names of the runs.
        metrics: comparison of each metric.
        alpha: significance level.
        margin: largest acceptable loss of the second run.
        common: number of samples in both runs.
        declines: number of answers that decline in each run.
        cluster: label whose values are the clusters; None if samples are independent.
        doubts: other possible causes of the difference: a different judge, different expected texts, a
            missing metric. A gate refuses them.
        notes: remarks for readers, including the doubts.
    """

    before: str
    after: str
    metrics: tuple[PairedMetric, ...]
    alpha: float
    margin: float | None
    common: int
    declines: tuple[Declines, Declines]
    cluster: str | None = None
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Tested(NamedTuple):
    """One metric before the joint adjustment of all tests.

    Scores and passes share one test for yes/no scores, and for scores that all moved by the same amount.
    """

    pairs: Pairs
    differences: Array
    clusters: Clusters
    passes: Passes
    p: float | None
    is_one: bool


def compare_runs(
    before: Scores,
    after: Scores,
    *,
    threshold: float = 0.5,
    alpha: float = 0.05,
    margin: float | None = None,
    **studied: Unpack[StudySettings],
) -> RunComparison:
    """Compare two runs of the same samples.

    Args:
        before: first run.
        after: second run.
        threshold: lowest passing score; the highest one if lower is better.
        alpha: significance level for the adjusted p.
        margin: largest acceptable loss of the second run, for a test of non-inferiority.
        studied: `metrics`, `cluster` and `seed`; see `StudySettings`.

    Raises:
        ConfigError: the runs share no sample or measured differently, the same ids have different questions,
            there are too few clusters, or every loss is within the margin.
    """
    after = after.against(before)
    wanted, runs = studied.get("metrics"), (before, after)
    frame = frame_of(runs, **studied)
    shared = [sample_id for sample_id in before.samples if sample_id in after.labels]
    _check_samples(before, after, shared)
    _check_margin(margin, before, frame.metrics)
    clustering, seed = frame.clustering, frame.seed
    doubts = tuple(doubts_of(before, after, wanted, cluster=clustering.by))
    tested = [_tested(before, after, metric, threshold, frame) for metric in frame.metrics]
    # what is one test counts once
    ps = [p for one in tested for p in (one.p, None if one.is_one else one.passes.p)]
    size, adjusted = sum(p is not None for p in ps), holm(ps)
    compared: list[PairedMetric] = []
    rows = zip(frame.metrics, tested, adjusted[::2], adjusted[1::2], strict=True)
    for metric, one, of_scores, of_passes in rows:
        pairs, ends, level = one.pairs, before.ends(metric), 1 - alpha
        both, lower = clustering.clusters(pairs.ids), metric in before.lower_is_better
        difference = worst = paired_difference(one.differences, one.clusters, level=level, seed=seed)
        if pairs.lost:
            difference = paired_difference(pairs.after - pairs.before, both, level=level, seed=seed)
        gain = -worst if lower else worst
        enough = not pairs.failed and len(pairs.ids) >= FEWEST and gain.low is not None
        compared.append(
            PairedMetric(
                metric=metric,
                n=len(pairs.ids),
                before=score_mean(pairs.before, both, ends=ends, level=level),
                after=score_mean(pairs.after, both, ends=ends, level=level),
                difference=difference,
                pessimistic=worst,
                p=one.p,
                holm=of_scores,
                passes=one.passes._replace(holm=of_scores if one.is_one else of_passes),
                detectable=detectable_difference(one.differences, one.clusters, tests=size, alpha=alpha),
                verdict=verdict_of(gain.side, of_scores, alpha),
                within_margin=None if margin is None else enough and (gain.low or 0.0) > -margin,
                lower_is_better=lower,
                lost=pairs.lost,
                gained=pairs.gained,
                failed=pairs.failed,
                note=_note(len(pairs.ids), one, clustering.by),
            )
        )
    only = len(before.samples) - len(shared), len(after.samples) - len(shared)
    notes = [*_notes(before, after, frame.metrics, only, are_all=wanted is None), *frame.notes]
    paired = {metric: one.pairs for metric, one in zip(frame.metrics, tested, strict=True)}
    notes += _lost_sessions(before, after, paired)
    if any(run.corrected.get(metric) for run in runs for metric in frame.metrics):
        notes.append(
            "where people corrected verdicts, what moved may be the corrections, and not the answers"
        )
    named, notes = (before.name, after.name), [*notes, *doubts]
    by, declines = clustering.by, (before.declines, after.declines)
    return RunComparison(
        *named, tuple(compared), alpha, margin, len(shared), declines, by, doubts, tuple(notes)
    )


def verdict_of(side: int, p: float | None, alpha: float) -> Verdict:
    """Verdict on a gain above zero (1), below zero (-1) or neither; p must be below alpha."""
    if p is None or p >= alpha or not side:
        return "cannot tell"
    return "better" if side > 0 else "worse"


@in_notebooks
def comparison_tables(compared: RunComparison) -> Iterator[StudyTable]:
    """Tables of differences with verdicts, and of the numbers behind them."""
    before, after, alpha = compared.before, compared.after, compared.alpha
    interval = "interval by cluster" if compared.cluster else "bootstrap interval"
    notes = [
        f"difference: {after} less {before} on the same samples, with its {1 - alpha:.0%} paired {interval}; "
        "p holm: sign-flip permutation test, adjusted for all tests of both tables",
        f"lost: scored in {before} and not in {after}, or declined only there; at worst: the difference when "
        "these count as the worst, on which p holm and the verdict rest; gained: scored in "
        f"{after} only, which counts nowhere",
        f"better and worse: the interval at worst is on one side of zero and p holm is below {alpha:g}",
    ]
    names = [metric.metric for metric in compared.metrics]
    if lower := [short(each.metric, names) for each in compared.metrics if each.lower_is_better]:
        notes.append(f"lower is better: {', '.join(lower)}")
    columns = "metric before.value after.value difference n lost gained pessimistic holm verdict"
    if compared.margin is not None:
        columns += " within_margin"
        notes.append(f"not inferior: the bad end of the interval is less than {compared.margin:g} from zero")
    title, rows = f"{after} against {before}", compared.metrics
    yield table_of("comparison", title, PairedMetric, rows, columns, (*notes, *compared.notes))
    notes = [
        "detectable: the difference that a comparison of this n, spread and number of tests tells four "
        "times in five",
        "p flip is the sign-flip permutation test of the scores, p mcnemar that of the passes; of yes/no "
        "scores the two are one test",
    ]
    titles = {"passes.both": f"passes at {rows[0].passes.threshold:g}"} if rows else {}
    columns = "metric p passes.both passes.changed passes.p passes.holm detectable note"
    yield table_of("details", "Behind it", PairedMetric, rows, columns, notes, titles=titles)
    heads = TableColumn("run"), *(TableColumn(name, "count") for name in Declines._fields)
    counts = [(name, *of_run) for name, of_run in zip((before, after), compared.declines, strict=True)]
    yield plain_table("declines", "Answers that decline", heads, counts)


def _check_samples(before: Scores, after: Scores, shared: Sequence[str]) -> None:
    """Refuse runs in which the same ids have different questions."""
    if not shared:
        raise ConfigError(
            f"{before.name} and {after.name} have no sample in common: the ids must be the same"
        )
    other = [each for each in shared if before.questions.get(each) != after.questions.get(each)]
    if other:
        raise ConfigError(
            f"{len(other)} samples, the first is {other[0]!r}, have other questions in {after.name} than in "
            f"{before.name}: the same id must mean the same question"
        )


def _check_margin(margin: float | None, scores: Scores, metrics: Sequence[str]) -> None:
    """Refuse a margin that no loss could exceed, such as 5 instead of 0.05."""
    for metric in metrics if margin is not None else ():
        low, high = scores.range_of(metric)
        if not 0 <= (margin or 0.0) < high - low and metric not in scores.exceeds:
            raise ConfigError(
                f"scores of {metric} lie from {low:g} to {high:g}: no loss is larger than a margin of "
                f"{margin:g}; write 0.05"
            )


def _notes(
    before: Scores, after: Scores, chosen: Sequence[str], only: tuple[int, int], *, are_all: bool
) -> Iterator[str]:
    runs = before, after
    yield from (f"{run.name} did not finish: what it has is compared" for run in runs if not run.finished)
    if any(only):
        yield (
            f"{only[0]} samples are only in {before.name}, where their scores count as lost, and {only[1]} "
            f"only in {after.name}, which are left out"
        )
    left = dict.fromkeys(each for run in runs for each in run.metrics if are_all and each not in chosen)
    if left:
        yield f"not compared, for only one run measured it: {', '.join(left)}"


def _lost_sessions(before: Scores, after: Scores, pairs: Mapping[str, Pairs]) -> Iterator[str]:
    """Notes that name the sessions of which the second run has no score, for each metric."""
    metrics_of: dict[tuple[str, ...], list[str]] = {}
    for metric, paired in pairs.items():
        sessions = {each: before.labels.get(each, {}).get(SESSION) for each in paired.sure_ids}
        kept = {None, *(sessions[each] for each in paired.ids)}
        lost = dict.fromkeys(str(session) for session in sessions.values() if session not in kept)
        metrics_of.setdefault(tuple(lost), []).append(short(metric, [*pairs]))
    for names, metrics in metrics_of.items():
        if names:
            named = ", ".join(map(repr, names[:_NAMED])) + (" and more" if len(names) > _NAMED else "")
            count = number_of(len(names), "session is", "sessions are")
            yield f"{count} lost in {after.name}, with all scores of {', '.join(metrics)}: {named}"


def _tested(before: Scores, after: Scores, metric: str, threshold: float, frame: Frame) -> _Tested:
    pairs, sign = pairs_of(before, after, metric), -1 if metric in before.lower_is_better else 1
    was, now = (sign * each >= sign * threshold for each in (pairs.sure_before, pairs.sure_after))
    differences, changes = pairs.sure_after - pairs.sure_before, now.astype(float) - was
    clusters, sizes = frame.clustering.clusters(pairs.sure_ids), np.abs(np.round(differences, 12))
    is_one = bool(((sizes > 0) == (changes != 0)).all()) and len(np.unique(sizes[sizes > 0])) <= 1
    p = sign_flip(differences, clusters, seed=frame.seed)
    of_passes = p if is_one else sign_flip(changes, clusters, seed=frame.seed)
    first, second, gained, lost = (int(flags.sum()) for flags in (was, now, now & ~was, was & ~now))
    passes = Passes(threshold, first, second, gained, lost, of_passes)
    return _Tested(pairs, differences, clusters, passes, p, is_one)


def _note(n: int, tested: _Tested, by: str | None) -> str:
    if not n:
        return "no sample has a value in both runs"
    if n < 10:
        return f"only {number_of(n, 'sample has', 'samples have')} a value in both runs"
    moved = int(np.count_nonzero(tested.differences))
    if not moved:
        return "every score is the same"
    if moved == len(tested.differences) and np.ptp(tested.differences) < 1e-12:
        return "every score moved by as much: the interval knows no spread"
    if by is not None and are_too_few(tested.clusters):
        return f"{len(set(tested.clusters))} clusters by {by} are too few for an interval"
    return f"only {number_of(moved, 'sample')} moved: the interval is too narrow" if moved < _FEW else ""
