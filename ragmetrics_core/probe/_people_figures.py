"""The figures of a card on people's labels, from records; no model is asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import Cascade
from ragmetrics_core.probe._baselines import BASELINES
from ragmetrics_core.probe._figures import replies_of
from ragmetrics_core.probe._people_card import (
    CardGroup,
    PairedGain,
    People,
    PeopleCard,
    Ranking,
    ReliabilityBin,
)
from ragmetrics_core.probe._savings import cheap_probabilities, savings_of
from ragmetrics_core.probe._weighted import (
    area,
    balanced_accuracy,
    fitted_threshold,
    halves,
    rounded,
    share,
    stored,
)
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    Figure,
    Labelled,
    LabelledSet,
    calibration,
    kendall_figure,
    krippendorff_alpha,
    spearman_figure,
)

__all__ = ["Measured", "card_of"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Records = Mapping[str, Record]
Measured = Sequence[tuple[Metric[Any], Records]]
"""Ways to ask, each with its records by sample id."""

_MOST_CLASSES = 16
LEAST = "least probable statement"


class _ScoredRows:
    """The rows of a set that several ways to ask gave a score.

    Attributes:
        rows: the rows.
        sources: of each item that the set counts; of each pair, where people compared two.
        labels: human label of each row, as a number.
        good: whether people call each row good; None if undecided.
    """

    def __init__(self, labelled: LabelledSet, *ways: Records) -> None:
        self.rows = [
            row for row in labelled.rows if all(way[row.sample.id].value is not None for way in ways)
        ]
        self.labels = np.array([float(row.label or 0) for row in self.rows])
        self.good: Flags | None = self.labels > 0 if labelled.kind == "truth" else None
        self._kind = labelled.kind
        places = {row.sample.id: place for place, row in enumerate(self.rows)}
        pairs = [pair for pair in labelled.pairs if pair.first in places and pair.second in places]
        self._sides = np.array([[places[pair.first], places[pair.second]] for pair in pairs], dtype=np.intp)
        self._towards = np.sign([pair.value for pair in pairs])
        items = [self.rows[places[pair.first]] for pair in pairs] if self._kind == "preference" else self.rows
        self.sources = [row.source for row in items]

    def figures(self, values: Array) -> dict[str, Figure]:
        """Agreement of a score with people, the main figure of the set first."""
        if self._kind == "rating":
            return _correlations(values, self.labels)
        if self._kind == "preference":
            first, second = values[self._sides.reshape(-1, 2).T]
            return {"preferred": share((self._towards * np.sign(second - first) + 1) / 2)}
        good, passed = self.labels > 0, self.passed(values)
        balanced = {} if passed is None else {"balanced": balanced_accuracy(passed, good)}
        return {"area": area(values, good), **balanced}

    def passed(self, values: Array) -> Flags | None:
        """Whether each row passes the other half's threshold; None if a half has one class only."""
        good, second, passed = self.labels > 0, halves(self.sources), np.zeros(len(values), dtype=bool)
        for half in (second, ~second):
            threshold = fitted_threshold(values[~half], good[~half])
            if threshold is None:
                return None
            passed[half] = values[half] >= threshold
        return passed


def card_of(
    labelled: LabelledSet,
    measured: Measured,
    place: int,
    run: Run,
    *,
    cascade: Cascade | None = None,
    **more: Any,
) -> PeopleCard:
    """The card of one way to ask, with what it has more than other settings of its metric on the same items.

    Args:
        labelled: the set.
        measured: the ways to ask.
        place: which of them it is.
        run: that the records are of.
        cascade: the judge, where it is one: what its cheap judge saves is part of the card.
        more: what goes onto the card as it is.
    """
    metric, records = measured[place]
    scored, every = _ScoredRows(labelled, records), list(records.values())
    rows, sources, n = scored.rows, scored.sources, len(scored.sources)
    kept = [records[row.sample.id] for row in rows]
    scores = _scores(labelled, metric, rows, kept)
    rankings: list[Ranking] = []
    main: Figure | None = None
    for name, values in scores.items():
        figures = scored.figures(values)
        fields = {key: stored(figure, sources) for key, figure in figures.items()}
        first = next(iter(figures.values()))
        if main is not None:
            fields["gain"] = stored(main, sources, less=first)
        main = main or first
        rankings.append(Ranking(name=name, n=n, **fields))
    if (good := scored.good) is not None:
        own, probable = scores[metric.name], scores.get(LEAST)
        more |= {"good": int(good.sum()), "groups": tuple(_groups(scored, own, good))}
        if labelled.question == "faithful":
            more["own"] = stored(balanced_accuracy(own >= metric.high, good), sources)
            if cascade is not None:
                cheap = [cheap_probabilities(record, cascade.cheap_identity).values() for record in kept]
                probable = np.array(list(map(min, cheap))) if cheap and all(cheap) else None
                more["savings"] = savings_of(kept, good, sources, cascade)
        if probable is not None:
            more |= _reliability(probable, good, sources)
    return PeopleCard(
        judge=run.judge or "",
        embedder=run.embedder,
        metric=metric.signature,
        prompts=_prompts(records),
        question=labelled.question,
        set_name=labelled.name,
        set_digest=labelled.digest,
        label=labelled.column,
        kind=labelled.kind,
        n=n,
        sources=len(set(sources)),
        source=labelled.source,
        dropped={name: count for name, count in labelled.dropped.items() if count},
        statuses=dict(sorted(Counter(record.status for record in every).items())),
        rankings=tuple(rankings),
        gains=tuple(
            _gain(labelled, metric, records, other, others)
            for other, others in measured
            if other.name == metric.name and other.signature != metric.signature
        ),
        people=_people(labelled),
        replies=replies_of(every),
        versions=every[0].versions,
        **more,
    )


