"""Calibration of a judge's probabilities on people's labels, cross-validated by source."""

import json
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.boundary.shapes import is_list, is_mapping
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import CalibrationCard, CalibrationFigure, is_unnamed
from ragmetrics_core.parsers import CONTRADICTED, NOT_MENTIONED, IsotonicMap, PlattMap, ProbabilityMap
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.scoring.probability_maps import isotonic_fit, platt_fit
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._consensus import consensus_of
from ragmetrics_core.study._detection import Bin, bin_places, calibration
from ragmetrics_core.study._estimates import Estimate, cluster_codes, mean_of
from ragmetrics_core.study._human_labels import (
    HumanLabel,
    LabelledUnit,
    Value,
    is_good,
    labelled_verdicts,
    read_units,
)
from ragmetrics_core.study._labelled_samples import LabelledSet
from ragmetrics_core.study._resampling import bootstrap
from ragmetrics_core.study._scores import read_scores
from ragmetrics_core.study._tables import Column, StudyTable, TableColumn, in_notebooks, plain_table, table_of

__all__ = ["CalibrationMethod", "CalibrationStudy", "calibrate", "calibration_tables"]

CalibrationMethod = Literal["isotonic", "platt"]

_FOLDS = 10
_BINS = 10
_CURVE = (
    *("when", "probability", TableColumn("n", "count"), TableColumn("mean", "number")),
    *(TableColumn("confirmed", "estimate"), "confirmed, with a mark at the mean"),
)
_MAP = TableColumn("probability", "number"), TableColumn("calibrated", "number")

Array = NDArray[np.float64]


class CalibrationError(NamedTuple):
    """A measure of the distance between probabilities and labels; 0 is best.

    Attributes:
        name: "Brier score", the mean squared difference, or "expected calibration error".
        before: of the judge's probabilities.
        after: of the calibrated ones, each from a fit without its source.
        change: after less before, on the same verdicts; below 0 is better.
    """

    name: Annotated[str, Column("error")]
    before: Estimate
    after: Estimate
    change: Estimate


@dataclass(frozen=True)
class CalibrationStudy:
    """A map for a judge's probabilities, with the error before and after.

    Attributes:
        card: the map with its origin, for `CalibratedJudge`.
        errors: Brier score and expected calibration error.
        before, after: share of confirmed verdicts by probability, in bins of equal width.
        notes: remarks for readers.
    """

    card: CalibrationCard
    errors: tuple[CalibrationError, ...]
    before: tuple[Bin, ...]
    after: tuple[Bin, ...]
    notes: tuple[str, ...] = ()


class _Pair(NamedTuple):
    """A verdict's probability, people's decision on it, and its source."""

    place: tuple[str, int]
    probability: float
    confirmed: bool
    source: Hashable


