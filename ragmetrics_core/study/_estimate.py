"""The mean that people would give to all samples, from scores of all and labels of some."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._clustering import clustering_of
from ragmetrics_core.study._correction import corrected_share, judge_errors
from ragmetrics_core.study._intervals import Estimate
from ragmetrics_core.study._labels import Value
from ragmetrics_core.study._means import score_mean
from ragmetrics_core.study._parts import are_own, are_too_few, estimate
from ragmetrics_core.study._powered import labelled_values
from ragmetrics_core.study._scores import LeftOut, Scores, measured_notes
from ragmetrics_core.study._tables import StudyTable, counted, table_of
from ragmetrics_core.wording import number_of

__all__ = ["QualityEstimate", "estimate_quality", "estimate_tables", "on_unit_scale", "scale_of"]


@dataclass(frozen=True, kw_only=True)
class QualityEstimate:
    """Three estimates of the mean quality as people judge it.

    Attributes:
        metric: the metric that predicts the labels; "1 - hallucination" where lower is better.
        naive: the mean score of all samples; its interval is of the scores, not of what people would say.
        classical: the mean label of the labelled samples.
        powered: the prediction-powered mean.
        weight: how much the scores are trusted: 0 is the classical estimate, 1 takes them as labels with
            their measured bias removed.
        labelled: how many samples have a score and a label.
        scored: how many have a score only.
        corrected: the mean corrected by the judge's errors, where labels and scores say yes or no.
        scale: the ends of the labels' scale, which are 0 and 1 here; None where the caller did not say.
        cluster: the label whose values are the clusters; None where samples are independent.
        saved: how many further labels the classical estimate would have needed for the same interval.
        left_out: samples without a score, by cause, and labels of samples without one.
        notes: what a reader should know.
    """

    metric: str
    naive: Estimate
    classical: Estimate
    powered: Estimate
    weight: float | None
    labelled: int
    scored: int
    saved: int | None
    corrected: Estimate | None = None
    scale: tuple[float, float] | None = None
    cluster: str | None = None
    left_out: LeftOut = ()
    notes: tuple[str, ...] = ()


def estimate_quality(
    scores: Scores,
    labels: Mapping[str, float],
    *,
    metric: str,
    scale: tuple[float, float] | None = None,
    cluster: str | None = None,
    level: float = 0.95,
) -> QualityEstimate:
    """Estimate the mean label of all samples that have a score.

    Where lower is better, what is left to the other end of the range is taken for the label: 1 - score.

    Args:
        scores: the run.
        labels: what people said of some samples, on the metric's scale.
        metric: a name or signature.
        scale: the ends of the scale that the labels were given on, to be told.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        level: confidence.

    Raises:
        ConfigError: the metric is unknown, fewer than two samples have a score and a label, or there are too
            few clusters.
    """
    signature = scores.metric(metric)
    name, values = scores.oriented(signature, scores.metrics)
    clustering = clustering_of([scores], cluster)
    known = labelled_values(values, labels, clustering)
    labelled, scored = known.counts
    if labelled < 2:
        raise ConfigError(
            f"{number_of(labelled, 'sample')} of {scores.name} with both a label and a value of {signature}"
            ": two are needed"
        )
    # Student's as the powered one, which is this one where the scores tell nothing
    classical, powered = estimate(known.by_labels, level=level), known.powered_mean(level=level)
    classical, powered = (each if each.width else Estimate(each.value) for each in (classical, powered))
    everything = known.by_scores
    naive = score_mean(everything.values, everything.clusters, ends=scores.ends(signature), level=level)
    notes = [*clustering.notes, *measured_notes([scores], [signature])]
    corrected: Estimate | None = None
    columns = [column.tolist() for column in (known.labels, known.predicted, known.rest)]
    if scored and {value for column in columns for value in column} <= {0.0, 1.0}:
        people, judge, rest = ([bool(each) for each in column] for column in columns)
        try:
            corrected = corrected_share(people, judge, rest, everything.clusters, level=level)
        except ConfigError as error:
            notes.append(f"no mean corrected by the judge's errors: {error}")
        else:
            errors = judge_errors(people, judge, level=level)
            shares = [errors.sensitivity, errors.specificity]
            if not are_own(everything.clusters):  # their intervals are of samples on their own
                shares = [Estimate(each.value) for each in shares]
            notes.append(f"sensitivity {shares[0]}, specificity {shares[1]}, by the labels")
    if powered.low is None:
        notes.append(
            "the labelled samples are of too few clusters for an interval"
            if are_too_few(known.clusters[0])
            else "the labels do not vary: both together have no interval"
        )
    if labelled < 30:
        are = number_of(labelled, "sample is", "samples are")
        notes.append(f"only {are} labelled: the intervals take the mean to be about normal")
    if not scored:
        notes.append("every scored sample is labelled: the scores add nothing")
    notes += [
        "the labelled samples must be drawn at random from all: where people labelled the hard ones, no "
        "estimate here is right",
        "the intervals are of the population that the samples were drawn from, not of these samples alone, "
        "whose mean is known better",
    ]
    absent = Counter(
        scores.why_absent(signature, each) + (" though labelled" if each in labels else "")
        for each in scores.samples
        if each not in values
    )
    saved = None
    if classical.width and powered.width:
        saved = max(0, round(labelled * (classical.width / powered.width) ** 2) - labelled)
    return QualityEstimate(
        metric=name,
        naive=naive,
        classical=classical,
        powered=powered,
        weight=known.weight,
        labelled=labelled,
        scored=scored,
        saved=saved,
        corrected=corrected,
        scale=scale,
        cluster=clustering.by,
        left_out=tuple(absent.items()),
        notes=tuple(notes),
    )


class _Way(NamedTuple):
    estimate: str
    mean: Estimate
    labelled: int
    scored_only: int
    rests_on: str


def estimate_tables(quality: QualityEstimate) -> Iterator[StudyTable]:
    """Naive, classical and prediction-powered, beside each other."""
    notes: list[str] = []
    if quality.scale is not None:
        low, high = quality.scale
        notes.append(f"labels are read on the scale {low:g} to {high:g}, as 0 to 1")
    if quality.weight is not None:
        notes.append(f"the scores are trusted with weight {quality.weight:.2f}")
    if quality.saved:
        notes.append(f"for the same interval the classical estimate needs about {quality.saved} more labels")
    if quality.left_out:
        notes.append(f"left out: {counted(quality.left_out)}")
    labelled, scored = quality.labelled, quality.scored
    rows = [
        _Way("prediction-powered", quality.powered, labelled, scored, "labels and scores together"),
        _Way("classical", quality.classical, labelled, 0, "labels only"),
        _Way("naive", quality.naive, 0, labelled + scored, "scores taken for labels: biased as the judge is"),
    ]
    if quality.corrected is not None:
        rests_on = "scores of the others, corrected by the judge's errors on the labelled ones"
        rows.append(_Way("corrected", quality.corrected, labelled, scored, rests_on))
    title = f"Mean quality as people judge it, predicted by {quality.metric}"
    columns = "estimate mean labelled scored_only rests_on"
    yield table_of("estimate", title, _Way, rows, columns, (*notes, *quality.notes))


def on_unit_scale(values: Sequence[Value], *, scale: tuple[float, float] | None = None) -> list[float]:
    """Labels as numbers from 0 to 1, as scores are.

    Args:
        values: truth values, shares, or numbers on a scale.
        scale: its ends; without it those of `scale_of`.

    Raises:
        ConfigError: a value is a text or outside the scale, or the scale cannot be told.

    >>> on_unit_scale([1.0, 4.0, 5.0])
    [0.0, 0.75, 1.0]
    """
    low, high = scale_of(values) if scale is None else scale
    numbers = _numbers(values)
    outside = next((each for each in numbers if not low <= each <= high), None)
    if outside is not None:
        raise ConfigError(
            f"the label {outside:g} is outside the scale {low:g} to {high:g}: name its ends with --scale"
        )
    return [(each - low) / (high - low) for each in numbers]


def scale_of(values: Sequence[Value]) -> tuple[float, float]:
    """The ends of the scale of labels, where they tell it: 0 to 1, or 1 to 5 where somebody said 5.

    Raises:
        ConfigError: a value is a text, or the values do not tell their scale: ratings of 1 to 4 may be of
            1 to 4 or of 1 to 5, and all ones may be the best or the worst.

    >>> scale_of([0.0, 1.0]), scale_of([0.25, 0.5]), scale_of([2.0, 5.0])
    ((0.0, 1.0), (0.0, 1.0), (1.0, 5.0))
    """
    numbers = _numbers(values)
    if all(isinstance(each, bool) for each in values) or not set(numbers) <= {1, 2, 3, 4, 5}:
        return 0.0, 1.0
    if 5 in numbers:
        return 1.0, 5.0
    seen = f"{min(numbers):g} to {max(numbers):g}" if min(numbers) != max(numbers) else f"all {numbers[0]:g}"
    raise ConfigError(
        f"the labels are {seen}, which does not tell their scale: name its ends with --scale, as --scale 1:5"
    )


def _numbers(values: Sequence[Value]) -> list[float]:
    if texts := [value for value in values if isinstance(value, str)]:
        raise ConfigError(f"the label {texts[0]!r} is a text: a mean needs numbers or truth values")
    return [float(value) for value in values]
