"""Agreement of annotators, metrics and corrected verdicts: tables 2 to 4 of Oro et al. (2024)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._ceiling import Ceiling, asked_after_disagreement, ceilings
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._clusters import FEWEST_CLUSTERS, cluster_share
from ragmetrics_core.study._consensus import Consensus, Rule, consensus_of, rule_of
from ragmetrics_core.study._correlations import Correlation, correlate
from ragmetrics_core.study._detection import Detection, detect
from ragmetrics_core.study._intervals import Estimate, wilson_interval
from ragmetrics_core.study._labels import (
    HumanLabel,
    Judgement,
    LabelledUnit,
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
from ragmetrics_core.study._scores import Scores, measured_notes, short
from ragmetrics_core.wording import number_of

__all__ = [
    "Agreement",
    "Annotator",
    "Pair",
    "VerdictAccuracy",
    "measured_level",
    "study_agreement",
    "verdict_accuracy",
]

HUMAN = "people"

Value = bool | float | str


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


class VerdictAccuracy(NamedTuple):
    """How often people confirm the judge's verdicts; a verdict counts once, however many looked at it.

    Attributes:
        metric: the metric.
        right: the share of verdicts that people confirm.
        yes_right, no_right: the same where the judge says yes, and where it says no.
        n: how many verdicts of the judge people decided about.
        missing: how many statements people decided about on which the judge has no verdict.
        open: how many verdicts people do not agree about, by majority or by the adjudicator; left out.
    """

    metric: str
    right: Estimate
    yes_right: Estimate
    no_right: Estimate
    n: int
    missing: int
    open: int


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
    units = units_of(labels, name)
    notes: list[str] = []
    unknown: tuple[str, ...] = ()
    if scores is not None:
        unknown = tuple(sorted({unit.sample_id for unit in units if unit.sample_id not in scores.labels}))
        units = {unit: said for unit, said in units.items() if unit.sample_id in scores.labels}
        if not units:
            raise ConfigError(
                f"no labelled sample is in {scores.name}; the first labelled one is {unknown[0]!r}"
            )
        if unknown:
            shown = ", ".join(unknown[:3]) + (" ..." if len(unknown) > 3 else "")
            notes.append(
                f"{len(unknown)} labelled samples are not in {scores.name} and are left out: {shown}"
            )
    values = [value for said in units.values() for value in said.values()]
    chosen = level or measured_level(values)
    if chosen != "nominal" and any(isinstance(value, str) for value in values):
        raise ConfigError(f"the label {name!r} has texts: they can only be compared as --level nominal")
    clustering = Clustering() if scores is None else clustering_of([scores], cluster)
    if scores is None and cluster is not None:
        raise ConfigError("clusters are labels of a run's samples: name the run")
    notes += clustering.notes
    rule = consensus or rule_of(values, adjudicator=adjudicator)
    if rule != "majority" and any(isinstance(value, str) for value in values):
        raise ConfigError(
            f"the label {name!r} has texts, which have no {rule}: their consensus is a majority"
        )
    raters = sorted({rater for said in units.values() for rater in said if rater != adjudicator})
    agreed = consensus_of(units, adjudicator=adjudicator, rule=rule)
    still_open = sum(each.value is None for each in agreed.values())
    if still_open:
        notes.append(
            f"{still_open} of {len(units)} units have no majority and are left out of all comparisons with "
            "metrics: these are the hard ones, so that what is left makes a metric look better than it is"
            + ("" if any(isinstance(each, str) for each in values) else " (--consensus mean keeps them)")
        )
    if adjudicator is None and (third := asked_after_disagreement(units)):
        notes.append(
            f"{third} labelled only units on which the others disagree, as one who is asked to decide: "
            f"--adjudicator {third} takes the labels as such"
        )
    if adjudicator is not None and not any(adjudicator in said for said in units.values()):
        notes.append(f"nobody is called {adjudicator}: nothing was adjudicated")
    votes = [[value for rater, value in said.items() if rater != adjudicator] for said in units.values()]
    correlations, detections, absent = {}, {}, {}
    columns: dict[str, Mapping[str, float]] = {}
    names: tuple[str, ...] = ()
    lower: frozenset[str] = frozenset()
    whole = {
        unit.sample_id: each.value
        for unit, each in agreed.items()
        if unit.statement is None and unit.metric is None
    }
    human = {each: value for each, value in whole.items() if value is not None}
    if scores is not None:
        signatures = tuple(scores.metric(each) for each in metrics) if metrics else scores.metrics
        names = tuple(short(each, signatures) for each in signatures)
        notes += measured_notes([scores], signatures)
        lower = frozenset(short(each, signatures) for each in signatures if each in scores.lower_is_better)
        columns = {
            short_name: scores.values[each] for short_name, each in zip(names, signatures, strict=True)
        }
        numbers = {each: float(value) for each, value in human.items() if not isinstance(value, str)}
        if human and not numbers:
            notes.append(f"the label {name!r} has texts: no metric can be correlated with it")
        elif texts := len(human) - len(numbers):
            notes.append(
                f"the label {name!r} of {number_of(texts, 'sample')} is a text and no number, which "
                "correlations leave out"
            )
        correlations = _correlations({**({HUMAN: numbers} if numbers else {}), **columns}, clustering, seed)
        if correct_from is None:
            correct_from = likert_threshold(values)
        good = {each: is_good(value, at_least=correct_from) for each, value in human.items()}
        if human and any(value is None for value in good.values()):
            notes.append(
                "labels are neither good nor bad: say from which number on an answer is correct "
                "(--correct-from)"
            )
        else:
            detections = {
                short_name: _detection(column, good, short_name in lower, clustering, seed)
                for short_name, column in columns.items()
            }
        absent = {
            short_name: sum(each not in column for each in human) for short_name, column in columns.items()
        }
    people = {
        unit: {rater: value for rater, value in said.items() if rater != adjudicator}
        for unit, said in units.items()
    }
    of_units = clustering.clusters(unit.sample_id for unit in units)
    kappa_weights: Weights = "none" if chosen == "nominal" else weights
    return Agreement(
        run=scores.name if scores else None,
        label=name,
        level=chosen,
        annotators=tuple(_annotator(rater, units) for rater in raters),
        alpha=krippendorff_alpha(votes, level=chosen, clusters=of_units, seed=seed),
        pairs=tuple(
            _pair(one, other, units, kappa_weights, clustering, seed)
            for one, other in combinations(raters, 2)
        ),
        rule=rule,
        consensus=agreed,
        ceilings=ceilings(
            people,
            columns,
            rule=rule,
            correct_from=correct_from,
            lower_is_better=lower,
            clustering=clustering,
            seed=seed,
        ),
        correlations=correlations,
        detections=detections,
        correct_from=correct_from,
        metrics=names,
        absent=absent,
        unknown=unknown,
        verdicts=verdict_accuracy(judgements, adjudicator=adjudicator, clustering=clustering),
        lower_is_better=lower,
        cluster=clustering.by,
        notes=tuple(notes),
    )


def measured_level(values: Sequence[Value]) -> Level:
    """How values are compared by default: numbers and truth values by rank, texts only as equal or not."""
    return "nominal" if any(isinstance(value, str) for value in values) else "ordinal"


def verdict_accuracy(
    judgements: Sequence[Judgement],
    *,
    adjudicator: str | None = None,
    clustering: Clustering | None = None,
) -> tuple[VerdictAccuracy, ...]:
    """For each metric how often the judge's verdict is the consensus of the people who looked at it.

    The views of several people on one verdict are no independent trials: they are one. Nor are the verdicts
    on one answer: from 10 answers on the intervals are by answer, or by the clusters that answers have.
    """
    judges = {each.unit: each.judge for each in judgements}
    said: dict[LabelledUnit, dict[str, Value]] = {}
    for each in judgements:
        said.setdefault(each.unit, {})[each.by] = each.person
    agreed = consensus_of(said, adjudicator=adjudicator)
    found: list[VerdictAccuracy] = []
    for metric in dict.fromkeys(unit.metric or "" for unit in agreed):
        of_metric = [unit for unit in agreed if (unit.metric or "") == metric]
        closed = [unit for unit in of_metric if agreed[unit].value is not None]
        decided = [unit for unit in closed if judges[unit] is not None]
        is_right = {unit: judges[unit] == agreed[unit].value for unit in decided}
        found.append(
            VerdictAccuracy(
                metric,
                _share(is_right, decided, clustering),
                _share(is_right, [unit for unit in decided if judges[unit]], clustering),
                _share(is_right, [unit for unit in decided if not judges[unit]], clustering),
                n=len(decided),
                missing=len(closed) - len(decided),
                open=len(of_metric) - len(closed),
            )
        )
    return tuple(found)


def _share(
    is_right: Mapping[LabelledUnit, bool], units: Sequence[LabelledUnit], clustering: Clustering | None
) -> Estimate:
    clusters = None if clustering is None else clustering.clusters(unit.sample_id for unit in units)
    of = clusters or [unit.sample_id for unit in units]
    if FEWEST_CLUSTERS <= len(set(of)) < len(units):
        return cluster_share([is_right[unit] for unit in units], of)
    return wilson_interval(sum(is_right[unit] for unit in units), len(units))


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


def _correlations(
    columns: Mapping[str, Mapping[str, float]], clustering: Clustering, seed: int
) -> dict[tuple[str, str], Correlation]:
    found: dict[tuple[str, str], Correlation] = {}
    for one, other in combinations(columns, 2):
        both = [each for each in columns[one] if each in columns[other]]
        x, y = [columns[one][each] for each in both], [columns[other][each] for each in both]
        found[one, other] = correlate(x, y, clusters=clustering.clusters(both), seed=seed)
    return found


def _detection(
    column: Mapping[str, float],
    good: Mapping[str, bool | None],
    lower_is_better: bool,
    clustering: Clustering,
    seed: int,
) -> Detection:
    both = [each for each in good if each in column]
    values, correct = [column[each] for each in both], [bool(good[each]) for each in both]
    clusters = clustering.clusters(both)
    return detect(values, correct, lower_is_better=lower_is_better, clusters=clusters, seed=seed)


def counts_of(consensus: Mapping[LabelledUnit, Consensus]) -> Counter[str]:
    """How many units were agreed on in which way."""
    return Counter(each.how for each in consensus.values())