def calibrate(
    run: Run,
    labels: Sequence[HumanLabel] | LabelledSet,
    *,
    metric: str = "faithfulness",
    method: CalibrationMethod = "isotonic",
    label: str | None = None,
    good: Collection[str] = (),
    adjudicator: str | None = None,
    cluster: str | None = None,
    seed: int = 0,
) -> CalibrationStudy:
    """Calibrate a judge's probabilities on people's labels of verdicts.

    A label of a statement belongs to its verdict; a label of a sample belongs to the sample's verdict if the
    metric gives only one, such as faithfulness with granularity "answer". The reported map is fitted on all
    labels; the errors after calibration come from 10 fits, each without the sources that it is tested on.

    Args:
        run: a run of one judge that gives probabilities, without repeats.
        labels: people's labels, or a set of labelled samples that the run measured.
        metric: metric whose verdicts were labelled, by name or signature.
        method: "isotonic" (a rising step curve; for some hundred labels or more) or "platt" (a line for log
            odds; for fewer).
        label: name of the label; required if there are several.
        good: values that count as good; all others are then bad.
        adjudicator: annotator who decides if the others have no majority.
        cluster: label of the run's samples that names their source, or "none". Default: the set's source;
            else `session` if samples have it, else each sample.
        seed: random seed of the folds and the bootstrap.

    Raises:
        ConfigError: no labelled verdict has a probability, all labels are equal, there is only one source, or
            several judges decided.
    """
    if method not in get_args(CalibrationMethod):
        raise ConfigError(f"method must be isotonic or platt, not {method!r}")
    signature, judge = run.mean(metric).metric, run.judge
    if judge is None or is_unnamed(judge):
        raise ConfigError(
            "calibration needs a run whose judge has an identity: as_judge(function, identity=...)"
        )
    records = {record.sample_id: record for record in run.records(signature)}
    if isinstance(labels, LabelledSet):
        name, people, notes = labels.column, _of_set(labels, records), list[str]()
        source: Callable[[str], Hashable] = {row.sample.id: row.source for row in labels.rows}.__getitem__
    else:
        read = read_units(labels, label, good=good)
        name, notes = read.label, [*read.notes]
        people = _of_labels(read.label, read.units, labels, records, good=good, adjudicator=adjudicator)
        source = str
    if cluster is not None or not isinstance(labels, LabelledSet):
        clustering = clustering_of([read_scores(run)], cluster)
        notes += clustering.notes
        source = lambda sample_id: clustering.clusters([sample_id])[0]  # noqa: E731
    pairs, lacking = _pairs(people, records, source, signature)
    if lacking:
        notes.append(f"{lacking} labelled verdicts have no probability and are left out")
    _check(pairs, name)
    p, y = np.array([each.probability for each in pairs]), np.array([each.confirmed for each in pairs])
    codes = cluster_codes([each.source for each in pairs])
    sources = int(codes.max()) + 1
    folds = min(_FOLDS, sources)
    fold = (np.random.default_rng(seed).permutation(sources) % folds)[codes]
    q = np.empty_like(p)
    for number in range(folds):
        inside = fold == number
        fitted = _fitted(method, p[~inside], y[~inside])
        q[inside] = [fitted.calibrated(each) for each in p[inside].tolist()]
    errors = _errors(p, q, y, codes.tolist(), seed)
    brier, expected = (
        CalibrationFigure(**{when: getattr(each, when) for when in ("before", "after", "change")})
        for each in errors
    )
    card = CalibrationCard(
        judge=judge,
        metric=signature,
        prompts=_prompts(records[sample_id] for sample_id in dict.fromkeys(each.place[0] for each in pairs)),
        calibration=_fitted(method, p, y),
        label=name,
        labels=digest_of(
            json.dumps(sorted([*each.place, each.probability, each.confirmed] for each in pairs))
        ),
        n=len(pairs),
        confirmed=int(y.sum()),
        sources=sources,
        folds=folds,
        brier=brier,
        error=expected,
    )
    return CalibrationStudy(card, errors, calibration(p, y)[0], calibration(q, y)[0], tuple(notes))


def _of_set(labels: LabelledSet, records: dict[str, Record]) -> dict[tuple[str, int], bool]:
    """People's decision on each verdict, from labelled samples."""
    if labels.kind != "truth":
        raise ConfigError(
            f"calibration needs labels that are good or bad; {labels.column!r} has a {labels.kind}"
        )
    return _of_samples({row.sample.id: bool(row.label) for row in labels.rows}, records)


def _of_labels(
    name: str,
    units: Any,
    labels: Sequence[HumanLabel],
    records: dict[str, Record],
    *,
    good: Collection[str],
    adjudicator: str | None,
) -> dict[tuple[str, int], bool]:
    """People's decision on each verdict, from labels of statements and of samples."""
    of_name = [each for each in labels if each.label == name]
    votes: dict[LabelledUnit, dict[str, Value]] = {}
    for judgement in labelled_verdicts(records.values(), of_name, label=name, good=good):
        votes.setdefault(judgement.unit, {})[judgement.by] = judgement.person
    of_samples = {unit: said for unit, said in units.items() if unit.statement is None}
    decided: dict[LabelledUnit, bool] = {}
    for unit, each in consensus_of({**of_samples, **votes}, adjudicator=adjudicator).items():
        if each.value is None:
            continue
        decision = is_good(each.value)
        if decision is None:
            raise ConfigError(
                f"the label {name!r} of {unit.sample_id} is {each.value!r}, neither good nor bad: name the "
                "good values with --good"
            )
        decided[unit] = decision
    whole = {unit.sample_id: decision for unit, decision in decided.items() if unit.statement is None}
    people = _of_samples(whole, records)
    for unit, decision in decided.items():
        if unit.statement is not None:
            people[unit.sample_id, unit.statement] = decision
    return people


def _of_samples(decisions: dict[str, bool], records: dict[str, Record]) -> dict[tuple[str, int], bool]:
    """The decision on a sample, for its verdict if it is the only one."""
    alone = {
        sample_id: record.verdicts[0].number
        for sample_id, record in records.items()
        if len(record.verdicts) == 1
    }
    return {
        (sample_id, alone[sample_id]): good for sample_id, good in decisions.items() if sample_id in alone
    }


