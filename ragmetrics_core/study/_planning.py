"""Numbers of samples and labels for a study, from a pilot run."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._estimates import MeanPart, spread_of
from ragmetrics_core.study._frame import frame_of
from ragmetrics_core.study._pairs import POWER, pairs_of
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import Column, StudyTable, in_notebooks, short, table_of

__all__ = ["Need", "SizePlan", "needed", "plan_study", "plan_tables"]


@dataclass(frozen=True)
class Need:
    """Number of samples for one question.

    Attributes:
        question: the question.
        spread: standard deviation of one sample in the pilot, including the effect of clusters.
        pilot: number of samples in the pilot.
        samples: number of samples needed; None if the pilot shows no spread.
    """

    question: Annotated[str, Column("to know")]
    spread: Annotated[float, Column("sd")]
    pilot: int
    samples: int | None


@dataclass(frozen=True)
class SizePlan:
    """Sample sizes for a metric.

    Attributes:
        metric: name of the metric.
        needs: sample size of each question.
        notes: remarks for readers.
    """

    metric: str
    needs: tuple[Need, ...]
    notes: tuple[str, ...] = ()


def needed(
    spread: float, *, width: float | None = None, difference: float | None = None, alpha: float = 0.05
) -> int:
    r"""Number of samples for an interval of a width, or to detect a difference in four of five cases.

    .. math:: 2 \, t_{1-\alpha/2, n-1} \, s / \sqrt n \le w, \qquad
        (t_{1-\alpha/2, n-1} + t_{0.8, n-1}) \, s / \sqrt n \le d

    the smallest n from 2 on, for the standard deviation s of one sample (of one difference of a pair).

    Raises:
        ConfigError: both or neither of width and difference are given, or it is not above 0.

    >>> needed(0.4, width=0.1), needed(0.4, difference=0.1)
    (249, 128)
    """
    goal = width if difference is None else difference
    if goal is None or (width is not None and difference is not None):
        raise ConfigError("a plan is for a width or for a difference: give one of them")
    if not goal > 0:
        raise ConfigError(f"{goal:g} is not a width or difference: it must be above 0")

    def reach(n: int) -> float:
        middle = t_quantile(1 - alpha / 2, n - 1)
        quantiles = 2 * middle if difference is None else middle + t_quantile(POWER, n - 1)
        return float(quantiles * spread / n**0.5)

    return 2 + bisect_left(range(2, 10**12), True, key=lambda n: reach(n) <= goal)


def plan_study(
    pilot: Scores,
    metric: str,
    *,
    width: float = 0.1,
    difference: float = 0.05,
    against: Scores | None = None,
    labels: Mapping[str, float] | None = None,
    cluster: str | None = None,
    alpha: float = 0.05,
) -> SizePlan:
    """Plan numbers of samples and labels from the spread in a pilot run.

    Args:
        pilot: pilot run.
        metric: a name or signature.
        width: full width of the target interval.
        difference: difference of two runs to detect in four of five cases.
        against: another run of the same samples, to measure the spread of paired differences. Without it, the
            spread is that of two unrelated runs, an upper bound in practice.
        labels: human labels of some samples, on the metric's scale.
        cluster: label whose values group dependent samples, or "none".
        alpha: one minus the confidence level.

    Raises:
        ConfigError: the metric is unknown, or fewer than two samples have a value.
    """
    signature = pilot.metric(metric)
    name, values = short(signature, pilot.metrics), pilot.values[signature]
    if len(values) < 2:
        raise ConfigError(f"{len(values)} samples of {pilot.name} have a value of {name}: two are needed")
    frame = frame_of([pilot], metrics=[signature], cluster=cluster)
    notes = [*frame.notes]
    needs: list[Need] = []

    def need(question: str, values: ArrayLike, ids: Iterable[str], times: float = 1.0, **goal: float) -> None:
        """Add the sample size of a question, from the spread of one sample including clusters."""
        clusters = frame.clustering.clusters(ids)
        spread = spread_of(MeanPart(values, clusters)).error * len(clusters) ** 0.5 * times
        samples = needed(spread, alpha=alpha, **goal) if spread else None
        needs.append(Need(question, spread, len(clusters), samples))

    need(f"a mean, {width:g} wide", [*values.values()], values, width=width)
    apart = f"a difference of {difference:g} between two runs"
    if against is None:
        need(apart, [*values.values()], values, 2**0.5, difference=difference)
        notes.append("without a second run a difference is taken to spread as that of two unrelated runs")
    else:
        pairs = pairs_of(pilot, against, signature)
        if len(pairs.ids) < 2:
            raise ConfigError(
                f"{pilot.name} and {against.name} have fewer than two values of {name} in common"
            )
        need(apart, pairs.after - pairs.before, pairs.ids, difference=difference)
    if labels is not None:
        oriented = pilot.oriented(signature, pilot.metrics).values
        both = [each for each in oriented if each in labels]
        if len(both) < 3:
            raise ConfigError(f"{len(both)} samples have a label and a value of {name}: three are needed")
        y, f = (np.array([of[each] for each in both], dtype=float) for of in (labels, oriented))
        weight = float(np.clip(np.cov(y, f)[0, 1] / f.var(ddof=1), 0, 1)) if f.var() else 0.0
        need(f"labels alone, a mean {width:g} wide", y, both, width=width)
        beside = f"labels beside scores of very many samples, a mean {width:g} wide"
        need(beside, y - weight * f, both, width=width)
    if any(not each.spread for each in needs):
        notes.append("where nothing varies in the pilot, it cannot tell how many samples are needed")
    if len(values) < 30:
        notes.append(f"a pilot of {len(values)} samples knows their spread badly: take the numbers as rough")
    return SizePlan(name, tuple(needs), tuple(notes))


@in_notebooks
def plan_tables(plan: SizePlan) -> Iterator[StudyTable]:
    """Table of the sample size for each question."""
    note = "a width is that of the 95 % interval from end to end; a difference is found four times in five"
    title = f"How many samples {plan.metric} needs"
    yield table_of("plan", title, Need, plan.needs, "question samples spread pilot", (note, *plan.notes))
