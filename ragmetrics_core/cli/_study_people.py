"""The studies of what people said: `ragmetrics study agreement`, `concordance`, `estimate` and others."""

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_output import (
    Alpha,
    Cluster,
    Runs,
    Seed,
    StudyAnswer,
    Wanted,
    names,
    open_runs,
)
from ragmetrics_core.cli._study_truth import (
    CorrectFrom,
    FileLabelName,
    Labelling,
    Labels,
    Scale,
    Source,
    agreed_values,
    correct_answers,
    on_one_scale,
    people_values,
    scale_ends,
    units_of_file,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_curves, draw_heat_map, draw_intervals
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    HUMAN,
    Agreement,
    Concordance,
    Judgement,
    QualityEstimate,
    Scores,
    agreement_tables,
    concordance_tables,
    corrected_verdicts,
    estimate_quality,
    estimate_tables,
    labelled_verdicts,
    people_tables,
    plan_study,
    plan_tables,
    powered_runs,
    powered_slices,
    powered_tables,
    preference_tables,
    read_labels,
    read_scores,
    repeat_tables,
    study_agreement,
    study_concordance,
    study_people,
    study_preferences,
    study_repeats,
    study_systems,
    system_tables,
    systems_of,
)

__all__ = ["agreement", "concordance", "correlations", "estimate", "pairwise", "plan", "systems"]


def concordance(
    runs: Runs,
    source: Source,
    correct_from: CorrectFrom = None,
    metrics: Annotated[
        str, typer.Option(help="Metrics, alone and together.")
    ] = "faithfulness,factual_correctness",
    above: Annotated[str, typer.Option(help="Thresholds to exceed: one, or one for each metric.")] = "0.7",
    below: Annotated[str, typer.Option(help="Thresholds to stay below, likewise.")] = "0.3",
    cluster: Cluster = None,
) -> StudyAnswer:
    """Tell how likely an answer is correct above, and wrong below, thresholds of metrics.

    By direct count and through Bayes' formula, with intervals. Without --label the samples' label "correct"
    says which answers are correct.
    """
    studies: list[Concordance] = []
    for scores, labels in zip(open_runs(runs), source.files(len(runs)), strict=True):
        truth = correct_answers(scores, source, labels, correct_from)
        studies.append(
            study_concordance(
                scores,
                truth.correct,
                label=truth.name,
                metrics=names(metrics),
                above=_numbers(above),
                below=_numbers(below),
                cluster=cluster,
            )
        )
    return StudyAnswer(concordance_tables(studies))


def agreement(
    labels: Labels,
    how: Labelling,
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]", help="The run whose metrics are compared with people.", show_default=False
        ),
    ] = None,
    metrics: Wanted = None,
    level: Annotated[
        Literal["nominal", "ordinal", "interval"] | None,
        typer.Option(help="How labels differ. Without it: ordinal, and nominal for texts."),
    ] = None,
    weights: Annotated[Literal["none", "linear", "quadratic"], typer.Option(help="Of kappa.")] = "quadratic",
    correct_from: CorrectFrom = None,
    cluster: Cluster = None,
    seed: Seed = 0,
) -> StudyAnswer:
    """Tell how people agree with each other, and metrics with people.

    Krippendorff's alpha and weighted kappa, the consensus and what is still open, Spearman's and Kendall's
    correlations, and each metric as a detector of wrong answers. Corrections made with `ragmetrics correct`
    say how often the judge's verdicts are right. --plot draws a heat map of the correlations.
    """
    opened = None if run is None else Run.load(run)
    said = read_labels(labels)
    judgements: list[Judgement] = []
    if opened is not None:
        corrected = [key for key, outcome in opened.outcomes() if outcome.corrected]
        judgements += corrected_verdicts(opened.score(*key) for key in corrected)
        # only statements are labelled in their records
        labelled = {each.unit.sample_id for each in said if each.unit.statement is not None}
        known = (opened.scores(each).values() for each in opened.sample_ids if each in labelled)
        judgements += labelled_verdicts(chain.from_iterable(known), said)
    study = study_agreement(
        said,
        None if opened is None else read_scores(opened),
        label=how.label,
        metrics=metrics,
        level=level,
        weights=weights,
        adjudicator=how.adjudicator,
        consensus=how.consensus,
        correct_from=correct_from,
        judgements=judgements,
        cluster=cluster,
        seed=seed,
    )
    tables = list(agreement_tables(study))
    drawn = {"plot": _draw_correlations, "roc": _draw_roc, "calibration": _draw_calibration}
    return StudyAnswer(
        tables,
        {name: partial(draw, study) for name, draw in drawn.items()},
        short=[each for each in tables if each.name != "calibration" and (each.name != "open" or each.rows)],
    )


