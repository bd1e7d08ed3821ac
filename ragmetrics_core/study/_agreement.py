"""Agreement of annotators, metrics and corrected verdicts: tables 2 to 4 of Oro et al. (2024)."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Unpack

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import Clustering
from ragmetrics_core.study._coefficients import Correlation, correlate
from ragmetrics_core.study._consensus import (
    Consensus,
    Rule,
    asked_after_disagreement,
    consensus_of,
    majority,
    rule_of,
)
from ragmetrics_core.study._detection import Bin, Detection, detect
from ragmetrics_core.study._estimates import Clusters, Estimate
from ragmetrics_core.study._frame import Frame, StudySettings, frame_of
from ragmetrics_core.study._human_labels import (
    HumanLabel,
    Judgement,
    LabelledUnit,
    Value,
    is_good,
    likert_threshold,
    read_units,
)
from ragmetrics_core.study._label_vocabulary import LabelKind
from ragmetrics_core.study._reliability import Level, Weights, krippendorff_alpha, plain, weighted_kappa
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import StudyTable, TableColumn, in_notebooks, plain_table, short, table_of
from ragmetrics_core.study._verdict_accuracy import VerdictAccuracy, verdict_accuracy

__all__ = ["HUMAN", "Agreement", "agreement_tables", "study_agreement"]

HUMAN = "people"

Units = Mapping[LabelledUnit, Mapping[str, Value]]


class AgreementFigure(NamedTuple):
    """A coefficient of agreement, or the number of units that one annotator labelled and skipped.

    Attributes:
        who: all annotators, two of them, or one.
        what: the coefficient, or "labels".
        value: value of the coefficient.
        n: number of units behind the coefficient, or labelled by the annotator.
        skipped: number of units that the annotator did not label.
        note: why there is no value or interval, or that the annotator always gave the same label.
    """

    who: str
    what: str
    value: Estimate | None
    n: int
    skipped: int | None
    note: str


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of annotators with each other and of metrics with annotators.

    Attributes:
        label: name of the label.
        figures: Krippendorff's alpha of all annotators, weighted kappa of each pair, and units per annotator.
        rule: rule for the consensus: "majority", "mean" or "median".
        consensus: consensus by unit.
        correlations: correlations between people ("people") and metrics, by pair.
        detections: each metric as a detector of answers that people call wrong.
        correct_from: lowest label of a correct answer, if labels are numbers.
        absent: number of samples with a consensus but without a value, by metric.
        verdicts: the judge's verdicts against those of people.
        lower_is_better: metrics for which lower is better.
        notes: remarks for readers.
    """

    label: str
    figures: tuple[AgreementFigure, ...]
    rule: Rule
    consensus: Mapping[LabelledUnit, Consensus]
    correlations: Mapping[tuple[str, str], Correlation]
    detections: Mapping[str, Detection]
    correct_from: float | None
    absent: Mapping[str, int]
    verdicts: tuple[VerdictAccuracy, ...]
    lower_is_better: frozenset[str]
    notes: tuple[str, ...]


