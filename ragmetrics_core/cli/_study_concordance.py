"""`ragmetrics study concordance`: how likely an answer is correct when its scores are high."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._study_output import (
    AsJson,
    Cluster,
    Format,
    OneTable,
    Out,
    Plot,
    Seed,
    emit,
    format_of,
    names,
    open_runs,
    save_plot,
)
from ragmetrics_core.cli._study_truth import (
    Adjudicator,
    ConsensusRule,
    CorrectFrom,
    LabelFile,
    LabelName,
    correct_answers,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_heat_map
from ragmetrics_core.study import Concordance, concordance_tables, study_concordance

__all__ = ["concordance"]


def concordance(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.", show_default=False)
    ],
    label: LabelName = None,
    labels: LabelFile = None,
    adjudicator: Adjudicator = None,
    correct_from: CorrectFrom = None,
    consensus: ConsensusRule = None,
    metrics: Annotated[
        str, typer.Option(help="Metrics, alone and together.")
    ] = "faithfulness,factual_correctness",
    above: Annotated[str, typer.Option(help="Thresholds to exceed: one, or one for each metric.")] = "0.7",
    below: Annotated[str, typer.Option(help="Thresholds to stay below, likewise.")] = "0.3",
    coverage: Annotated[
        float, typer.Option(min=0, max=1, help="The least share of answers that the best thresholds select.")
    ] = 0.2,
    step: Annotated[float, typer.Option(min=0.01, max=0.5, help="Of the grid of thresholds.")] = 0.1,
    cluster: Cluster = None,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Tell how likely an answer is correct above, and wrong below, thresholds of metrics.

    By direct count and through Bayes' formula, with intervals; and which thresholds are best, checked on
    answers that the search has not seen. Without --label the samples' label "correct" says which answers
    are correct.
    """
    as_format = format_of(as_format, as_json)
    found: list[Concordance] = []
    for scores in open_runs(runs):
        truth = correct_answers(
            scores,
            label=label,
            labels=labels,
            adjudicator=adjudicator,
            correct_from=correct_from,
            consensus=consensus,
        )
        found.append(
            study_concordance(
                scores,
                truth.correct,
                label=truth.name,
                metrics=names(metrics) or (),
                above=_numbers(above),
                below=_numbers(below),
                minimum=coverage,
                step=step,
                cluster=cluster,
                seed=seed,
            )
        )
    tables = list(concordance_tables(found))
    if as_format in (None, "terminal") and out is None and table is None:
        tables = [each for each in tables if not each.name.startswith("grid")]
    emit(tables, as_format=as_format, out=out, table=table)
    save_plot(lambda path: _draw(found[0], path), plot)


def _draw(found: Concordance, path: Path) -> None:
    if len(found.metrics) != 2 or not found.grid:
        raise ConfigError("the plot is of the grid of two metrics")
    first = sorted({cell.thresholds[0] for cell in found.grid})
    second = sorted({cell.thresholds[1] for cell in found.grid})
    known = {cell.thresholds: cell.direct.value for cell in found.grid}
    draw_heat_map(
        [f"{found.metrics[0]} > {each:g}" for each in first],
        [f"{found.metrics[1]} > {each:g}" for each in second],
        [[known[one, other] for other in second] for one in first],
        path,
        title=f"P(correct) in {found.run}",
        low=0.0,
        high=1.0,
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(each) for each in text.split(","))
    except ValueError:
        raise ConfigError(f"{text!r} is no number or list of numbers: write 0.7, or 0.7,0.8") from None
