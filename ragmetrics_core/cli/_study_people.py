"""`ragmetrics study agreement`: people with each other, and metrics with people."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer

from ragmetrics_core.cli._study_output import (
    AsJson,
    Cluster,
    Format,
    OneTable,
    Out,
    Plot,
    Seed,
    Wanted,
    emit,
    format_of,
    names,
    save_plot,
)
from ragmetrics_core.cli._study_truth import (
    Adjudicator,
    ConsensusRule,
    CorrectFrom,
    FileLabelName,
    Labels,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_curves, draw_heat_map
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    HUMAN,
    Agreement,
    Judgement,
    agreement_tables,
    corrected_verdicts,
    labelled_verdicts,
    read_labels,
    read_scores,
    study_agreement,
)

__all__ = ["agreement"]


def agreement(
    labels: Labels,
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]", help="The run whose metrics are compared with people.", show_default=False
        ),
    ] = None,
    label: FileLabelName = None,
    metrics: Wanted = None,
    level: Annotated[
        Literal["nominal", "ordinal", "interval"] | None,
        typer.Option(help="How labels differ. Without it: ordinal, and nominal for texts."),
    ] = None,
    weights: Annotated[Literal["none", "linear", "quadratic"], typer.Option(help="Of kappa.")] = "quadratic",
    adjudicator: Adjudicator = None,
    consensus: ConsensusRule = None,
    correct_from: CorrectFrom = None,
    cluster: Cluster = None,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
    roc: Annotated[Path | None, typer.Option(help="Draw the ROC curves into this file.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="Draw the calibration curves into this file.")
    ] = None,
) -> None:
    """Tell how people agree with each other, and metrics with people.

    Krippendorff's alpha and weighted kappa, the consensus and what is still open, Spearman's and Kendall's
    correlations, and each metric as a detector of wrong answers. Corrections made with `ragmetrics correct`
    say how often the judge's verdicts are right. --plot draws a heat map of the correlations.
    """
    as_format = format_of(as_format, as_json)
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
    found = study_agreement(
        said,
        None if opened is None else read_scores(opened),
        label=label,
        metrics=names(metrics),
        level=level,
        weights=weights,
        adjudicator=adjudicator,
        consensus=consensus,
        correct_from=correct_from,
        judgements=judgements,
        cluster=cluster,
        seed=seed,
    )
    tables = list(agreement_tables(found))
    if as_format in (None, "terminal") and out is None and table is None:
        tables = [
            each for each in tables if each.name != "calibration" and (each.name != "open" or each.rows)
        ]
    emit(tables, as_format=as_format, out=out, table=table)
    save_plot(lambda path: _draw_correlations(found, path), plot)
    save_plot(lambda path: _draw_roc(found, path), roc)
    save_plot(lambda path: _draw_calibration(found, path), calibration)


def _draw_correlations(found: Agreement, path: Path) -> None:
    if not found.correlations:
        raise ConfigError("there is no correlation to draw: name a run")
    columns = list(dict.fromkeys(name for pair in found.correlations for name in pair))
    known = {pair: each.spearman.value for pair, each in found.correlations.items()}

    def value(one: str, other: str) -> float | None:
        return 1.0 if one == other else known.get((one, other), known.get((other, one)))

    draw_heat_map(
        columns,
        columns,
        [[value(one, other) for other in columns] for one in columns],
        path,
        title=f"Spearman's correlation ({HUMAN}: {found.label})"
        if HUMAN in columns
        else "Spearman's correlation",
    )


def _draw_roc(found: Agreement, path: Path) -> None:
    curves = {
        f"{name} {each.area.value:.2f}": each.roc
        for name, each in found.detections.items()
        if each.area.value is not None
    }
    if not curves:
        raise ConfigError("there is no ROC curve to draw: correct and wrong answers of a run are needed")
    axes = "wrong answers passed", "correct answers passed"
    draw_curves(curves, path, title="Metrics as detectors of wrong answers", axes=axes, diagonal=True)


def _draw_calibration(found: Agreement, path: Path) -> None:
    # the diagonal is where a score says how likely the answer is correct: 1 - score where lower is better
    turned = {name: name in found.lower_is_better for name in found.detections}
    named = {name: f"1 - {name}" if turned[name] else name for name in turned}
    at = {
        name: [1 - bin_.mean if turned[name] else bin_.mean for bin_ in each.bins]
        for name, each in found.detections.items()
    }
    curves = {
        named[name]: [(x, bin_.correct.value or 0.0) for x, bin_ in zip(at[name], each.bins, strict=True)]
        for name, each in found.detections.items()
        if each.bins
    }
    if not curves:
        raise ConfigError(
            "there is no calibration curve to draw: answers of a run that people judged are needed"
        )
    bands = {
        named[name]: [
            (x, bin_.correct.low or 0.0, bin_.correct.high or 0.0)
            for x, bin_ in zip(at[name], each.bins, strict=True)
        ]
        for name, each in found.detections.items()
    }
    axes = "mean score", "share of correct answers"
    draw_curves(curves, path, title="Calibration", axes=axes, diagonal=True, bands=bands)
