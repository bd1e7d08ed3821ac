"""Agreement of annotators, metrics and corrected verdicts: tables 2 to 4 of Oro et al. (2024)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._ceiling import Ceiling, asked_after_disagreement, ceilings
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._consensus import Consensus, Rule, consensus_of, rule_of
from ragmetrics_core.study._correlations import Correlation
from ragmetrics_core.study._detection import Detection
from ragmetrics_core.study._labels import (
    HumanLabel,
    Judgement,
    LabelledUnit,
    Value,
    label_names,
    likert_threshold,
    units_of,
)
from ragmetrics_core.study._metric_agreement import MetricAgreement, metric_agreement
from ragmetrics_core.study._reliability import (
    Coefficient,
    Level,
    Weights,
    krippendorff_alpha,
    plain,
    weighted_kappa,
)
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._verdict_accuracy import VerdictAccuracy, verdict_accuracy

__all__ = [
    "Agreement",
    "Annotator",
    "Pair",
    "counts_of",
    "measured_level",
    "study_agreement",
]

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
        ceilings: each person, and each metric, against what the other people agree on.
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
    ceilings: tuple[Ceiling, ...] = ()
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
    notes: list[str] = []
    unknown: tuple[str, ...] = ()
    if scores is None and cluster is not None:
        raise ConfigError("clusters are labels of a run's samples: name the run")
    if scores is not None:
        units, unknown = _of_the_run(units, scores)
        if unknown:
            shown = ", ".join(unknown[:3]) + (" ..." if len(unknown) > 3 else "")
            notes.append(
                f"{len(unknown)} labelled samples are not in {scores.name} and are left out: {shown}"
            )
    values = [value for said in units.values() for value in said.values()]
    chosen = level or measured_level(values)
    rule = consensus or rule_of(values, adjudicator=adjudicator)
    _check_texts(values, name, chosen, rule)
    clustering = Clustering() if scores is None else clustering_of([scores], cluster)
    notes += clustering.notes
    agreed = consensus_of(units, adjudicator=adjudicator, rule=rule)
    notes += _doubts_about(units, agreed, adjudicator)
    found = MetricAgreement()
    if scores is not None:
        human = {
            unit.sample_id: each.value
            for unit, each in agreed.items()
            if unit.statement is None and unit.metric is None and each.value is not None
        }
        if correct_from is None:
            correct_from = likert_threshold(values)
        found = metric_agreement(
            scores,
            human,
            label=name,
            metrics=metrics,
            correct_from=correct_from,
            clustering=clustering,
            seed=seed,
        )
    people = {
        unit: {rater: value for rater, value in said.items() if rater != adjudicator}
        for unit, said in units.items()
    }
    raters = sorted({rater for said in people.values() for rater in said})
    of_units = clustering.clusters(unit.sample_id for unit in units)
    kappa_weights: Weights = "none" if chosen == "nominal" else weights
    return Agreement(
        run=scores.name if scores else None,
        label=name,
        level=chosen,
        annotators=tuple(_annotator(rater, units) for rater in raters),
        alpha=krippendorff_alpha(
            [[*said.values()] for said in people.values()], level=chosen, clusters=of_units, seed=seed
        ),
        pairs=tuple(
            _pair(one, other, units, kappa_weights, clustering, seed)
            for one, other in combinations(raters, 2)
        ),
        rule=rule,
        consensus=agreed,
        ceilings=ceilings(
            people,
            found.columns,
            rule=rule,
            correct_from=correct_from,
            lower_is_better=found.lower_is_better,
            clustering=clustering,
            seed=seed,
        ),
        correlations=found.correlations,
        detections=found.detections,
        correct_from=correct_from,
        metrics=found.names,
        absent=found.absent,
        unknown=unknown,
        verdicts=verdict_accuracy(judgements, adjudicator=adjudicator, clustering=clustering),
        lower_is_better=found.lower_is_better,
        cluster=clustering.by,
        notes=(*notes, *found.notes),
    )


def measured_level(values: Sequence[Value]) -> Level:
    """How values are compared by default: numbers and truth values by rank, texts only as equal or not."""
    return "nominal" if any(isinstance(value, str) for value in values) else "ordinal"


def _label(labels: Sequence[HumanLabel], label: str | None) -> str:
    names = label_names(labels)
    if not names:
        raise ConfigError("there are no labels")
    if label is None:
        first, *others = names
        if others:
            raise ConfigError(f"the file has several labels ({', '.join(names)}): name one with --label")
        return first
    if label not in names:
        raise ConfigError(f"there is no label {label!r}; there is {', '.join(names)}")
    return label


def _of_the_run(units: Units, scores: Scores) -> tuple[Units, tuple[str, ...]]:
    """The units whose samples the run has, and the ids of the samples that it does not have."""
    unknown = tuple(sorted({unit.sample_id for unit in units if unit.sample_id not in scores.labels}))
    known = {unit: said for unit, said in units.items() if unit.sample_id in scores.labels}
    if not known:
        raise ConfigError(f"no labelled sample is in {scores.name}; the first labelled one is {unknown[0]!r}")
    return known, unknown


def _check_texts(values: Sequence[Value], label: str, level: Level, rule: Rule) -> None:
    """Refuse to put texts in order, or to take their mean."""
    if not any(isinstance(value, str) for value in values):
        return
    if level != "nominal":
        raise ConfigError(f"the label {label!r} has texts: they can only be compared as --level nominal")
    if rule != "majority":
        raise ConfigError(
            f"the label {label!r} has texts, which have no {rule}: their consensus is a majority"
        )


def _doubts_about(
    units: Units, agreed: Mapping[LabelledUnit, Consensus], adjudicator: str | None
) -> Iterator[str]:
    """What a reader should know of the consensus."""
    if still_open := sum(each.value is None for each in agreed.values()):
        has_texts = any(isinstance(value, str) for said in units.values() for value in said.values())
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
    if adjudicator is not None and not any(adjudicator in said for said in units.values()):
        yield f"nobody is called {adjudicator}: nothing was adjudicated"


def _annotator(name: str, units: Mapping[LabelledUnit, Mapping[str, Value]]) -> Annotator:
    given = [said[name] for said in units.values() if name in said]
    note = f"always {plain(given[0])}" if len(given) > 1 and len(set(given)) == 1 else ""
    return Annotator(name, len(given), len(units) - len(given), note)


def _pair(
    one: str,
    other: str,
    units: Mapping[LabelledUnit, Mapping[str, Value]],
    weights: Weights,
    clustering: Clustering,
    seed: int,
) -> Pair:
    both = [unit for unit, said in units.items() if one in said and other in said]
    left, right = [units[unit][one] for unit in both], [units[unit][other] for unit in both]
    clusters = clustering.clusters(unit.sample_id for unit in both)
    return Pair(one, other, weighted_kappa(left, right, weights=weights, clusters=clusters, seed=seed))


def counts_of(consensus: Mapping[LabelledUnit, Consensus]) -> Counter[str]:
    """How many units were agreed on in which way."""
    return Counter(each.how for each in consensus.values())