def correlations(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="A run for each set that people labelled.", show_default=False),
    ],
    source: Source,
    metrics: Wanted = None,
    cluster: Cluster = None,
    seed: Seed = 0,
) -> StudyAnswer:
    """Tell which metric goes best with people, in one labelled set or over several.

    Spearman's and Kendall's correlations with people, set by set and averaged over the sets; and of each two
    metrics how much better one of them correlates, by a paired bootstrap.
    """
    opened, said = _people(runs, source)
    study = study_people(opened, said, metrics=metrics, cluster=cluster, seed=seed)
    return StudyAnswer(people_tables(study))


def pairwise(
    run_a: Annotated[Path, typer.Argument(metavar="A", help="One system's run.", show_default=False)],
    run_b: Annotated[Path, typer.Argument(metavar="B", help="The other's.", show_default=False)],
    preferences: Annotated[
        Path,
        typer.Argument(
            metavar="PREFERENCES",
            help="CSV or JSON lines with sample_id, annotator, value: above 0 where B's answer is better, "
            "below where A's is; or a, b, tie.",
            show_default=False,
        ),
    ],
    label: FileLabelName = None,
    metrics: Wanted = None,
    cluster: Cluster = None,
    seed: Seed = 0,
) -> StudyAnswer:
    """Tell how well differences of scores go with people's preferences."""
    first, second = open_runs([run_a, run_b])
    _, units = units_of_file(preferences, label)
    said = {unit.sample_id: values for unit, values in units.items()}
    study = study_preferences(first, second, said, metrics=metrics, cluster=cluster, seed=seed)
    return StudyAnswer(preference_tables(study))


def systems(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="A run for each system, of the same samples; or one run with --by.",
            show_default=False,
        ),
    ],
    source: Source,
    by: Annotated[
        str | None, typer.Option(help="One run with several systems: the label that names them.")
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            help="With --by: the label that tells questions apart. Without it: the question's text."
        ),
    ] = None,
    metrics: Wanted = None,
    cluster: Cluster = None,
    seed: Seed = 0,
) -> StudyAnswer:
    """Tell whether a metric ranks systems as people do: Kendall's correlation of the systems' means.

    With intervals for other systems and other questions, from six systems on.
    """
    if by is not None and len(runs) > 1:
        raise ConfigError("--by is for one run with several systems; without it each run is a system")
    if question is not None and by is None:
        raise ConfigError("--question goes with --by: runs are matched by their samples' ids")
    if by is None and source.labels is not None and 1 == len(source.labels) < len(runs):
        raise ConfigError(
            "each system's answers need labels of their own: one --labels for each run, in their order"
        )
    opened, said = _people(runs, source)
    pairs = list(zip(opened, said, strict=True))
    if by is not None:
        pairs = systems_of(opened[0], said[0], by, question=question)
    return StudyAnswer(system_tables(study_systems(pairs, metrics=metrics, cluster=cluster, seed=seed)))


def estimate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)],
    labels: Labels,
    how: Labelling,
    metric: Annotated[
        str, typer.Option(help="The metric that predicts what people say.")
    ] = "factual_correctness",
    scale: Scale = None,
    by: Annotated[
        str | None, typer.Option(help="A label whose values are slices: also how much these differ.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Another run of the same samples: also how much RUN is better.")
    ] = None,
    against_labels: Annotated[
        Path | None, typer.Option(help="What people said of the other run's answers to the same samples.")
    ] = None,
    cluster: Cluster = None,
) -> StudyAnswer:
    """Estimate the mean quality as people judge it, from scores of all samples and labels of some.

    The prediction-powered mean, beside the classical one (labels only) and the naive one (scores only). With
    --by also the differences between slices, with --against the difference to another run.
    """
    if (against is None) != (against_labels is None):
        raise ConfigError("--against and --against-labels go together: the other run and its labels")
    scores, *others = open_runs([run] if against is None else [run, against])
    paths = [labels] if against_labels is None else [labels, against_labels]
    known = [agreed_values(each, path, how) for each, path in zip([scores, *others], paths, strict=True)]
    said, *rest = on_one_scale(known, scale)
    ends = scale_ends(known, scale)
    study = estimate_quality(scores, said, metric=metric, scale=ends, cluster=cluster)
    tables = [estimate_tables(study)]
    if others:
        both = said, rest[0]
        tables.append(powered_tables(powered_runs(scores, others[0], both, metric=metric, cluster=cluster)))
    if by is not None:
        slices = powered_slices(scores, said, metric=metric, by=by, cluster=cluster)
        tables.append(powered_tables(slices))
    return StudyAnswer(chain.from_iterable(tables), {"plot": partial(_draw_estimate, study)})