def _gain(
    labelled: LabelledSet, metric: Metric[Any], records: Records, other: Metric[Any], others: Records
) -> PairedGain:
    scored = _ScoredRows(labelled, records, others)
    first, less = (
        next(iter(scored.figures(_goodness(metric, [way[row.sample.id] for row in scored.rows])).values()))
        for way in (records, others)
    )
    return PairedGain(
        over=other.signature,
        prompts=_prompts(others),
        scored=len(_ScoredRows(labelled, others).sources),
        n=len(scored.sources),
        gain=stored(first, scored.sources, less=less),
    )


def _prompts(records: Records) -> dict[str, str]:
    steps = [step for record in records.values() for step in record.generate_steps]
    return dict(sorted((step.prompt, step.prompt_digest) for step in steps))


def _goodness(metric: Metric[Any], records: Sequence[Record]) -> Array:
    """Scores such that higher is better."""
    sign = 1.0 if metric.higher_is_better else -1.0
    return np.array([sign * (record.value or 0.0) for record in records], dtype=float)


def _scores(
    labelled: LabelledSet, metric: Metric[Any], rows: Sequence[Labelled], kept: Sequence[Record]
) -> dict[str, Array]:
    """Every score of the items: the metric's own first."""
    columns: dict[str, list[Any]] = {}
    probabilities: list[list[Any]] = [
        [getattr(verdict, "confidence", None) for verdict in record.verdicts] for record in kept
    ]
    if kept and all(shares and None not in shares for shares in probabilities):
        # the lowest probability that a verdict gives its statement, where each verdict has one
        columns[LEAST] = [min(shares) for shares in probabilities]
    for name, baseline in BASELINES.items():
        columns[name] = [baseline(row.sample, labelled.question) for row in rows]
    # what another metric of the file lacks for some items is no figure of these items
    for name in dict.fromkeys(name for row in rows for name in row.published):
        if all(name in row.published for row in rows):
            columns[f"published {name}"] = [row.published[name] for row in rows]
    numbers = {name: np.array(column, dtype=float) for name, column in columns.items()}
    return {metric.name: _goodness(metric, kept), **numbers}


def _groups(scored: _ScoredRows, values: Array, good: Flags) -> list[CardGroup]:
    rows, passed = scored.rows, scored.passed(values)
    groups: list[CardGroup] = []
    for by, names in (("class", [row.kind for row in rows]), ("task", [row.task for row in rows])):
        present = sorted(set(names) - {""})
        for value in present if 1 < len(present) <= _MOST_CLASSES else ():
            inside = np.array([name == value for name in names], dtype=bool)
            sources = [rows[place].source for place in np.flatnonzero(inside).tolist()]
            fields = {} if passed is None else {"right": share((passed == good)[inside].astype(float))}
            if by == "task":
                fields["area"] = area(values[inside], good[inside])
            figures = {name: stored(figure, sources) for name, figure in fields.items()}
            n, of_good = int(inside.sum()), int(good[inside].sum())
            groups.append(CardGroup(by=by, value=value, n=n, good=of_good, **figures))
    return groups


def _reliability(values: Array, good: Flags, sources: Sequence[str]) -> dict[str, Any]:
    """Good items by probability, in tenths."""
    tenths, error = calibration(values, good)
    bins: list[ReliabilityBin] = []
    for tenth in tenths:
        inside = (values >= tenth.low) & ((values < tenth.high) | (tenth.high == 1.0))
        of_bin = [sources[place] for place in np.flatnonzero(inside).tolist()]
        is_good = stored(share(good[inside].astype(float)), of_bin)
        low, high, mean = round(tenth.low, 2), round(tenth.high, 2), round(tenth.mean, 3)
        bins.append(ReliabilityBin(low=low, high=high, n=tenth.n, mean=mean, good=is_good))
    return {"reliability": tuple(bins), "calibration": None if error is None else round(error, 4)}


def _people(labelled: LabelledSet) -> People | None:
    """Each person against the others."""
    several = [row for row in labelled.rows if len(row.votes) > 1]
    if len(several) < 2:
        return None
    is_rating = labelled.kind == "rating"
    units = [list(row.votes.values()) for row in several]
    pairs = [
        (vote, fmean(votes[:place] + votes[place + 1 :]), row.source)
        for row, votes in zip(several, units, strict=True)
        for place, vote in enumerate(votes)
    ]
    one, others, sources = zip(*(pair for pair in pairs if is_rating or pair[1] != 0.5), strict=True)
    x, y = np.array(one), np.array(others)
    figures = _correlations(x, y) if is_rating else {"balanced": balanced_accuracy(x > 0.5, y > 0.5)}
    return People(
        annotators=len({name for row in several for name in row.votes}),
        items=len(several),
        alpha=rounded(krippendorff_alpha(units, level="ordinal" if is_rating else "nominal").value),
        **{name: stored(figure, sources) for name, figure in figures.items()},
    )


def _correlations(x: Array, y: Array) -> dict[str, Figure]:
    return {"spearman": spearman_figure(x, y), "kendall": kendall_figure(x, y)}