def study_agreement(
    labels: Sequence[HumanLabel],
    scores: Scores | None = None,
    *,
    label: str | None = None,
    good: Collection[str] = (),
    level: Level | None = None,
    weights: Weights = "quadratic",
    adjudicator: str | None = None,
    consensus: Rule | None = None,
    correct_from: float | None = None,
    judgements: Sequence[Judgement] = (),
    **studied: Unpack[StudySettings],
) -> Agreement:
    """Measure how well people agree with each other, and metrics with people.

    Args:
        labels: human labels.
        scores: run whose metrics are compared with the labels; without it, only people are compared.
        label: name of the label; required if there are several.
        good: values that count as good; all others are then bad.
        level: level of measurement. Default: ordinal for numbers and truth values, else nominal. "nominal"
            also takes a label whose values are of several kinds.
        weights: weights of kappa; texts are always nominal.
        adjudicator: annotator who decides if the others have no majority.
        consensus: rule for the consensus. Default: the mean for graded numbers; the majority for all other
            labels, or with an adjudicator.
        correct_from: lowest label of a correct answer. Default: 4 on a scale of 1 to 5.
        judgements: verdicts that people checked.
        studied: `metrics`, `cluster` (a label of the run's samples) and `seed`; see `StudySettings`.

    Raises:
        ConfigError: the label is missing, unknown or ambiguous, its values are of several kinds, or no
            labelled sample is in the run.
    """
    kinds: list[LabelKind] = ["truth", "rating", "text"]
    if level == "nominal":
        kinds.append("mixed")
    read = read_units(labels, label, good=good, kinds=kinds)
    name, units = read.label, read.units
    notes, frame = [*read.notes], Frame((), Clustering(), studied.get("seed", 0), ())
    if scores is not None:
        unknown = sorted({unit.sample_id for unit in units} - scores.labels.keys())
        units = {unit: votes for unit, votes in units.items() if unit.sample_id in scores.labels}
        if not units:
            raise ConfigError(
                f"no labelled sample is in {scores.name}; the first labelled one is {unknown[0]!r}"
            )
        if unknown:
            shown = ", ".join(unknown[:3]) + (" ..." if len(unknown) > 3 else "")
            notes.append(
                f"{len(unknown)} labelled samples are not in {scores.name} and are left out: {shown}"
            )
        frame = frame_of([scores], **studied)
    elif studied.get("cluster") is not None:
        raise ConfigError("clusters are labels of a run's samples: name the run")
    values = [value for votes in units.values() for value in votes.values()]
    # numbers and truth values are compared by rank, texts only as equal or not
    are_texts = bool(read.reading.problem)
    level = level or ("nominal" if are_texts else "ordinal")
    rule = consensus or rule_of(values, adjudicator=adjudicator)
    if are_texts and level != "nominal":
        raise ConfigError(f"the label {name!r} has texts: use --level nominal")
    if are_texts and rule != "majority":
        raise ConfigError(
            f"the label {name!r} has texts, which have no {rule}: their consensus is a majority"
        )
    agreed = consensus_of(units, adjudicator=adjudicator, rule=rule)
    human = {
        unit.sample_id: each.value
        for unit, each in agreed.items()
        if unit.statement is None and unit.metric is None and each.value is not None
    }
    columns: dict[str, Mapping[str, float]] = {}
    lower = frozenset[str]()
    notes += [*frame.clustering.notes, *_consensus_notes(units, agreed, adjudicator, are_texts=are_texts)]
    correct: dict[str, bool | None] = {}
    correlated = columns
    if scores is not None:
        correct_from = likert_threshold(values) if correct_from is None else correct_from
        names = {metric: short(metric, frame.metrics) for metric in frame.metrics}
        columns = {short_name: scores.values[metric] for metric, short_name in names.items()}
        lower = frozenset(
            short_name for metric, short_name in names.items() if metric in scores.lower_is_better
        )
        correct = {each: is_good(value, at_least=correct_from) for each, value in human.items()}
        numbers = {each: float(value) for each, value in human.items() if not isinstance(value, str)}
        correlated = columns if are_texts or not numbers else {HUMAN: numbers, **columns}
        notes += frame.measured
        if are_texts:
            notes.append(f"the label {name!r} has texts: no metric can be correlated with it")
        elif None in correct.values():
            notes.append(
                "labels are neither good nor bad: give the lowest label of a correct answer (--correct-from)"
            )

    def correlation(one: Mapping[str, float], other: Mapping[str, float]) -> Correlation:
        both = [sample_id for sample_id in one if sample_id in other]
        x, clusters = frame.columns(one, both)
        return correlate(x, frame.columns(other, both)[0], clusters=clusters, seed=frame.seed)

    def detection(metric: str, column: Mapping[str, float]) -> Detection:
        both = [sample_id for sample_id in correct if sample_id in column]
        (values, clusters), truth = frame.columns(column, both), [bool(correct[name]) for name in both]
        is_lower = metric in lower
        return detect(values, truth, lower_is_better=is_lower, clusters=clusters, seed=frame.seed)

    pairs = combinations(correlated, 2)
    return Agreement(
        label=name,
        figures=tuple(_figures(units, adjudicator, level, weights, frame)),
        rule=rule,
        consensus=agreed,
        correlations={pair: correlation(*(correlated[column] for column in pair)) for pair in pairs},
        detections={}
        if None in correct.values()
        else {name: detection(name, columns[name]) for name in columns},
        correct_from=correct_from,
        absent={metric: sum(each not in column for each in human) for metric, column in columns.items()},
        verdicts=verdict_accuracy(judgements, adjudicator=adjudicator, clustering=frame.clustering),
        lower_is_better=lower,
        notes=tuple(notes),
    )


