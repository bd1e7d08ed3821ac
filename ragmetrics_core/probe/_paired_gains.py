"""What one way to ask ranks better than another, on the same labelled items; no model is asked."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.metrics import Metric
from ragmetrics_core.probe._by_source import Figure, area, drawn, share, spearman_with
from ragmetrics_core.probe._labelled import Labelled, LabelledSet
from ragmetrics_core.probe._people_card import Interval, PairedGain, PeopleCard
from ragmetrics_core.record import Record

__all__ = ["SetFigure", "goodness", "set_figure", "with_gains"]

Array = NDArray[np.float64]
Records = Mapping[str, Record]


class SetFigure(NamedTuple):
    """The figure that a set gives.

    Attributes:
        of: from a score for each row to the figure.
        sources: of each item that it counts; of each pair, where people compared two.
    """

    of: Callable[[Array], Figure]
    sources: Sequence[str]


def set_figure(labelled: LabelledSet, rows: Sequence[Labelled]) -> SetFigure:
    """What a set says of scores of these rows of it: area, Spearman, or the share of pairs."""
    if labelled.kind == "preference":
        return _preferred(labelled, rows)
    sources = [row.source for row in rows]
    if labelled.kind == "rating":
        return SetFigure(partial(_spearman, [float(row.label or 0) for row in rows]), sources)
    return SetFigure(partial(_area, [bool(row.label) for row in rows]), sources)


def _spearman(ratings: Sequence[float], values: Array) -> Figure:
    return spearman_with(values, np.array(ratings))


def _area(good: Sequence[bool], values: Array) -> Figure:
    return area(values, np.array(good, dtype=bool))


def _preferred(labelled: LabelledSet, rows: Sequence[Labelled]) -> SetFigure:
    places = {row.sample.id: place for place, row in enumerate(rows)}
    pairs = [each for each in labelled.pairs if each.first in places and each.second in places]
    first = np.array([places[each.first] for each in pairs], dtype=int)
    second = np.array([places[each.second] for each in pairs], dtype=int)
    towards = np.sign([each.value for each in pairs])

    def preferred(values: Array) -> Figure:
        agreed = towards * np.sign(values[second] - values[first])
        return share((agreed + 1) / 2)

    return SetFigure(preferred, [rows[places[each.first]].source for each in pairs])


def goodness(metric: Metric[Any], value: float | None) -> float | None:
    """A score such that higher is better."""
    return None if value is None else value if metric.higher_is_better else -value


def with_gains(
    labelled: LabelledSet, measured: Sequence[tuple[Metric[Any], Records, PeopleCard]]
) -> tuple[PeopleCard, ...]:
    """The cards, each with what its metric has more than its other settings on the same items.

    Args:
        labelled: the set.
        measured: each way to ask, its records by sample id, and its card.
    """
    return tuple(
        card.model_copy(
            update={
                "gains": tuple(
                    _gain(labelled, metric, (records, others), other_card)
                    for other, others, other_card in measured
                    if other.name == metric.name and other.signature != metric.signature
                )
            }
        )
        for metric, records, card in measured
    )


def _gain(
    labelled: LabelledSet, metric: Metric[Any], ways: tuple[Records, Records], other: PeopleCard
) -> PairedGain:
    rows = [row for row in labelled.rows if all(way[row.sample.id].value is not None for way in ways)]
    figure, sources = set_figure(labelled, rows)
    first, second = (
        drawn(
            figure(np.array([goodness(metric, way[row.sample.id].value) for row in rows], dtype=float)),
            sources,
        )
        for way in ways
    )
    return PairedGain(
        over=other.metric,
        prompts=other.prompts,
        scored=other.n,
        n=len(sources),
        gain=Interval.of(first.less(second)),
    )
