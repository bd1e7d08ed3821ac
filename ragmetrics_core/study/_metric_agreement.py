"""Metrics against what people agree on: correlations, and how well each detects answers that are wrong."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from ragmetrics_core.study._clustering import Clustering
from ragmetrics_core.study._correlations import Correlation, correlate
from ragmetrics_core.study._detection import Detection, detect
from ragmetrics_core.study._labels import Value, is_good
from ragmetrics_core.study._scores import Scores, measured_notes, short
from ragmetrics_core.wording import number_of

__all__ = ["HUMAN", "MetricAgreement", "metric_agreement"]

HUMAN = "people"


class MetricAgreement(NamedTuple):
    """Metrics beside what people agree on.

    Attributes:
        names: the metrics' names.
        columns: each metric's scores by sample id.
        correlations: each two of people and metrics; people are called "people".
        detections: each metric as a detector of answers that people call wrong.
        absent: for each metric how many agreed samples have no value.
        lower_is_better: those of the metrics whose low end is the good one.
        notes: what a reader should know.
    """

    names: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, float]] = {}
    correlations: Mapping[tuple[str, str], Correlation] = {}
    detections: Mapping[str, Detection] = {}
    absent: Mapping[str, int] = {}
    lower_is_better: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def metric_agreement(
    scores: Scores,
    human: Mapping[str, Value],
    *,
    label: str,
    metrics: Sequence[str] | None,
    correct_from: float | None,
    clustering: Clustering,
    seed: int,
) -> MetricAgreement:
    """How the metrics of a run agree with people.

    Args:
        scores: the run.
        human: what people agree on, by sample id.
        label: what they labelled.
        metrics: names or signatures; None for all of the run.
        correct_from: from which number on people call an answer correct.
        clustering: which samples belong together.
        seed: of the bootstrap.

    Raises:
        ConfigError: the run has no such metric.
    """
    signatures = tuple(scores.metric(each) for each in metrics) if metrics else scores.metrics
    names = tuple(short(each, signatures) for each in signatures)
    lower = frozenset(short(each, signatures) for each in signatures if each in scores.lower_is_better)
    columns = {name: scores.values[each] for name, each in zip(names, signatures, strict=True)}
    notes = [*measured_notes([scores], signatures)]
    numbers = {each: float(value) for each, value in human.items() if not isinstance(value, str)}
    if human and not numbers:
        notes.append(f"the label {label!r} has texts: no metric can be correlated with it")
    elif texts := len(human) - len(numbers):
        notes.append(
            f"the label {label!r} of {number_of(texts, 'sample')} is a text and no number, which "
            "correlations leave out"
        )
    good = {each: is_good(value, at_least=correct_from) for each, value in human.items()}
    neither = bool(human) and any(value is None for value in good.values())
    if neither:
        notes.append(
            "labels are neither good nor bad: say from which number on an answer is correct (--correct-from)"
        )
    detected = {} if neither else columns
    return MetricAgreement(
        names,
        columns,
        _correlations({**({HUMAN: numbers} if numbers else {}), **columns}, clustering, seed),
        {name: _detection(each, good, name in lower, clustering, seed) for name, each in detected.items()},
        {name: sum(each not in column for each in human) for name, column in columns.items()},
        lower,
        tuple(notes),
    )


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
