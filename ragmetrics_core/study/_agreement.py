"""Agreement of annotators, metrics and corrected verdicts: tables 2 to 4 of Oro et al. (2024)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._consensus import Consensus, Rule, asked_after_disagreement, consensus_of, rule_of
from ragmetrics_core.study._correlations import Correlation, correlate
from ragmetrics_core.study._detection import Detection, detect
from ragmetrics_core.study._labels import (
    HumanLabel,
    Judgement,
    LabelledUnit,
    Value,
    is_good,
    label_names,
    likert_threshold,
    units_of,
)
from ragmetrics_core.study._reliability import (
    Coefficient,
    Level,
    Weights,
    krippendorff_alpha,
    plain,
    weighted_kappa,
)
from ragmetrics_core.study._scores import Scores, measured_notes
from ragmetrics_core.study._tables import short
from ragmetrics_core.study._verdict_accuracy import VerdictAccuracy, verdict_accuracy
from ragmetrics_core.wording import number_of

__all__ = ["HUMAN", "Agreement", "study_agreement"]

HUMAN = "people"

Units = Mapping[LabelledUnit, Mapping[str, Value]]


class Annotator(NamedTuple):
    """One annotator: how many units were labelled and skipped, and why the labels tell nothing."""

    name: str
    labelled: int
    skipped: int
    note: str = ""


class Pair(NamedTuple):
    """Two annotators and their weighted kappa."""

    one: str
    other: str
    kappa: Coefficient


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Everything about agreement.

    Attributes:
        run: the run's name; None when there is none.
        label: what was labelled.
        level: how its values are compared.
        annotators: who labelled.
        alpha: Krippendorff's alpha of all of them.
        pairs: weighted kappa of each two.
        rule: what makes the consensus: "majority", "mean" or "median".
        consensus: what they agree on, by unit.
        correlations: each two of people and metrics; people are called "people".
        detections: each metric as a detector of answers that people call wrong.
        correct_from: from which number on people call an answer correct, where labels are numbers.
        metrics: the metrics' names.
        absent: for each metric how many agreed samples have no value.
        unknown: labels for samples that the run does not have.
        verdicts: the judge's verdicts against those of people.
        lower_is_better: those of the metrics whose low end is the good one.
        cluster: the label whose values are the clusters; None where samples are independent.
        notes: what a reader should know.
    """

    run: str | None
    label: str
    level: Level
    annotators: tuple[Annotator, ...]
    alpha: Coefficient
    pairs: tuple[Pair, ...]
    rule: Rule
    consensus: Mapping[LabelledUnit, Consensus]
    correlations: Mapping[tuple[str, str], Correlation]
    detections: Mapping[str, Detection]
    correct_from: float | None
    metrics: tuple[str, ...]
    absent: Mapping[str, int]
    unknown: tuple[str, ...]
    verdicts: tuple[VerdictAccuracy, ...] = ()
    lower_is_better: frozenset[str] = frozenset()
    cluster: str | None = None
    notes: tuple[str, ...] = ()


