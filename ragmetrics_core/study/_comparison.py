"""Two runs compared sample by sample: what differs, by how much, and whether it can be told."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._means import score_mean
from ragmetrics_core.study._paired_tests import (
    PairedTests,
    adjusted,
    detectable_difference,
    family_size,
    paired_difference,
    paired_tests,
)
from ragmetrics_core.study._pairing import FEWEST, Pairs, doubts_of, pairs_of
from ragmetrics_core.study._scores import Scores, measured_notes, metrics_of_all
from ragmetrics_core.wording import number_of

__all__ = ["PairedMetric", "Passes", "RunComparison", "Verdict", "compare_runs"]

Verdict = Literal["better", "worse", "cannot tell"]

Array = NDArray[np.float64]

# With fewer samples that moved the bootstrap covers less than it says (benchmarks/coverage).
_FEW = 20


class Passes(NamedTuple):
    """Samples at or above a threshold (at or below it where lower is better), and how many changed sides.

    Attributes:
        threshold: from which score on a sample passes; up to which one where lower is better.
        before, after: how many pass.
        gained, lost: how many pass only in the second run, and only in the first.
        p: exact two-sided p of McNemar's test; with clusters, of their flipped signs.
        holm: the same, adjusted for all tests of the comparison.
    """

    threshold: float
    before: int
    after: int
    gained: int
    lost: int
    p: float | None
    holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class PairedMetric:
    """One metric in two runs, paired by sample.

    The verdict is that of the pessimistic comparison: it pairs all samples that the first run scored, and
    where the second has no score takes the worst that it can be.

    Attributes:
        metric: its signature.
        n: how many samples have a value in both runs.
        before, after: the means of these with their intervals.
        difference: mean of their differences (second less first) with its paired interval.
        pessimistic: the same with lost scores at their worst; the same numbers where nothing is lost.
        p: of the sign-flip permutation test of the pessimistic differences.
        holm: the same, adjusted for all tests of the comparison: one of the scores and one of the passes
            for each metric, which of yes/no scores are one test.
        passes: samples that pass a threshold.
        detectable: the difference that would be told four times in five with this n, spread and number of
            tests.
        verdict: "better" or "worse" when the pessimistic interval lies on one side of zero and the adjusted p
            is below alpha; else "cannot tell".
        within_margin: whether the second run is shown to be worse by no more than the margin: the bad end
            of the pessimistic interval does not reach it, and there are enough pairs to show anything; None
            without a margin.
        lower_is_better: whether the low end of the metric's range is the good one.
        lost: how many samples the first run scored and the second did not, those that it lacks included.
        gained: how many only the second run scored.
        failed: whether the second run scored nothing, or less than half of what the first did.
        note: what a reader should know.
    """

    metric: str
    n: int
    before: Estimate
    after: Estimate
    difference: Estimate
    pessimistic: Estimate
    p: float | None
    passes: Passes
    detectable: float | None
    lost: int
    gained: int
    holm: float | None = None
    verdict: Verdict = "cannot tell"
    within_margin: bool | None = None
    lower_is_better: bool = False
    failed: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Everything about two runs.

    Attributes:
        before, after: the runs' names.
        metrics: each metric.
        alpha: below which p a difference is told.
        margin: by how much the second run may be worse.
        common: how many samples both have.
        only_before, only_after: how many samples one of them has.
        cluster: the label whose values are the clusters; None where samples are independent.
        doubts: why the difference may be another than that of what was measured: another judge, other
            expected texts, a metric that was left out. A gate refuses them.
        notes: what a reader should know, the doubts among them.
    """

    before: str
    after: str
    metrics: tuple[PairedMetric, ...]
    alpha: float
    margin: float | None
    common: int
    only_before: int
    only_after: int
    cluster: str | None = None
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def compare_runs(
    before: Scores,
    after: Scores,
    *,
    metrics: Sequence[str] | None = None,
    threshold: float = 0.5,
    alpha: float = 0.05,
    margin: float | None = None,
    cluster: str | None = None,
    seed: int = 0,
) -> RunComparison:
    """Compare two runs of the same samples.

    Args:
        before: the first run.
        after: the second one.
        metrics: names or signatures; without it all that both measured in the same way.
        threshold: from which score on a sample passes; up to which one where lower is better.
        alpha: below which adjusted p a difference is told.
        margin: by how much the second run may be worse, to show that it is not worse than that.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        seed: of the bootstrap and of the random flips.

    Raises:
        ConfigError: the runs share no sample, or measured in different ways, or the same ids are other
            questions, or there are too few clusters, or the margin lets everything pass.
    """
    chosen = metrics_of_all((before, after), metrics)
    shared = [each for each in before.samples if each in after.labels]
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
    only = len(before.samples) - len(shared), len(after.samples) - len(shared)
    notes = [
        f"{run.name} did not finish: what it has is compared" for run in (before, after) if not run.finished
    ]
    if any(only):
        notes.append(
            f"{only[0]} samples are only in {before.name}, where their scores count as lost, and {only[1]} "
            f"only in {after.name}, which are left out"
        )
    left = [each for run in (before, after) for each in run.metrics if metrics is None and each not in chosen]
    if left:
        notes.append(f"not compared, for only one run measured it: {', '.join(dict.fromkeys(left))}")
    _check_margin(margin, before, chosen)
    clustering = clustering_of((before, after), cluster)
    notes += [*clustering.notes, *measured_notes((before, after), chosen)]
    if any(run.corrected.get(each) for run in (before, after) for each in chosen):
        notes.append(
            "where people corrected verdicts, what moved may be the corrections, and not the answers"
        )
    doubts = doubts_of(before, after, metrics, cluster=clustering.by or "")
    found = [
        _compared(
            pairs_of(before, after, each),
            each,
            threshold,
            1 - alpha,
            clustering,
            seed,
            each in before.lower_is_better,
            before.ends(each),
        )
        for each in chosen
    ]
    tests = [each.tests for each in found]
    size = family_size(tests)
    judged = [
        replace(
            each.compared,
            holm=ps.scores,
            passes=each.compared.passes._replace(holm=ps.passes),
            detectable=detectable_difference(
                each.differences, tests=size, clusters=each.clusters, alpha=alpha
            ),
            verdict=_verdict(_gain(each.compared), ps.scores, alpha),
            within_margin=_within(each.compared, margin),
        )
        for each, ps in zip(found, adjusted(tests), strict=True)
    ]
    return RunComparison(
        before=before.name,
        after=after.name,
        metrics=tuple(judged),
        alpha=alpha,
        margin=margin,
        common=len(shared),
        only_before=only[0],
        only_after=only[1],
        cluster=clustering.by,
        doubts=doubts,
        notes=(*notes, *doubts),
    )


