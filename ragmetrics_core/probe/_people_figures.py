"""The figures of a card on people's labels, from records; no model is asked."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.metrics import Metric
from ragmetrics_core.models._cascade import Cascade
from ragmetrics_core.probe._baselines import BASELINES, baseline
from ragmetrics_core.probe._by_source import (
    Figure,
    Resampled,
    area,
    balanced_accuracy,
    clustered,
    drawn,
    fitted_threshold,
    halves,
    kendall_with,
    share,
    spearman_with,
)
from ragmetrics_core.probe._figures import replies_of
from ragmetrics_core.probe._labelled import Labelled, LabelledSet
from ragmetrics_core.probe._paired_gains import goodness, set_figure
from ragmetrics_core.probe._people_card import (
    CardGroup,
    Interval,
    People,
    PeopleCard,
    Ranking,
    ReliabilityBin,
    Saving,
)
from ragmetrics_core.probe._savings import cheap_probabilities, savings_of
from ragmetrics_core.record import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.study._detection import calibration
from ragmetrics_core.study._reliability import krippendorff_alpha

__all__ = ["card_of"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MOST_CLASSES = 16
LEAST = "least probable statement"


def card_of(
    labelled: LabelledSet,
    metric: Metric[Any],
    records: Mapping[str, Record],
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
    told = list(records.values())
    rows = [row for row in labelled.rows if records[row.sample.id].value is not None]
    scores = _scores(labelled, metric, rows, records)
    prompts = {step.prompt: step.prompt_digest for record in told for step in record.generate_steps}
    common: dict[str, Any] = {
        "judge": run.judge,
        "embedder": run.embedder,
        "metric": metric.signature,
        "prompts": dict(sorted(prompts.items())),
        "question": labelled.question,
        "set_name": labelled.name,
        "set_digest": labelled.digest,
        "label": labelled.column,
        "kind": labelled.kind,
        "source": labelled.source,
        "dropped": {name: count for name, count in labelled.dropped.items() if count},
        "statuses": dict(sorted(Counter(record.status for record in told).items())),
        "replies": replies_of(told),
        "versions": told[0].versions,
        "date": date,
        "people": _people(labelled),
    }
    sources = [row.source for row in rows]
    if labelled.kind == "preference":
        return PeopleCard(**common, **_preferred(labelled, rows, scores))
    if labelled.kind == "rating":
        ratings = np.array([float(row.label or 0) for row in rows])

        def correlations(values: Array) -> dict[str, Figure]:
            return {"spearman": spearman_with(values, ratings), "kendall": kendall_with(values, ratings)}

        rankings = _compared(scores, correlations, sources)
        return PeopleCard(**common, n=len(rows), sources=len(set(sources)), rankings=rankings)
    good = np.array([bool(row.label) for row in rows], dtype=bool)
    second = halves(sources)
    passed = {name: _passed(values, good, second) for name, values in scores.items()}

    def figures(values: Array) -> dict[str, Figure]:
        decided = _passed(values, good, second)
        balanced = None if decided is None else balanced_accuracy(decided, good)
        return {"area": area(values, good)} | ({"balanced": balanced} if balanced else {})

    first = next(iter(scores))
    decision = None
    probable = scores.get(LEAST)
    saved: tuple[Saving, ...] = ()
    if cascade is not None and labelled.question == "faithful":
        kept = [records[row.sample.id] for row in rows]
        probable = _least_of_cheap(kept, cascade)
        saved = savings_of(kept, good, sources, cascade)
    if labelled.question == "faithful":
        decision = Interval.of(clustered(balanced_accuracy(scores[first] >= metric.high, good), sources))
    return PeopleCard(
        **common,
        n=len(rows),
        good=int(good.sum()),
        sources=len(set(sources)),
        rankings=_compared(scores, figures, sources),
        own=decision,
        groups=_groups(rows, scores[first], good, passed[first]),
        savings=saved,
        **_reliability(probable, good, sources),
    )


def _scores(
    labelled: LabelledSet, metric: Metric[Any], rows: Sequence[Labelled], records: Mapping[str, Record]
) -> dict[str, Array]:
    """Every score of the items: the metric's own first."""
    kept = [records[row.sample.id] for row in rows]
    scores = {metric.name: [goodness(metric, record.value) for record in kept]}
    least = [_least_probable(record) for record in kept]
    if kept and None not in least:
        scores[LEAST] = least
    for name in BASELINES:
        scores[name] = [baseline(name, row.sample, labelled.question) for row in rows]
    # what another metric of the file lacks for some items is no figure of these items
    for name in dict.fromkeys(name for row in rows for name in row.published):
        if all(name in row.published for row in rows):
            scores[f"published {name}"] = [row.published[name] for row in rows]
    return {name: np.array(values, dtype=float) for name, values in scores.items()}