def study_agreement(
    labels: Sequence[HumanLabel],
    scores: Scores | None = None,
    *,
    label: str | None = None,
    metrics: Sequence[str] | None = None,
    level: Level | None = None,
    weights: Weights = "quadratic",
    adjudicator: str | None = None,
    consensus: Rule | None = None,
    correct_from: float | None = None,
    judgements: Sequence[Judgement] = (),
    cluster: str | None = None,
    seed: int = 0,
) -> Agreement:
    """How people agree with each other, and metrics with people.

    Args:
        labels: what people said.
        scores: the run whose metrics are compared with it; without it only people are compared.
        label: which label; needed where there are several.
        metrics: names or signatures; without it all of the run.
        level: how values differ; without it by number for numbers and truth values (ordinal), else nominal.
        weights: of kappa; texts count as nominal, whatever is given.
        adjudicator: the annotator who decides where the others have no majority.
        consensus: what makes the consensus; without it the mean of graded numbers, and the majority of all
            else and where there is an adjudicator.
        correct_from: from which number on an answer is correct; 4 on a scale of 1 to 5 without it.
        judgements: verdicts that people looked at.
        cluster: the label of the run's samples that says which belong together, or "none"; see
            `clustering_of`.
        seed: of the bootstrap.

    Raises:
        ConfigError: there is no label, there are several and none is named, there is none of that name, or
            no labelled sample is in the run.
    """
    name = _label(labels, label)
    units: Units = units_of(labels, name)
    unknown: tuple[str, ...] = ()
    clustering = Clustering()
    if scores is not None:
        units, unknown = _of_the_run(units, scores)
        clustering = clustering_of([scores], cluster)
    elif cluster is not None:
        raise ConfigError("clusters are labels of a run's samples: name the run")
    values = [value for votes in units.values() for value in votes.values()]
    # numbers and truth values are compared by rank, texts only as equal or not
    are_texts = any(isinstance(value, str) for value in values)
    measured_by = level or ("nominal" if are_texts else "ordinal")
    rule = consensus or rule_of(values, adjudicator=adjudicator)
    if are_texts and measured_by != "nominal":
        raise ConfigError(f"the label {name!r} has texts: they can only be compared as --level nominal")
    if are_texts and rule != "majority":
        raise ConfigError(
            f"the label {name!r} has texts, which have no {rule}: their consensus is a majority"
        )
    agreed = consensus_of(units, adjudicator=adjudicator, rule=rule)
    if scores is not None and correct_from is None:
        correct_from = likert_threshold(values)
    signatures: tuple[str, ...] = ()
    if scores is not None:
        signatures = tuple(scores.metric(each) for each in metrics) if metrics else scores.metrics
    names = {short(each, signatures): each for each in signatures}
    columns = {each: scores.values[signature] for each, signature in names.items()} if scores else {}
    lower = frozenset(each for each in names if scores and names[each] in scores.lower_is_better)
    human = {
        unit.sample_id: each.value
        for unit, each in agreed.items()
        if unit.statement is None and unit.metric is None and each.value is not None
    }
    good = {each: is_good(value, at_least=correct_from) for each, value in human.items()}
    numbers = {each: float(value) for each, value in human.items() if not isinstance(value, str)}
    with_people = {**({HUMAN: numbers} if numbers and scores else {}), **columns}
    votes_of_people = {
        unit: {rater: value for rater, value in votes.items() if rater != adjudicator}
        for unit, votes in units.items()
    }
    raters = sorted({rater for votes in votes_of_people.values() for rater in votes})
    kappa_weights: Weights = "none" if measured_by == "nominal" else weights
    clusters = clustering.clusters(unit.sample_id for unit in units) if clustering.by else ()
    return Agreement(
        run=scores.name if scores else None,
        label=name,
        level=measured_by,
        annotators=tuple(_annotator(rater, units) for rater in raters),
        alpha=krippendorff_alpha(
            [[*votes.values()] for votes in votes_of_people.values()],
            level=measured_by,
            clusters=clusters,
            seed=seed,
        ),
        pairs=tuple(
            _pair(one, other, units, kappa_weights, clustering, seed)
            for one, other in combinations(raters, 2)
        ),
        rule=rule,
        consensus=agreed,
        correlations={
            (one, other): _correlation(with_people[one], with_people[other], clustering, seed)
            for one, other in combinations(with_people, 2)
        },
        detections={
            each: _detection(column, good, each in lower, clustering, seed)
            for each, column in columns.items()
            if not good or None not in good.values()
        },
        correct_from=correct_from,
        metrics=tuple(names),
        absent={each: sum(one not in column for one in human) for each, column in columns.items()},
        unknown=unknown,
        verdicts=verdict_accuracy(judgements, adjudicator=adjudicator, clustering=clustering),
        lower_is_better=lower,
        cluster=clustering.by,
        notes=(
            *_unknown_note(unknown, scores),
            *clustering.notes,
            *_consensus_notes(units, agreed, adjudicator),
            *(measured_notes([scores], signatures) if scores else ()),
            *(_metric_notes(name, human, numbers, good) if scores else ()),
        ),
    )