def _check_margin(margin: float | None, scores: Scores, metrics: Sequence[str]) -> None:
    """Refuse a margin that no loss could exceed: 5 where 0.05 is meant."""
    for metric in metrics if margin is not None else ():
        low, high = scores.ranges.get(metric, (0.0, 1.0))
        if not 0 <= (margin or 0.0) < high - low and metric not in scores.exceeds:
            raise ConfigError(
                f"scores of {metric} lie from {low:g} to {high:g}: no loss is larger than a margin of "
                f"{margin:g}; write 0.05"
            )


class _Unadjusted(NamedTuple):
    """One metric before the tests of all are adjusted together."""

    compared: PairedMetric
    tests: PairedTests
    differences: Array
    clusters: list[Hashable] | None


def _compared(
    pairs: Pairs,
    metric: str,
    threshold: float,
    level: float,
    clustering: Clustering,
    seed: int,
    lower_is_better: bool,
    ends: tuple[float, float],
) -> _Unadjusted:
    x, y = pairs.sure_before, pairs.sure_after
    was, now = (x <= threshold, y <= threshold) if lower_is_better else (x >= threshold, y >= threshold)
    gained, lost = int((now & ~was).sum()), int((was & ~now).sum())
    sure, clusters, both = y - x, clustering.clusters(pairs.sure_ids), clustering.clusters(pairs.ids)
    tests = paired_tests(sure, now.astype(float) - was, clusters=clusters, seed=seed)
    pessimistic = paired_difference(sure, clusters=clusters, level=level, seed=seed)
    difference = pessimistic
    if pairs.lost:
        difference = paired_difference(pairs.after - pairs.before, clusters=both, level=level, seed=seed)
    compared = PairedMetric(
        metric=metric,
        n=len(pairs.ids),
        before=score_mean(pairs.before, both, ends=ends, level=level),
        after=score_mean(pairs.after, both, ends=ends, level=level),
        difference=difference,
        pessimistic=pessimistic,
        p=tests.scores,
        passes=Passes(threshold, int(was.sum()), int(now.sum()), gained, lost, tests.passes),
        detectable=None,
        lost=len(pairs.lost),
        gained=len(pairs.gained),
        lower_is_better=lower_is_better,
        failed=pairs.failed,
        note=_note(pairs, clustering.lacks(pessimistic, pairs.sure_ids)),
    )
    return _Unadjusted(compared, tests, sure, clusters)


def _note(pairs: Pairs, lacks: str) -> str:
    if not pairs.ids:
        return "no sample has a value in both runs"
    if len(pairs.ids) < 10:
        return f"only {number_of(len(pairs.ids), 'sample has', 'samples have')} a value in both runs"
    moved = int(np.count_nonzero(pairs.sure_after - pairs.sure_before))
    if not moved:
        return "every score is the same"
    if moved == len(pairs.sure_ids) and np.ptp(pairs.sure_after - pairs.sure_before) < 1e-12:
        return "every score moved by as much: the interval knows no spread"
    return lacks or (
        f"only {number_of(moved, 'sample')} moved: the interval is too narrow" if moved < _FEW else ""
    )


def _gain(each: PairedMetric) -> Estimate:
    """The pessimistic difference with more being better."""
    value, low, high = each.pessimistic
    if not each.lower_is_better or value is None or low is None or high is None:
        return each.pessimistic
    return Estimate(-value, -high, -low)


def _verdict(gain: Estimate, p: float | None, alpha: float) -> Verdict:
    if p is None or p >= alpha or gain.low is None or gain.high is None:
        return "cannot tell"
    return "better" if gain.low > 0 else "worse" if gain.high < 0 else "cannot tell"


def _within(each: PairedMetric, margin: float | None) -> bool | None:
    if margin is None:
        return None
    low = _gain(each).low
    return not each.failed and each.n >= FEWEST and low is not None and low > -margin