def _figures(
    units: Units, adjudicator: str | None, level: Level, weights: Weights, frame: Frame
) -> Iterator[AgreementFigure]:
    """Alpha of all annotators, kappa of each pair, and the number of units per annotator."""

    def clusters(of: Sequence[LabelledUnit]) -> Clusters:
        return frame.clustering.clusters(unit.sample_id for unit in of) if frame.clustering.by else ()

    of_rater: dict[str, dict[LabelledUnit, Value]] = {}
    for unit, votes in units.items():
        for rater, value in votes.items():
            if rater != adjudicator:
                of_rater.setdefault(rater, {})[unit] = value
    raters = sorted(of_rater)
    given = [[of_rater[rater][unit] for rater in of_rater if unit in of_rater[rater]] for unit in units]
    alpha = krippendorff_alpha(given, level=level, clusters=clusters([*units]), seed=frame.seed)
    yield AgreementFigure("all annotators", f"alpha ({level})", alpha.value, alpha.n, None, alpha.note)
    what, weights = ("kappa", "none") if level == "nominal" else ("weighted kappa", weights)
    for one, other in combinations(raters, 2):
        both = [unit for unit in units if unit in of_rater[one] and unit in of_rater[other]]
        left, right = ([of_rater[rater][unit] for unit in both] for rater in (one, other))
        kappa = weighted_kappa(left, right, weights=weights, clusters=clusters(both), seed=frame.seed)
        yield AgreementFigure(f"{one} and {other}", what, kappa.value, kappa.n, None, kappa.note)
    for rater in raters:
        labels = [*of_rater[rater].values()]
        note = f"always {plain(labels[0])}" if len(labels) > 1 and len(set(labels)) == 1 else ""
        yield AgreementFigure(rater, "labels", None, len(labels), len(units) - len(labels), note)


def _consensus_notes(
    units: Units, agreed: Mapping[LabelledUnit, Consensus], adjudicator: str | None, *, are_texts: bool
) -> Iterator[str]:
    """Notes on the consensus."""
    if still_open := sum(each.value is None for each in agreed.values()):
        yield (
            f"{still_open} of {len(units)} units have no majority and are left out of all comparisons with "
            "metrics: these are the hard ones, so that what is left makes a metric look better than it is"
            + ("" if are_texts else " (--consensus mean keeps them)")
        )
    if adjudicator is None and (third := asked_after_disagreement(units)):
        yield (
            f"{third} labelled only units on which the others disagree, as one who is asked to decide: "
            f"--adjudicator {third} takes the labels as such"
        )
    if adjudicator is not None and not any(adjudicator in votes for votes in units.values()):
        yield f"nobody is called {adjudicator}: nothing was adjudicated"


class _Correlated(NamedTuple):
    one: str
    other: str
    correlation: Correlation
    left_out: int | None


class _Detected(NamedTuple):
    metric: str
    detection: Detection