def _least_probable(record: Record) -> float | None:
    """The lowest probability that a verdict gives its statement; None where a verdict has none."""
    given: list[float | None] = [getattr(verdict, "confidence", None) for verdict in record.verdicts]
    known = [each for each in given if each is not None]
    return min(known) if known and len(known) == len(given) else None


def _least_of_cheap(records: Sequence[Record], cascade: Cascade) -> Array | None:
    """The lowest probability that the cheap judge of a cascade gives; None where an item has none."""
    given = [cheap_probabilities(record, cascade.cheap_identity) for record in records]
    return np.array([min(each.values()) for each in given]) if given and all(given) else None


def _compared(
    scores: Mapping[str, Array], figures: Callable[[Array], dict[str, Figure]], sources: Sequence[str]
) -> tuple[Ranking, ...]:
    """Each score with its figures, and what the first has more."""
    rankings: list[Ranking] = []
    first: Resampled | None = None
    for name, values in scores.items():
        made = {each: drawn(figure, sources) for each, figure in figures(values).items()}
        main = next(iter(made.values()))
        fields = {each: Interval.of(figure.estimate) for each, figure in made.items()}
        if first is not None:
            fields["gain"] = Interval.of(first.less(main))
        first = first or main
        rankings.append(Ranking(name=name, n=len(values), **fields))
    return tuple(rankings)


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
        if not 1 < len(present) <= _MOST_CLASSES:
            continue
        for value in present:
            inside = np.array([each == value for each in names], dtype=bool)
            sources = [row.source for row, is_in in zip(rows, inside, strict=True) if is_in]
            own_area = area(values[inside], good[inside]) if by == "task" else None
            right = None if passed is None else (passed == good)[inside].astype(float)
            groups.append(
                CardGroup(
                    by=by,
                    value=value,
                    n=int(inside.sum()),
                    good=int(good[inside].sum()),
                    area=Interval.of(clustered(own_area, sources)) if own_area else None,
                    right=Interval.of(clustered(share(right), sources)) if right is not None else None,
                )
            )
    return tuple(groups)


def _reliability(values: Array | None, good: Flags, sources: Sequence[str]) -> dict[str, Any]:
    """Good items by probability, in tenths; nothing without a probability."""
    if values is None:
        return {}
    tenths, error = calibration(values, good)
    bins: list[ReliabilityBin] = []
    for each in tenths:
        inside = (values >= each.low) & ((values < each.high) | (each.high == 1.0))
        of_bin = [source for source, is_in in zip(sources, inside, strict=True) if is_in]
        found = clustered(share(good[inside].astype(float)), of_bin)
        bins.append(
            ReliabilityBin(
                low=round(each.low, 2),
                high=round(each.high, 2),
                n=each.n,
                mean=round(each.mean, 3),
                good=Interval.of(found),
            )
        )
    return {"reliability": tuple(bins), "calibration": None if error is None else round(error, 4)}


def _preferred(
    labelled: LabelledSet, rows: Sequence[Labelled], scores: Mapping[str, Array]
) -> dict[str, Any]:
    ranked = set_figure(labelled, rows)
    rankings = _compared(scores, lambda values: {"preferred": ranked.of(values)}, ranked.sources)
    n = len(ranked.sources)
    sized = tuple(each.model_copy(update={"n": n}) for each in rankings)
    return {"n": n, "sources": len(set(ranked.sources)), "rankings": sized}


def _people(labelled: LabelledSet) -> People | None:
    """Each person against the others."""
    shared = [row for row in labelled.rows if len(row.votes) > 1]
    if len(shared) < 2:
        return None
    is_rating = labelled.kind == "rating"
    alpha = krippendorff_alpha(
        [list(row.votes.values()) for row in shared], level="ordinal" if is_rating else "nominal"
    )
    one: list[float] = []
    others: list[float] = []
    sources: list[str] = []
    for row in shared:
        for name, value in row.votes.items():
            mean = fmean(each for other, each in row.votes.items() if other != name)
            if is_rating or mean != 0.5:
                one.append(value)
                others.append(mean)
                sources.append(row.source)
    fields: dict[str, Interval] = {}
    x, y = np.array(one), np.array(others)
    if is_rating:
        fields["spearman"] = Interval.of(clustered(spearman_with(x, y), sources))
        fields["kendall"] = Interval.of(clustered(kendall_with(x, y), sources))
    else:
        fields["balanced"] = Interval.of(clustered(balanced_accuracy(x > 0.5, y > 0.5), sources))
    names = {name for row in shared for name in row.votes}
    return People(annotators=len(names), items=len(shared), alpha=Interval.of(alpha.value), **fields)
