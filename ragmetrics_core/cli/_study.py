"""`ragmetrics study`: from scores to what they mean."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ragmetrics_core.cli._study_annotate import annotate, annotations
from ragmetrics_core.cli._study_compare import compare
from ragmetrics_core.cli._study_funnel import funnel
from ragmetrics_core.cli._study_output import Plot, StudyAnswer, command_of
from ragmetrics_core.cli._study_people import (
    agreement,
    concordance,
    correlations,
    estimate,
    pairwise,
    plan,
    systems,
)
from ragmetrics_core.cli._study_runs import groups, repeats, retriever, trend

__all__ = ["study"]

study = typer.Typer(help="From scores to what they mean: groups, comparisons, agreement with people.")

_PLOT = {"plot": Plot}
_OF_METRICS = {
    "roc": Annotated[Path | None, typer.Option(help="Draw the ROC curves into this file.")],
    "calibration": Annotated[Path | None, typer.Option(help="Draw the calibration curves into this file.")],
}


class _Study(NamedTuple):
    """A study that answers in tables, and what it can draw."""

    answer: Callable[..., StudyAnswer]
    plots: Mapping[str, Any] = {}


# Each is a function from its options to tables; what has none stands for itself.
_STUDIES: tuple[_Study | Callable[..., None], ...] = (
    _Study(groups, _PLOT),
    compare,
    _Study(concordance),
    _Study(agreement, _PLOT | _OF_METRICS),
    _Study(correlations),
    _Study(pairwise),
    _Study(systems),
    _Study(estimate, _PLOT),
    _Study(plan),
    _Study(repeats),
    _Study(trend, _PLOT),
    _Study(retriever, _PLOT),
    funnel,
    annotate,
    _Study(annotations),
)

for each in _STUDIES:
    command = command_of(*each) if isinstance(each, _Study) else each
    study.command(no_args_is_help=False)(command)
