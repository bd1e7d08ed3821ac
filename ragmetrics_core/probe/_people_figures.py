"""The figures of a card on people's labels, from records; no model is asked."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.metrics import Metric
from ragmetrics_core.models._cascade import Cascade
from ragmetrics_core.probe._baselines import BASELINES, baseline
from ragmetrics_core.probe._by_source import (
    area,
    balanced_accuracy,
    fitted_threshold,
    gain_of,
    halves,
    share,
    stored,
)
from ragmetrics_core.probe._figures import replies_of
from ragmetrics_core.probe._labelled import Labelled, LabelledSet
from ragmetrics_core.probe._people_card import (
    CardGroup,
    PairedGain,
    People,
    PeopleCard,
    Ranking,
    ReliabilityBin,
)
from ragmetrics_core.probe._savings import cheap_probabilities, savings_of
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.study import Estimate
from ragmetrics_core.study._correlations import kendall_figure, spearman_figure
from ragmetrics_core.study._detection import calibration
from ragmetrics_core.study._reliability import krippendorff_alpha
from ragmetrics_core.study._resampling import Figure

__all__ = ["card_of", "with_gains"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Records = Mapping[str, Record]

_MOST_CLASSES = 16
LEAST = "least probable statement"


class _SourcesScored(NamedTuple):
    """What a set says of scores of some of its rows.

    Attributes:
        sources: of each item that it counts; of each pair, where people compared two.
        figures: from a score for each row to the figures, the one that the set gives first.
        good: which rows people call good; None where they did not say.
    """

    sources: Sequence[str]
    figures: Callable[[Array], dict[str, Figure]]
    good: Flags | None = None


def _scored(labelled: LabelledSet, rows: Sequence[Labelled]) -> _SourcesScored:
    sources = [row.source for row in rows]
    labels = np.array([float(row.label or 0) for row in rows])
    if labelled.kind == "rating":

        def correlations(values: Array) -> dict[str, Figure]:
            return {"spearman": spearman_figure(values, labels), "kendall": kendall_figure(values, labels)}

        return _SourcesScored(sources, correlations)
    if labelled.kind == "preference":
        places = {row.sample.id: place for place, row in enumerate(rows)}
        pairs = [pair for pair in labelled.pairs if pair.first in places and pair.second in places]
        first = np.array([places[pair.first] for pair in pairs], dtype=np.intp)
        second = np.array([places[pair.second] for pair in pairs], dtype=np.intp)
        towards = np.sign([pair.value for pair in pairs])

        def preferred(values: Array) -> dict[str, Figure]:
            return {"preferred": share((towards * np.sign(values[second] - values[first]) + 1) / 2)}

        return _SourcesScored([sources[place] for place in first], preferred)
    good, second_half = labels > 0, halves(sources)

    def figures(values: Array) -> dict[str, Figure]:
        passed = _passed(values, good, second_half)
        balanced = {} if passed is None else {"balanced": balanced_accuracy(passed, good)}
        return {"area": area(values, good), **balanced}

    return _SourcesScored(sources, figures, good)


def card_of(
    labelled: LabelledSet,
    metric: Metric[Any],
    records: Records,
    run: Run,
    *,
    date: str | None,
    cascade: Cascade | None = None,
) -> PeopleCard:
    """The card without time and cost.

    Args:
        labelled: the set.
        metric: what was measured.
        records: by sample id.
        run: that they are of.
        date: goes onto the card as it is.
        cascade: the judge, where it is one: what its cheap judge saves is part of the card.
    """
    rows = [row for row in labelled.rows if records[row.sample.id].value is not None]
    kept = [records[row.sample.id] for row in rows]
    scores, scored = _scores(labelled, metric, rows, kept), _scored(labelled, rows)
    steps = [step for record in records.values() for step in record.generate_steps]
    n, own = len(scored.sources), scores[metric.name]
    rankings: list[Ranking] = []
    main: Figure | None = None
    for name, values in scores.items():
        figures = scored.figures(values)
        fields = {each: stored(figure, scored.sources) for each, figure in figures.items()}
        first = next(iter(figures.values()), None)
        if main is not None and first is not None:
            fields["gain"] = gain_of(main, first, scored.sources)
        main = main or first
        rankings.append(Ranking(name=name, n=n, **fields))
    more: dict[str, Any] = {}
    if (good := scored.good) is not None:
        passed = _passed(own, good, halves(scored.sources))
        probable = scores.get(LEAST)
        more = {"good": int(good.sum()), "groups": _groups(rows, own, good, passed)}
        if labelled.question == "faithful":
            more["own"] = stored(balanced_accuracy(own >= metric.high, good), scored.sources)
            if cascade is not None:
                given = [cheap_probabilities(record, cascade.cheap_identity) for record in kept]
                probable = np.array([min(each.values()) for each in given]) if given and all(given) else None
                more["savings"] = savings_of(kept, good, scored.sources, cascade)
        if probable is not None:
            more |= _reliability(probable, good, scored.sources)
    return PeopleCard(
        judge=run.judge or "",
        embedder=run.embedder,
        metric=metric.signature,
        prompts=dict(sorted((step.prompt, step.prompt_digest) for step in steps)),
        question=labelled.question,
        set_name=labelled.name,
        set_digest=labelled.digest,
        label=labelled.column,
        kind=labelled.kind,
        n=n,
        sources=len(set(scored.sources)),
        source=labelled.source,
        dropped={name: count for name, count in labelled.dropped.items() if count},
        statuses=dict(sorted(Counter(record.status for record in records.values()).items())),
        rankings=tuple(rankings),
        people=_people(labelled),
        replies=replies_of([*records.values()]),
        versions=next(iter(records.values())).versions,
        date=date,
        **more,
    )


def with_gains(
    labelled: LabelledSet, measured: Sequence[tuple[Metric[Any], Records, PeopleCard]]
) -> tuple[PeopleCard, ...]:
    """The cards, each with what its metric has more than its other settings on the same items.

    Args:
        labelled: the set.
        measured: each way to ask, its records by sample id, and its card.
    """

    def gained(metric: Metric[Any], ways: tuple[Records, Records], other: PeopleCard) -> PairedGain:
        rows = [row for row in labelled.rows if all(way[row.sample.id].value is not None for way in ways)]
        scored = _scored(labelled, rows)
        n = len(scored.sources)
        columns = ([_goodness(metric, way[row.sample.id].value or 0.0) for row in rows] for way in ways)
        one, less = (next(iter(scored.figures(np.array(values)).values())) for values in columns)
        gain = gain_of(one, less, scored.sources)
        return PairedGain(over=other.metric, prompts=other.prompts, scored=other.n, n=n, gain=gain)

    return tuple(
        card.model_copy(
            update={
                "gains": tuple(
                    gained(metric, (records, others), other_card)
                    for other, others, other_card in measured
                    if other.name == metric.name and other.signature != metric.signature
                )
            }
        )
        for metric, records, card in measured
    )


def _goodness(metric: Metric[Any], value: float) -> float:
    """A score such that higher is better."""
    return value if metric.higher_is_better else -value


def _scores(
    labelled: LabelledSet, metric: Metric[Any], rows: Sequence[Labelled], kept: Sequence[Record]
) -> dict[str, Array]:
    """Every score of the items: the metric's own first."""
    scores: dict[str, Sequence[float]] = {
        metric.name: [_goodness(metric, record.value or 0.0) for record in kept]
    }
    # the lowest probability that a verdict gives its statement, where each verdict has one
    given = [[getattr(verdict, "confidence", None) for verdict in record.verdicts] for record in kept]
    if given and all(each and None not in each for each in given):
        scores[LEAST] = [min(float(one) for one in each if one is not None) for each in given]
    for name in BASELINES:
        scores[name] = [baseline(name, row.sample, labelled.question) for row in rows]
    # what another metric of the file lacks for some items is no figure of these items
    for name in dict.fromkeys(name for row in rows for name in row.published):
        if all(name in row.published for row in rows):
            scores[f"published {name}"] = [row.published[name] for row in rows]
    return {name: np.array(values, dtype=float) for name, values in scores.items()}