class _Binned(NamedTuple):
    metric: str
    bin: Bin


@in_notebooks
def agreement_tables(agreement: Agreement) -> Iterator[StudyTable]:
    """Tables of the agreement, without empty ones."""
    title = f"Agreement of annotators on {agreement.label}"
    columns = "who what value n skipped note"
    yield table_of("annotators", title, AgreementFigure, agreement.figures, columns, agreement.notes)
    counts = Counter[str](each.how for each in agreement.consensus.values())
    notes = [f"the consensus is the {agreement.rule} of those who labelled a unit"]
    if counts["open"]:
        notes.append(
            "what is open is left out of everything below, and listed for discussion in the table open"
        )
    order = ("unanimous", "majority", "mean", "median", "adjudicated", "single", "open")
    ways = ((how, counts[how]) for how in order if counts[how])
    yield plain_table("consensus", "Consensus", ["how", TableColumn("n", "count")], ways, notes)
    names = ", ".join(metric for metric in agreement.absent if metric in agreement.lower_is_better)

    def lower(what_follows: str) -> list[str]:
        """Note on metrics for which lower is better, if there are any."""
        return [f"lower is better: {names}; {what_follows}"] if names else []

    if agreement.correlations:
        correlated = [
            _Correlated(one, other, each, agreement.absent.get(other) if one == HUMAN else None)
            for (one, other), each in agreement.correlations.items()
        ]
        columns = "one other correlation.spearman correlation.kendall correlation.n left_out correlation.note"
        note = "people: their consensus; left out: agreed samples without a value of the metric"
        notes = [note, *lower("it should correlate negatively with people")]
        title = "Correlations with people, and among metrics"
        yield table_of("correlations", title, _Correlated, correlated, columns, notes)
    if detected := [_Detected(*each) for each in agreement.detections.items()]:
        least = agreement.correct_from
        note = (
            "area: the chance that a correct answer scores better than a wrong one; threshold: the best "
            "one (Youden); caught and passed: wrong answers beyond it, and correct ones that pass, of "
            "the answers that it was searched in, which flatter it"
        ) + ("" if least is None else f"; an answer is correct from {least:g} on")
        columns = (
            "metric detection.area detection.correct detection.wrong detection.threshold.at "
            "detection.threshold.caught detection.threshold.passed detection.note"
        )
        notes = [note, *lower("scores of at most the threshold pass")]
        title = "Metrics as detectors of wrong answers"
        yield table_of("detection", title, _Detected, detected, columns, notes)
        notes = [
            f"{metric}: expected calibration error {each.error:.3f}, Brier score {each.brier:.3f}"
            for metric, each in detected
            if each.error is not None
        ]
        notes += lower("error and Brier score are of 1 - score")
        binned = [_Binned(metric, bin_) for metric, each in detected for bin_ in each.bins]
        title, columns = "Share of correct answers by score", "metric bin.scores bin.mean bin.correct bin.n"
        yield table_of("calibration", title, _Binned, binned, columns, notes)
    if agreement.verdicts:
        notes = [
            "a verdict counts once, by the consensus of those who looked at it; open: they do not agree",
            "verdicts that people chose to correct are no random sample: see ragmetrics study annotate",
        ]
        title = "The judge's verdicts, by the people who looked at them"
        columns = "metric right yes_right no_right n missing open"
        yield table_of("verdicts", title, VerdictAccuracy, agreement.verdicts, columns, notes)
    undecided = (
        (unit.sample_id, unit.metric or "", unit.statement, votes)
        for unit, each in agreement.consensus.items()
        for votes in [", ".join(f"{name}: {plain(value)}" for name, value in each.said)]
        if each.value is None or (each.how in ("mean", "median") and majority(dict(each.said)) is None)
    )
    heads = "sample", "metric", TableColumn("statement", "count"), "said"
    yield plain_table("open", "For discussion: no majority", heads, undecided)
