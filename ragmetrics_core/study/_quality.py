"""The mean human label of all samples, from scores of all and labels of some."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study._estimates import Estimate, are_singletons, are_too_few, score_mean
from ragmetrics_core.study._frame import frame_of
from ragmetrics_core.study._judge_errors import corrected_share, judge_errors
from ragmetrics_core.study._powered import LabelledValues, few_notes, labelled_values
from ragmetrics_core.study._scores import LeftOut, Scores
from ragmetrics_core.study._tables import StudyTable, TableColumn, counted, in_notebooks, plain_table
from ragmetrics_core.texts.wording import number_of

__all__ = ["QualityEstimate", "estimate_quality", "estimate_tables"]


@dataclass(frozen=True)
class QualityEstimate:
    """Three estimates of the mean quality as people judge it.

    Attributes:
        metric: metric that predicts the labels; "1 - hallucination" if lower is better.
        naive: mean score of all samples; its interval covers the mean score, not the mean label.
        classical: mean label of the labelled samples.
        powered: prediction-powered mean.
        weight: weight of the scores: 0 is the classical estimate, 1 uses them as labels after removing their
            measured bias.
        labelled: number of samples with a score and a label.
        scored: number of samples with a score only.
        corrected: mean corrected by the judge's errors, if labels and scores are yes or no.
        scale: minimum and maximum of the labels' scale, which become 0 and 1; None if unknown.
        saved: number of further labels that the classical estimate needs for the same interval.
        left_out: samples without a score by cause, and labels of samples without a score.
        notes: remarks for readers.
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

    If lower is better, 1 - score predicts the label.

    Args:
        scores: the run.
        labels: human labels of some samples, on the metric's scale.
        metric: a name or signature.
        scale: minimum and maximum of the labels' original scale, for the notes.
        cluster: label whose values group dependent samples, or "none"; see `clustering_of`.
        level: confidence level.

    Raises:
        ConfigError: the metric is unknown, fewer than two samples have a score and a label, or there are too
            few clusters.
    """
    signature = scores.metric(metric)
    name, values = scores.oriented(signature, scores.metrics)
    frame = frame_of([scores], metrics=[signature], cluster=cluster)
    known = labelled_values(values, labels, frame.clustering)
    labelled, scored = known.counts
    if labelled < 2:
        raise ConfigError(
            f"{number_of(labelled, 'sample')} of {scores.name} with both a label and a value of {signature}"
            ": two are needed"
        )
    ends, everything = scores.ends(signature), known.by_scores
    classical, powered = (known.powered_mean(weight, level=level, ends=ends) for weight in (0.0, None))
    naive = score_mean(everything.values, everything.clusters, ends=ends, level=level)
    corrected, errors = _corrected(known, level)
    notes = [*frame.notes, *errors]
    if powered.low is None:
        notes.append(
            "the labelled samples are of too few clusters for an interval"
            if are_too_few(known.clusters[0])
            else "the labels do not vary: both together have no interval"
        )
    notes += few_notes(labelled)
    if not scored:
        notes.append("every scored sample is labelled: the scores add nothing")
    notes += [
        "the labelled samples must be drawn at random from all: where people labelled the hard ones, no "
        "estimate here is right",
        "the intervals are of the population that the samples were drawn from, not of these samples alone, "
        "whose mean is known better",
    ]
    absent = Counter(
        scores.why_absent(signature, sample_id) + (" though labelled" if sample_id in labels else "")
        for sample_id in scores.samples
        if sample_id not in values
    )
    saved = None
    if classical.width and powered.width:
        saved = max(0, round(labelled * (classical.width / powered.width) ** 2) - labelled)
    means, left_out = (naive, classical, powered), tuple(absent.items())
    return QualityEstimate(
        name, *means, known.weight, labelled, scored, saved, corrected, scale, left_out, tuple(notes)
    )


def _corrected(known: LabelledValues, level: float) -> tuple[Estimate | None, list[str]]:
    """The mean corrected by the judge's errors, if all values are yes or no, and a note on it."""
    columns = [column.tolist() for column in (known.labels, known.predicted, known.rest)]
    if not columns[-1] or not {value for column in columns for value in column} <= {0.0, 1.0}:
        return None, []
    people, judge, rest = ([bool(value) for value in column] for column in columns)
    clusters = known.by_scores.clusters
    try:
        corrected = corrected_share(people, judge, rest, clusters, level=level)
    except ConfigError as error:
        return None, [f"no mean corrected by the judge's errors: {error}"]
    shares = judge_errors(people, judge, level=level)[:2]
    if not are_singletons(clusters):  # their intervals are of samples on their own
        shares = Estimate(shares[0].value), Estimate(shares[1].value)
    return corrected, [f"sensitivity {shares[0]}, specificity {shares[1]}, by the labels"]


@in_notebooks
def estimate_tables(quality: QualityEstimate) -> Iterator[StudyTable]:
    """Table of the naive, classical and prediction-powered means."""
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
        ("prediction-powered", quality.powered, labelled, scored, "labels and scores together"),
        ("classical", quality.classical, labelled, 0, "labels only"),
        ("naive", quality.naive, 0, labelled + scored, "scores taken for labels: biased as the judge is"),
    ]
    if quality.corrected is not None:
        rests_on = "scores of the others, corrected by the judge's errors on the labelled ones"
        rows.append(("corrected", quality.corrected, labelled, scored, rests_on))
    title = f"Mean quality as people judge it, predicted by {quality.metric}"
    counts = (TableColumn(name, "count") for name in ("labelled", "scored only"))
    columns: tuple[str | TableColumn, ...] = "estimate", TableColumn("mean", "estimate"), *counts, "rests on"
    yield plain_table("estimate", title, columns, rows, (*notes, *quality.notes))
