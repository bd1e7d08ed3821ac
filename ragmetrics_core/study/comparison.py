"""Two runs compared sample by sample: what differs, by how much, and whether it can be told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study.bootstrap import bootstrap_mean
from ragmetrics_core.study.distributions import normal_quantile, wilcoxon
from ragmetrics_core.study.intervals import Estimate, mean_of
from ragmetrics_core.study.scores import Scores, metrics_of_all
from ragmetrics_core.study.significance import holm, mcnemar

__all__ = ["Compared", "Comparison", "Passes", "Verdict", "compare_runs"]

Verdict = Literal["better", "worse", "cannot tell"]

# With fewer samples that moved the bootstrap covers less than it says (benchmarks/coverage.py).
_FEW = 20


class Passes(NamedTuple):
    """Samples at or above a threshold (at or below it where lower is better), and how many changed sides.

    Attributes:
        threshold: from which score on a sample passes; up to which one where lower is better.
        before, after: how many pass.
        gained, lost: how many pass only in the second run, and only in the first.
        p: exact two-sided p of McNemar's test.
    """

    threshold: float
    before: int
    after: int
    gained: int
    lost: int
    p: float


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One metric in two runs, on the samples that have a value in both.

    Attributes:
        metric: its signature.
        n: how many samples.
        before, after: the means with their intervals.
        difference: mean of the differences (second less first) with its paired bootstrap interval.
        p: of Wilcoxon's signed-rank test.
        holm: the same, adjusted for all metrics.
        passes: samples that pass a threshold.
        detectable: the difference that would be found four times in five with this n and spread.
        verdict: "better" or "worse" when the interval lies on one side of zero and the adjusted p is below
            alpha; else "cannot tell".
        within_margin: whether the second run is shown to be worse by no more than the margin: the bad end
            of the interval does not reach it; None without a margin.
        lower_is_better: whether the low end of the metric's range is the good one.
        lost, gained: samples with a value only in the first run, or only in the second.
        note: what a reader should know.
    """

    metric: str
    n: int
    before: Estimate
    after: Estimate
    difference: Estimate
    p: float | None
    passes: Passes
    detectable: float | None
    lost: int
    gained: int
    holm: float | None = None
    verdict: Verdict = "cannot tell"
    within_margin: bool | None = None
    lower_is_better: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Everything about two runs.

    Attributes:
        before, after: the runs' names.
        metrics: each metric.
        alpha: below which p a difference is told.
        margin: by how much the second run may be worse.
        common: how many samples both have.
        only_before, only_after: how many samples one of them has.
        notes: what a reader should know.
    """

    before: str
    after: str
    metrics: tuple[Compared, ...]
    alpha: float
    margin: float | None
    common: int
    only_before: int
    only_after: int
    notes: tuple[str, ...] = ()


def compare_runs(
    before: Scores,
    after: Scores,
    *,
    metrics: Sequence[str] | None = None,
    threshold: float = 0.5,
    alpha: float = 0.05,
    margin: float | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare two runs of the same samples.

    Args:
        before: the first run.
        after: the second one.
        metrics: names or signatures; without it all that both measured in the same way.
        threshold: from which score on a sample passes; up to which one where lower is better.
        alpha: below which adjusted p a difference is told.
        margin: by how much the second run may be worse, to show that it is not worse than that.
        seed: of the bootstrap.

    Raises:
        ConfigError: the runs share no sample, or measured in different ways, or the same ids are other
            questions.
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
            f"{only[0]} samples are only in {before.name} and {only[1]} only in {after.name}: they are "
            "left out"
        )
    left = [each for run in (before, after) for each in run.metrics if metrics is None and each not in chosen]
    if left:
        notes.append(f"not compared, for only one run measured it: {', '.join(dict.fromkeys(left))}")
    found = [_compared(before, after, each, shared, threshold, 1 - alpha, seed) for each in chosen]
    adjusted = holm([each.p for each in found])
    judged = [
        replace(
            each,
            holm=p,
            verdict=_verdict(_gain(each), p, alpha),
            within_margin=_within(_gain(each), margin),
        )
        for each, p in zip(found, adjusted, strict=True)
    ]
    return Comparison(
        before=before.name,
        after=after.name,
        metrics=tuple(judged),
        alpha=alpha,
        margin=margin,
        common=len(shared),
        only_before=only[0],
        only_after=only[1],
        notes=tuple(notes),
    )


def _compared(
    before: Scores,
    after: Scores,
    metric: str,
    shared: Sequence[str],
    threshold: float,
    level: float,
    seed: int,
) -> Compared:
    first, second = before.values[metric], after.values[metric]
    ids = [each for each in shared if each in first and each in second]
    x, y = _column(first, ids), _column(second, ids)
    differences = y - x
    lower_is_better = metric in before.lower_is_better
    was, now = (x <= threshold, y <= threshold) if lower_is_better else (x >= threshold, y >= threshold)
    gained, lost = int((now & ~was).sum()), int((was & ~now).sum())
    note = ""
    if len(ids) < 10:
        note = (
            f"only {len(ids)} samples have a value in both runs"
            if ids
            else "no sample has a value in both runs"
        )
    elif not differences.any():
        note = "every score is the same"
    elif (moved := int(np.count_nonzero(differences))) < _FEW:
        note = f"only {moved} samples moved: the interval is too narrow"
    return Compared(
        metric=metric,
        n=len(ids),
        before=mean_of(x, level=level),
        after=mean_of(y, level=level),
        difference=bootstrap_mean(differences, level=level, seed=seed),
        p=wilcoxon(differences.tolist()),
        passes=Passes(threshold, int(was.sum()), int(now.sum()), gained, lost, mcnemar(gained, lost)),
        detectable=_detectable(differences, level),
        lost=sum(each in first and each not in second for each in shared),
        gained=sum(each in second and each not in first for each in shared),
        lower_is_better=lower_is_better,
        note=note,
    )


def _column(values: Mapping[str, float], ids: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([values[each] for each in ids], dtype=float)


def _detectable(differences: np.ndarray[tuple[int], np.dtype[np.float64]], level: float) -> float | None:
    r"""The difference found with power 0.8: :math:`(z_{1-\alpha/2} + z_{0.8}) \, s / \sqrt n`."""
    if len(differences) < 2:
        return None
    spread = float(differences.std(ddof=1))
    if not spread:  # no spread was seen, which tells nothing of the spread that there is
        return None
    reach = normal_quantile(0.5 + level / 2) + normal_quantile(0.8)
    return reach * spread / sqrt(len(differences))


def _gain(each: Compared) -> Estimate:
    """The difference with more being better."""
    value, low, high = each.difference
    if not each.lower_is_better or value is None or low is None or high is None:
        return each.difference
    return Estimate(-value, -high, -low)


def _verdict(gain: Estimate, p: float | None, alpha: float) -> Verdict:
    if p is None or p >= alpha or gain.low is None or gain.high is None:
        return "cannot tell"
    return "better" if gain.low > 0 else "worse" if gain.high < 0 else "cannot tell"


def _within(gain: Estimate, margin: float | None) -> bool | None:
    if margin is None:
        return None
    return gain.low is not None and gain.low > -margin
