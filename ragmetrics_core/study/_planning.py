"""How many samples and labels an answer needs, from a pilot run."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._cluster_errors import MeanPart, cluster_spread
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._distributions import t_quantile
from ragmetrics_core.study._pairing import pairs_of
from ragmetrics_core.study._scores import Scores, measured_notes, short
from ragmetrics_core.study._tables import StudyTable, TableColumn

__all__ = ["Need", "SizePlan", "needed", "plan_study", "plan_tables"]

_POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class Need:
    """What one question needs.

    Attributes:
        question: what is to be known.
        spread: the standard deviation of one sample in the pilot, with what clusters add.
        pilot: how many samples it rests on.
        samples: how many are needed; None where the pilot shows no spread, which tells nothing.
    """

    question: str
    spread: float
    pilot: int
    samples: int | None


@dataclass(frozen=True, kw_only=True)
class SizePlan:
    """What is needed of a metric.

    Attributes:
        metric: its name.
        needs: one for each question.
        notes: what a reader should know.
    """

    metric: str
    needs: tuple[Need, ...]
    notes: tuple[str, ...] = ()


def needed(
    spread: float, *, width: float | None = None, difference: float | None = None, alpha: float = 0.05
) -> int:
    r"""How many samples give an interval of a width, or find a difference four times in five.

    .. math:: 2 \, t_{1-\alpha/2, n-1} \, s / \sqrt n \le w, \qquad
        (t_{1-\alpha/2, n-1} + t_{0.8, n-1}) \, s / \sqrt n \le d

    the smallest n from 2 on, for the standard deviation s of one sample (of one difference of a pair).

    Raises:
        ConfigError: not just one of width and difference is given, or it is not above 0.

    >>> needed(0.4, width=0.1), needed(0.4, difference=0.1)
    (249, 128)
    """
    goal = width if difference is None else difference
    if goal is None or (width is not None and difference is not None):
        raise ConfigError("a plan is for a width or for a difference: give one of them")
    if not goal > 0:
        raise ConfigError(f"{goal:g} is no width or difference: it must be above 0")

    def reach(n: int) -> float:
        middle = t_quantile(1 - alpha / 2, n - 1)
        quantiles = 2 * middle if difference is None else middle + t_quantile(_POWER, n - 1)
        return float(quantiles * spread / n**0.5)

    low, high = 1, 2
    while reach(high) > goal:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reach(middle) > goal else (low, middle)
    return high


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
    """How many samples and labels are needed, from the spread that a pilot run shows.

    Args:
        pilot: the run.
        metric: a name or signature.
        width: of the interval that is wanted, from end to end.
        difference: of two runs, that is to be found four times in five.
        against: another run of the same samples, whose paired differences say how these spread; without it
            they are taken to spread as those of two unrelated runs would, which is the most that is likely.
        labels: what people said of some samples, on the metric's scale.
        cluster: the label whose values say which samples belong together, or "none".
        alpha: one less the confidence.

    Raises:
        ConfigError: the metric is unknown, or fewer than two samples have a value.
    """
    signature = pilot.metric(metric)
    name, values = short(signature, pilot.metrics), pilot.values[signature]
    if len(values) < 2:
        raise ConfigError(f"{len(values)} samples of {pilot.name} have a value of {name}: two are needed")
    clustering = clustering_of([pilot], cluster)
    spread = _spread(list(values.values()), clustering.clusters(values))
    notes = [*clustering.notes, *measured_notes([pilot], [signature])]
    needs = [_need(f"a mean, {width:g} wide", spread, len(values), width=width, alpha=alpha)]
    if against is None:
        moved, n = spread * 2**0.5, len(values)
        notes.append("without a second run a difference is taken to spread as that of two unrelated runs")
    else:
        pairs = pairs_of(pilot, against, signature)
        if len(pairs.ids) < 2:
            raise ConfigError(
                f"{pilot.name} and {against.name} have fewer than two values of {name} in common"
            )
        moved, n = _spread(pairs.after - pairs.before, clustering.clusters(pairs.ids)), len(pairs.ids)
    needs.append(
        _need(
            f"a difference of {difference:g} between two runs", moved, n, difference=difference, alpha=alpha
        )
    )
    if labels is not None:
        oriented = pilot.oriented(signature, pilot.metrics).values
        both = [each for each in oriented if each in labels]
        if len(both) < 3:
            raise ConfigError(f"{len(both)} samples have a label and a value of {name}: three are needed")
        y, f = (np.array([of[each] for each in both], dtype=float) for of in (labels, oriented))
        of = clustering.clusters(both)
        needs.append(
            _need(f"labels alone, a mean {width:g} wide", _spread(y, of), len(both), width=width, alpha=alpha)
        )
        weight = float(np.clip(np.cov(y, f)[0, 1] / f.var(ddof=1), 0, 1)) if f.var() else 0.0
        question = f"labels beside scores of very many samples, a mean {width:g} wide"
        needs.append(_need(question, _spread(y - weight * f, of), len(both), width=width, alpha=alpha))
    if any(not each.spread for each in needs):
        notes.append("where nothing varies in the pilot, it cannot tell how many samples are needed")
    if len(values) < 30:
        notes.append(f"a pilot of {len(values)} samples knows their spread badly: take the numbers as rough")
    return SizePlan(metric=name, needs=tuple(needs), notes=tuple(notes))


def plan_tables(found: SizePlan) -> Iterator[StudyTable]:
    """What each question needs."""
    yield StudyTable(
        name="plan",
        title=f"How many samples {found.metric} needs",
        columns=(
            TableColumn("to know"),
            TableColumn("samples", "count"),
            TableColumn("sd", "number"),
            TableColumn("pilot", "count"),
        ),
        rows=tuple((each.question, each.samples, each.spread, each.pilot) for each in found.needs),
        notes=(
            "a width is that of the 95 % interval from end to end; a difference is found four times in five",
            *found.notes,
        ),
    )


def _spread(values: ArrayLike, clusters: Sequence[Hashable] | None = None) -> float:
    """The standard deviation of one sample; with clusters, that which gives their error of the mean."""
    array = np.asarray(values, dtype=float)
    if clusters is None:
        return float(array.std(ddof=1))
    return float(cluster_spread(MeanPart(array, clusters)).error * len(array) ** 0.5)


def _need(
    question: str,
    spread: float,
    pilot: int,
    *,
    alpha: float,
    width: float | None = None,
    difference: float | None = None,
) -> Need:
    samples = needed(spread, width=width, difference=difference, alpha=alpha) if spread else None
    return Need(question=question, spread=spread, pilot=pilot, samples=samples)