def _passed(values: Array, good: Flags, second: Flags) -> Flags | None:
    """Which items pass the threshold that the other half fitted; None when a half has one class only."""
    passed = np.zeros(len(values), dtype=bool)
    for half in (second, ~second):
        threshold = fitted_threshold(values[~half], good[~half])
        if threshold is None:
            return None
        passed[half] = values[half] >= threshold
    return passed


def _groups(
    rows: Sequence[Labelled], values: Array, good: Flags, passed: Flags | None
) -> tuple[CardGroup, ...]:
    groups: list[CardGroup] = []
    for by, names in (("class", [row.kind for row in rows]), ("task", [row.task for row in rows])):
        present = sorted(set(names) - {""})
        for value in present if 1 < len(present) <= _MOST_CLASSES else ():
            inside = np.array([name == value for name in names], dtype=bool)
            sources = [row.source for row, is_in in zip(rows, inside, strict=True) if is_in]
            right = None if passed is None else (passed == good)[inside].astype(float)
            groups.append(
                CardGroup(
                    by=by,
                    value=value,
                    n=int(inside.sum()),
                    good=int(good[inside].sum()),
                    area=stored(area(values[inside], good[inside]), sources) if by == "task" else None,
                    right=None if right is None else stored(share(right), sources),
                )
            )
    return tuple(groups)


def _reliability(values: Array, good: Flags, sources: Sequence[str]) -> dict[str, Any]:
    """Good items by probability, in tenths."""
    tenths, error = calibration(values, good)
    bins: list[ReliabilityBin] = []
    for tenth in tenths:
        inside = (values >= tenth.low) & ((values < tenth.high) | (tenth.high == 1.0))
        of_bin = [source for source, is_in in zip(sources, inside, strict=True) if is_in]
        bins.append(
            ReliabilityBin(
                low=round(tenth.low, 2),
                high=round(tenth.high, 2),
                n=tenth.n,
                mean=round(tenth.mean, 3),
                good=stored(share(good[inside].astype(float)), of_bin),
            )
        )
    return {"reliability": tuple(bins), "calibration": None if error is None else round(error, 4)}


def _people(labelled: LabelledSet) -> People | None:
    """Each person against the others."""
    shared = [row for row in labelled.rows if len(row.votes) > 1]
    if len(shared) < 2:
        return None
    is_rating = labelled.kind == "rating"
    units = [list(row.votes.values()) for row in shared]
    alpha = krippendorff_alpha(units, level="ordinal" if is_rating else "nominal").value
    against = [
        (vote, fmean(each for other, each in row.votes.items() if other != name), row.source)
        for row in shared
        for name, vote in row.votes.items()
    ]
    one, others, sources = zip(*(each for each in against if is_rating or each[1] != 0.5), strict=True)
    x, y = np.array(one), np.array(others)
    if is_rating:
        figures = {"spearman": spearman_figure(x, y), "kendall": kendall_figure(x, y)}
    else:
        figures = {"balanced": balanced_accuracy(x > 0.5, y > 0.5)}
    return People(
        annotators=len({name for row in shared for name in row.votes}),
        items=len(shared),
        alpha=Estimate(*(None if each is None else round(each, 4) for each in alpha)),
        **{name: stored(figure, sources) for name, figure in figures.items()},
    )
