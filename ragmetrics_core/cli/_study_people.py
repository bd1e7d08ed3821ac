"""Studies with human labels: `ragmetrics study agreement`, `estimate` and others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_labels import (
    Labelling,
    Labels,
    Source,
    good_values_in,
    on_one_scale,
    scale_ends,
)
from ragmetrics_core.cli._study_output import (
    Alpha,
    Plotted,
    Runs,
    Seed,
    Studied,
    StudyOutput,
    draw_shares,
    open_runs,
)
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.report.plots import draw_curves, draw_heat_map, draw_intervals
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    HUMAN,
    Agreement,
    CalibrationMethod,
    CalibrationStudy,
    Estimate,
    HumanLabel,
    Judgement,
    LabelledSet,
    QualityEstimate,
    Scores,
    agreement_tables,
    calibration_tables,
    compare_systems,
    corrected_verdicts,
    estimate_quality,
    estimate_tables,
    labelled_verdicts,
    matrix_tables,
    people_tables,
    plan_study,
    plan_tables,
    powered_runs,
    powered_tables,
    preference_tables,
    read_labelled,
    read_labels,
    read_scores,
    repeat_tables,
    study_agreement,
    study_matrix,
    study_people,
    study_preferences,
    study_repeats,
    study_systems,
    system_comparison_tables,
    system_tables,
    systems_of,
)
from ragmetrics_core.study import calibrate as run_calibration

__all__ = ["agreement", "calibrate", "correlations", "estimate", "pairwise", "plan", "systems"]

CorrectFrom = Annotated[
    float | None,
    typer.Option(help="Lowest label of a correct answer. Default: 4 on a scale of 1 to 5."),
]
Scale = Annotated[
    str | None,
    typer.Option(help="Minimum and maximum label, such as 1:5. Required if the labels do not show it."),
]
Width = Annotated[float, typer.Option(min=0.0001)]


@dataclass(frozen=True, kw_only=True)
class _Drawn(Plotted):
    """The same with the additional plots of agreement.

    Attributes:
        roc: Draw the ROC curves to this file (.svg or .png).
        calibration: Draw the calibration curves to this file (.svg or .png).
    """

    roc: Path | None = None
    calibration: Path | None = None


def agreement(
    labels: Labels,
    run: Annotated[Path | None, typer.Argument(metavar="RUN")] = None,
    *,
    how: Labelling,
    studied: Studied,
    output: _Drawn,
    level: Literal["nominal", "ordinal", "interval"] | None = None,
    weights: Literal["none", "linear", "quadratic"] = "quadratic",
    correct_from: CorrectFrom = None,
) -> None:
    """Measure agreement of people and of metrics with people.

    Reports Krippendorff's alpha and weighted kappa, the consensus and units without one, Spearman's and
    Kendall's correlations, and each metric as a detector of wrong answers. Corrections made with `ragmetrics
    correct` show how often the judge's verdicts are right. --plot draws a heat map of the correlations.

    Args:
        run: Folder of the run whose metrics are compared with people.
        level: Level of measurement of the labels. Default: nominal for texts, ordinal for all others.
        weights: Weights of kappa.
    """
    opened = None if run is None else Run.load(run)
    said, good = read_labels(labels), good_values_in(how.good)
    judgements: list[Judgement] = []
    if opened is not None:
        corrected = [key for key, outcome in opened.outcomes() if outcome.corrected]
        judgements += corrected_verdicts(opened.score(*key) for key in corrected)
        # only statements are labelled in their records
        labelled = {label.unit.sample_id for label in said if label.unit.statement is not None}
        records = (opened.scores(sample).values() for sample in opened.sample_ids if sample in labelled)
        every = chain.from_iterable(records)
        judgements += labelled_verdicts(every, said, label=how.label, good=good)
    settings: dict[str, Any] = {
        **vars(how),
        **vars(studied),
        "good": good,
        "level": level,
        "weights": weights,
    }
    settings |= {"correct_from": correct_from, "judgements": judgements}
    study = study_agreement(said, None if opened is None else read_scores(opened), **settings)
    tables = list(agreement_tables(study))
    short = [each for each in tables if each.name != "calibration" and (each.rows or each.name != "open")]
    more = {"roc": partial(_draw_roc, study), "calibration": partial(_draw_calibration, study)}
    output.show(tables, short, plot=partial(_draw_correlations, study), **more)


def correlations(
    runs: Runs, source: Source, studied: Studied, output: StudyOutput, *, matrix: bool = False
) -> None:
    """Show which metric agrees best with people.

    Uses one labelled set, or several. Reports Spearman's and Kendall's correlations with people, per set and
    averaged over the sets, and the difference of the correlations for each pair of metrics, by a paired
    bootstrap.

    Args:
        runs: Folder of a run for each labelled set.
        matrix: Correlate all metrics with each other, and with people if there are labels, as in the tables
            of Oro et al. (2024).
    """
    if matrix:
        has_labels = source.label is not None or source.labels is not None
        opened, said = _people(runs, source) if has_labels else (open_runs(runs), None)
        tables = list(matrix_tables(study_matrix(opened, said, **vars(studied))))
        output.show(tables, short=tables[:1])
        return
    output.show(people_tables(study_people(*_people(runs, source), **vars(studied))))


def pairwise(
    a: Path, b: Path, preferences: Path, studied: Studied, output: StudyOutput, *, label: str | None = None
) -> None:
    """Check scores of two systems against preferences of people.

    Args:
        a: Folder of the first system's run.
        b: Folder of the second system's run.
        preferences: CSV or JSON Lines with sample_id, annotator and value: above 0 if B's answer is better,
            below 0 if A's is; or a, b, tie.
        label: Label to use. Default: the file's only label.
    """
    first, second = open_runs([a, b])
    read = Labelling(label=label).units(preferences, kinds=("preference",))
    said = {unit.sample_id: values for unit, values in read.units.items()}
    output.show(preference_tables(study_preferences(first, second, said, **vars(studied))))


def systems(
    runs: Runs,
    source: Source,
    studied: Studied,
    output: StudyOutput,
    *,
    by: str | None = None,
    question: str | None = None,
) -> None:
    """Check whether a metric ranks systems as people do.

    Reports Kendall's correlation of the systems' means. With six or more systems, the intervals also
    hold for other systems and questions.

    Args:
        runs: Folder of a run for each system, of the same samples; or one run with --by.
        by: Label that names the system, if one run has several.
        question: With --by: label that identifies the question. Default: the question's text.
    """
    if by is not None and len(runs) > 1:
        raise ConfigError("--by is for one run with several systems; without it each run is a system")
    if question is not None and by is None:
        raise ConfigError("--question needs --by: several runs are matched by their samples' ids")
    if by is None and len(source.labels or ()) == 1 < len(runs):
        raise ConfigError(
            "each system's answers need their own labels: give one --labels for each run, in the same order"
        )
    opened, said = _people(runs, source)
    pairs = list(zip(opened, said, strict=True))
    if by is not None:
        pairs = systems_of(opened[0], said[0], by, question=question)
    output.show(system_tables(study_systems(pairs, **vars(studied))))


def estimate(
    run: RunFolder,
    labels: Labels,
    how: Labelling,
    output: Plotted,
    *,
    metric: str = "factual_correctness",
    scale: Scale = None,
    by: str | None = None,
    against: Path | None = None,
    against_labels: Path | None = None,
    cluster: str | None = None,
) -> None:
    """Estimate how people would rate all samples.

    Uses the scores of all samples and labels of some. Reports the prediction-powered mean, the classical mean
    (labels only) and the naive mean (scores only); with --by the comparison of slices, as `ragmetrics compare
    --by LABEL --people LABELS`, with --against the difference to another run.

    Args:
        metric: Metric that predicts the labels.
        by: Label whose values are slices to compare.
        against: Another run of the same samples, to compare with.
        against_labels: Annotations of the other run's answers to the same samples.
    """
    if (against is None) != (against_labels is None):
        raise ConfigError("--against and --against-labels go together: the other run and its labels")
    scores, *others = open_runs([run] if against is None else [run, against])
    files = [labels] if against_labels is None else [labels, against_labels]
    known = [how.agreed(*pair) for pair in zip([scores, *others], files, strict=True)]
    said, *rest = on_one_scale(known, scale)
    study = estimate_quality(scores, said, metric=metric, scale=scale_ends(known, scale), cluster=cluster)
    tables = [*estimate_tables(study)]
    if others:
        both = said, rest[0]
        tables += powered_tables(powered_runs(scores, others[0], both, metric=metric, cluster=cluster))
    if by is not None:
        systems = compare_systems([scores], by=by, people=[said], metrics=[metric], cluster=cluster)
        tables += system_comparison_tables(systems)
    output.show(tables, plot=partial(_draw_estimate, study))


def calibrate(
    labels: Annotated[
        Path,
        typer.Argument(
            help="Annotations: sample_id, annotator, value, and metric and statement for single verdicts; "
            "or labelled samples, as for probe --on."
        ),
    ],
    run: RunFolder,
    how: Labelling,
    output: Plotted,
    *,
    metric: str = "faithfulness",
    method: CalibrationMethod = "isotonic",
    card: Path | None = None,
    cluster: str | None = None,
    seed: Seed = 0,
) -> None:
    """Calibrate a judge's probabilities on people's labels.

    Fits a map from the probability of a verdict to the share that people confirm. Reports Brier score and
    expected calibration error before and after, cross-validated by source, and the calibration curve. Apply
    the card with --judge calibrated:CARD.json,JUDGE.

    Args:
        metric: Metric whose verdicts were labelled.
        method: isotonic (a rising curve, for hundreds of labels) or platt (a line for log odds, for fewer).
        card: Write the map to this .json file.
        cluster: Label of the run's samples that names their source. Default: the source of labelled samples;
            for annotations session, if samples have it, else each sample.
    """
    people = _people_in(labels, how)
    study = run_calibration(
        Run.load(run),
        people,
        metric=metric,
        method=method,
        label=how.label,
        good=good_values_in(how.good),
        adjudicator=how.adjudicator,
        cluster=cluster,
        seed=seed,
    )
    if card is not None:
        write_whole(card, study.card.model_dump_json(indent=1) + "\n")
        remarks().print(f"card written to {card}")
    output.show(calibration_tables(study), plot=partial(_draw_calibrated, study))


def plan(
    run: Path,
    how: Labelling,
    output: StudyOutput,
    *,
    metric: str = "faithfulness",
    width: Width = 0.1,
    difference: Width = 0.05,
    against: Path | None = None,
    labels: Path | None = None,
    scale: Scale = None,
    cluster: str | None = None,
    alpha: Alpha = 0.05,
) -> None:
    """Plan the samples, labels and votes of a study.

    Computes how many are needed for an interval width or a difference. Votes need a pilot run with --repeats
    or --full-repeats of 2 or more.

    Args:
        run: Folder of the pilot run.
        metric: Metric to plan for.
        width: Full width of the target interval.
        difference: Difference between two runs to detect.
        against: Another run of the same samples, to measure the spread of differences.
        labels: Annotations of some samples, to plan the number of labels.
    """
    pilot, *others = open_runs([run] if against is None else [run, against])
    known = None if labels is None else on_one_scale([how.agreed(pilot, labels)], scale)[0]
    settings: dict[str, Any] = {"width": width, "difference": difference, "cluster": cluster, "alpha": alpha}
    study = plan_study(pilot, metric, against=next(iter(others), None), labels=known, **settings)
    tables = list(plan_tables(study))
    try:
        tables.append(next(repeat_tables(study_repeats(Run.load(run), metrics=[pilot.metric(metric)]))))
    except ConfigError:
        remarks().print(
            "to plan votes per verdict, use a pilot run with --repeats 2 or more; to plan scores per sample, "
            "one with --full-repeats 2 or more"
        )
    output.show(tables)


def _people(runs: list[Path], source: Source) -> tuple[list[Scores], list[dict[str, float]]]:
    opened = open_runs(runs)
    return opened, [source.numbers(*pair) for pair in zip(opened, source.files(len(runs)), strict=True)]


def _people_in(labels: Path, how: Labelling) -> Sequence[HumanLabel] | LabelledSet:
    """Annotations, or labelled samples."""
    try:
        return read_labels(labels)
    except ConfigError as error:
        try:
            return read_labelled(labels, label=how.label, good=good_values_in(how.good))
        except (ConfigError, SampleError):
            raise error from None


def _draw_calibrated(study: CalibrationStudy, path: Path) -> None:
    curves = ("before", study.before), ("after", study.after)
    points = [(when, each.mean, each.correct) for when, bins in curves for each in bins]
    axes = "mean probability", "share of confirmed verdicts"
    draw_shares(points, path, title="Calibration", axes=axes, diagonal=True)


def _draw_estimate(study: QualityEstimate, path: Path) -> None:
    rows = [("prediction-powered", study.powered), ("classical", study.classical), ("naive", study.naive)]
    draw_intervals({study.metric: rows}, path, title="Mean quality", axis="as people judge it")


def _draw_correlations(study: Agreement, path: Path) -> None:
    if not study.correlations:
        raise ConfigError("there is no correlation to draw: give a run")
    columns = list(dict.fromkeys(name for pair in study.correlations for name in pair))
    known = {frozenset(pair): each.spearman.value for pair, each in study.correlations.items()}
    title = "Spearman's correlation" + (f" ({HUMAN}: {study.label})" if HUMAN in columns else "")
    cells = [[known.get(frozenset((one, other)), 1.0) for other in columns] for one in columns]
    draw_heat_map(columns, columns, cells, path, title=title)


def _draw_roc(study: Agreement, path: Path) -> None:
    known = [(name, each) for name, each in study.detections.items() if each.area.value is not None]
    curves = {f"{name} {detection.area.value:.2f}": detection.roc for name, detection in known}
    if not curves:
        raise ConfigError("there is no ROC curve to draw: it needs correct and wrong answers of a run")
    axes = "wrong answers passed", "correct answers passed"
    draw_curves(curves, path, title="Metrics as detectors of wrong answers", axes=axes, diagonal=True)


def _draw_calibration(study: Agreement, path: Path) -> None:
    points: list[tuple[str, float, Estimate]] = []
    for name, detection in study.detections.items():
        # the diagonal is where a score says how likely the answer is correct: 1 - score where lower is better
        turned = name in study.lower_is_better
        shown = f"1 - {name}" if turned else name
        points += ((shown, 1 - bin_.mean if turned else bin_.mean, bin_.correct) for bin_ in detection.bins)
    if not points:
        raise ConfigError(
            "there is no calibration curve to draw: it needs answers of a run that people judged"
        )
    axes = "mean score", "share of correct answers"
    draw_shares(points, path, title="Calibration", axes=axes, diagonal=True)