def _pairs(
    people: dict[tuple[str, int], bool],
    records: dict[str, Record],
    source: Callable[[str], Hashable],
    signature: str,
) -> tuple[list[_Pair], int]:
    """The labelled verdicts with a probability, and the number of those without one."""
    pairs: list[_Pair] = []
    lacking = 0
    for (sample_id, number), confirmed in people.items():
        verdict = next(each for each in records[sample_id].verdicts if each.number == number)
        if verdict.judge is not None or verdict.votes:
            raise ConfigError(
                f"several replies decided verdict {number} of {sample_id}: calibrate a run of one judge "
                "without repeats"
            )
        if verdict.label in (CONTRADICTED, NOT_MENTIONED):
            raise ConfigError(
                f"calibration is for verdicts of yes and no; {signature} has three-way verdicts"
            )
        if verdict.confidence is None:
            lacking += 1
        else:
            pairs.append(_Pair((sample_id, number), verdict.confidence, confirmed, source(sample_id)))
    if not people:
        raise ConfigError(
            f"no label belongs to a verdict of {signature}: label statements (sample_id, metric, statement), "
            "or samples of a metric with one verdict each, such as faithfulness(granularity=answer)"
        )
    if not pairs:
        raise ConfigError(
            f"no labelled verdict of {signature} has a probability: use a judge that gives one, such as "
            "embedded, grounded:MODEL or decisions:MODEL"
        )
    return pairs, lacking


def _check(pairs: Sequence[_Pair], label: str) -> None:
    if len({each.confirmed for each in pairs}) < 2:
        kind = "good" if pairs[0].confirmed else "bad"
        raise ConfigError(
            f"all {len(pairs)} verdicts with a label {label!r} are {kind}: calibration needs both"
        )
    if len({each.source for each in pairs}) < 2:
        raise ConfigError("all labelled verdicts are from one source: calibration needs two or more")


def _fitted(method: CalibrationMethod, p: Array, y: NDArray[np.bool_]) -> ProbabilityMap:
    if method == "isotonic":
        knots = isotonic_fit(p.tolist(), y.tolist())
        return IsotonicMap(inputs=knots.inputs, outputs=knots.outputs)
    line = platt_fit(p.tolist(), y.tolist())
    return PlattMap(slope=line.slope, intercept=line.intercept)


def _errors(
    p: Array, q: Array, y: NDArray[np.bool_], clusters: list[int], seed: int
) -> tuple[CalibrationError, CalibrationError]:
    squares = [(each - y) ** 2 for each in (p, q)]
    brier = (mean_of(each, clusters) for each in (*squares, squares[1] - squares[0]))
    gaps = [_gaps(each, y) for each in (p, q)]

    def of(figure: Callable[[Array], Array]) -> Estimate:
        return bootstrap(figure, clusters, seed=seed)

    expected = of(gaps[0]), of(gaps[1]), of(lambda weights: gaps[1](weights) - gaps[0](weights))
    return CalibrationError("Brier score", *brier), CalibrationError("expected calibration error", *expected)


def _gaps(p: Array, y: NDArray[np.bool_]) -> Callable[[Array], Array]:
    """The expected calibration error for rows of weights; see `calibration`."""
    inside = np.zeros((len(p), _BINS))
    inside[np.arange(len(p)), bin_places(p, _BINS)] = p - y
    return lambda weights: np.abs(weights @ inside).sum(axis=1) / weights.sum(axis=1)


def _prompts(records: Any) -> dict[str, str]:
    """The prompts whose replies have probabilities, with their digests."""
    prompts: dict[str, str] = {}
    for record in records:
        for step in record.generate_steps:
            verdicts = step.value.get("verdicts") if is_mapping(step.value) else None
            if is_list(verdicts) and any(is_mapping(each) and "probability" in each for each in verdicts):
                prompts[step.prompt] = step.prompt_digest
    return prompts


@in_notebooks
def calibration_tables(study: CalibrationStudy) -> Iterator[StudyTable]:
    """Tables of the errors, the calibration curve before and after, and the map."""
    card = study.card
    notes = (
        f"{card.n} verdicts of {card.metric} by {card.judge}, {card.confirmed} of them confirmed, from "
        f"{card.sources} sources",
        f"after: each verdict by one of {card.folds} fits without its source",
        "change below 0: calibration helps; with few labels, a calibration error is above 0 by chance",
        *study.notes,
    )
    title = f"Calibration ({card.calibration.method})"
    yield table_of("calibration", title, CalibrationError, study.errors, "name before after change", notes)
    rows = [
        (when, each.scores, each.n, each.mean, each.correct, each.figure)
        for when, bins in (("before", study.before), ("after", study.after))
        for each in bins
    ]
    yield plain_table("curve", "Share of confirmed verdicts by probability", _CURVE, rows)
    places = [number / 10 for number in range(11)]
    mapped = [(each, card.calibration.calibrated(each)) for each in places]
    yield plain_table("map", "The map", _MAP, mapped)