def plan(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The pilot run.", show_default=False)],
    how: Labelling,
    metric: Annotated[str, typer.Option(help="The metric.")] = "faithfulness",
    width: Annotated[float, typer.Option(min=0.0001, help="Of the interval wanted, from end to end.")] = 0.1,
    difference: Annotated[float, typer.Option(min=0.0001, help="Of two runs, that is to be found.")] = 0.05,
    against: Annotated[
        Path | None, typer.Option(help="Another run of the same samples: how their differences spread.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="What people said of some samples: how many labels are needed.")
    ] = None,
    scale: Scale = None,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
) -> StudyAnswer:
    """Tell how many samples, labels and votes a wanted width, or a difference to be found, needs.

    Votes are told where the pilot run has --repeats or --full-repeats of 2 or more.
    """
    pilot, *others = open_runs([run] if against is None else [run, against])
    known = None
    if labels is not None:
        (known,) = on_one_scale([agreed_values(pilot, labels, how)], scale)
    study = plan_study(
        pilot,
        metric,
        width=width,
        difference=difference,
        against=others[0] if others else None,
        labels=known,
        cluster=cluster,
        alpha=alpha,
    )
    tables = list(plan_tables(study))
    try:
        tables.append(next(repeat_tables(study_repeats(Run.load(run), metrics=[pilot.metric(metric)]))))
    except ConfigError:
        remarks().print(
            "how many votes a verdict needs can be told of a run with --repeats 2 or more, how many scores a "
            "sample needs of one with --full-repeats 2 or more"
        )
    return StudyAnswer(tables)


def _people(runs: list[Path], source: Source) -> tuple[list[Scores], list[dict[str, float]]]:
    opened = open_runs(runs)
    files = source.files(len(runs))
    return opened, [people_values(each, source, path) for each, path in zip(opened, files, strict=True)]


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError:
        raise ConfigError(f"{text!r} is no number or list of numbers: write 0.7, or 0.7,0.8") from None


def _draw_estimate(study: QualityEstimate, path: Path) -> None:
    rows = [("prediction-powered", study.powered), ("classical", study.classical), ("naive", study.naive)]
    draw_intervals({study.metric: rows}, path, title="Mean quality", axis="as people judge it")


def _draw_correlations(study: Agreement, path: Path) -> None:
    if not study.correlations:
        raise ConfigError("there is no correlation to draw: name a run")
    columns = list(dict.fromkeys(name for pair in study.correlations for name in pair))
    known = {frozenset(pair): each.spearman.value for pair, each in study.correlations.items()}
    title = (
        f"Spearman's correlation ({HUMAN}: {study.label})" if HUMAN in columns else "Spearman's correlation"
    )
    cells = [
        [1.0 if one == other else known[frozenset((one, other))] for other in columns] for one in columns
    ]
    draw_heat_map(columns, columns, cells, path, title=title)


def _draw_roc(study: Agreement, path: Path) -> None:
    curves = {
        f"{name} {each.area.value:.2f}": each.roc
        for name, each in study.detections.items()
        if each.area.value is not None
    }
    if not curves:
        raise ConfigError("there is no ROC curve to draw: correct and wrong answers of a run are needed")
    axes = "wrong answers passed", "correct answers passed"
    draw_curves(curves, path, title="Metrics as detectors of wrong answers", axes=axes, diagonal=True)


def _draw_calibration(study: Agreement, path: Path) -> None:
    curves: dict[str, list[tuple[float, float]]] = {}
    bands: dict[str, list[tuple[float, float, float]]] = {}
    for name, each in study.detections.items():
        # the diagonal is where a score says how likely the answer is correct: 1 - score where lower is better
        turned = name in study.lower_is_better
        for bin_ in each.bins:
            at, (value, low, high) = (
                1 - bin_.mean if turned else bin_.mean,
                (end or 0.0 for end in bin_.correct),
            )
            curves.setdefault(f"1 - {name}" if turned else name, []).append((at, value))
            bands.setdefault(f"1 - {name}" if turned else name, []).append((at, low, high))
    if not curves:
        raise ConfigError(
            "there is no calibration curve to draw: answers of a run that people judged are needed"
        )
    axes = "mean score", "share of correct answers"
    draw_curves(curves, path, title="Calibration", axes=axes, diagonal=True, bands=bands)