def _label(labels: Sequence[HumanLabel], label: str | None) -> str:
    names = label_names(labels)
    if not names:
        raise ConfigError("there are no labels")
    first, *others = names
    if label is None and others:
        raise ConfigError(f"the file has several labels ({', '.join(names)}): name one with --label")
    if label not in (None, *names):
        raise ConfigError(f"there is no label {label!r}; there is {', '.join(names)}")
    return label or first


def _of_the_run(units: Units, scores: Scores) -> tuple[Units, tuple[str, ...]]:
    """The units whose samples the run has, and the ids of the samples that it does not have."""
    unknown = tuple(sorted({unit.sample_id for unit in units if unit.sample_id not in scores.labels}))
    known = {unit: votes for unit, votes in units.items() if unit.sample_id in scores.labels}
    if not known:
        raise ConfigError(f"no labelled sample is in {scores.name}; the first labelled one is {unknown[0]!r}")
    return known, unknown


def _unknown_note(unknown: Sequence[str], scores: Scores | None) -> Iterator[str]:
    if scores is not None and unknown:
        shown = ", ".join(unknown[:3]) + (" ..." if len(unknown) > 3 else "")
        yield f"{len(unknown)} labelled samples are not in {scores.name} and are left out: {shown}"


def _consensus_notes(
    units: Units, agreed: Mapping[LabelledUnit, Consensus], adjudicator: str | None
) -> Iterator[str]:
    """What a reader should know of the consensus."""
    if still_open := sum(each.value is None for each in agreed.values()):
        has_texts = any(isinstance(value, str) for votes in units.values() for value in votes.values())
        yield (
            f"{still_open} of {len(units)} units have no majority and are left out of all comparisons with "
            "metrics: these are the hard ones, so that what is left makes a metric look better than it is"
            + ("" if has_texts else " (--consensus mean keeps them)")
        )
    if adjudicator is None and (third := asked_after_disagreement(units)):
        yield (
            f"{third} labelled only units on which the others disagree, as one who is asked to decide: "
            f"--adjudicator {third} takes the labels as such"
        )
    if adjudicator is not None and not any(adjudicator in votes for votes in units.values()):
        yield f"nobody is called {adjudicator}: nothing was adjudicated"


def _metric_notes(
    label: str, human: Mapping[str, Value], numbers: Mapping[str, float], good: Mapping[str, bool | None]
) -> Iterator[str]:
    """What metrics cannot be compared with."""
    if human and not numbers:
        yield f"the label {label!r} has texts: no metric can be correlated with it"
    elif texts := len(human) - len(numbers):
        yield (
            f"the label {label!r} of {number_of(texts, 'sample')} is a text and no number, which "
            "correlations leave out"
        )
    if None in good.values():
        yield (
            "labels are neither good nor bad: say from which number on an answer is correct (--correct-from)"
        )


def _annotator(name: str, units: Units) -> Annotator:
    given = [votes[name] for votes in units.values() if name in votes]
    note = f"always {plain(given[0])}" if len(given) > 1 and len(set(given)) == 1 else ""
    return Annotator(name, len(given), len(units) - len(given), note)


def _pair(one: str, other: str, units: Units, weights: Weights, clustering: Clustering, seed: int) -> Pair:
    both = [unit for unit, votes in units.items() if one in votes and other in votes]
    left, right = [units[unit][one] for unit in both], [units[unit][other] for unit in both]
    clusters = clustering.clusters(unit.sample_id for unit in both) if clustering.by else ()
    return Pair(one, other, weighted_kappa(left, right, weights=weights, clusters=clusters, seed=seed))


def _correlation(
    one: Mapping[str, float], other: Mapping[str, float], clustering: Clustering, seed: int
) -> Correlation:
    both = [each for each in one if each in other]
    columns = [one[each] for each in both], [other[each] for each in both]
    return correlate(*columns, clusters=clustering.clusters(both), seed=seed)


def _detection(
    column: Mapping[str, float],
    good: Mapping[str, bool | None],
    lower_is_better: bool,
    clustering: Clustering,
    seed: int,
) -> Detection:
    both = [each for each in good if each in column]
    return detect(
        [column[each] for each in both],
        [bool(good[each]) for each in both],
        lower_is_better=lower_is_better,
        clusters=clustering.clusters(both),
        seed=seed,
    )
