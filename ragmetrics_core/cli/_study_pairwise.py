"""`ragmetrics study pairwise`: preferences between two systems' answers against the scores' differences."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._study_output import (
    AsJson,
    Cluster,
    Format,
    OneTable,
    Out,
    Seed,
    Wanted,
    emit,
    format_of,
    names,
    open_runs,
)
from ragmetrics_core.cli._study_truth import FileLabelName, units_of_file
from ragmetrics_core.study import preference_tables, study_preferences

__all__ = ["pairwise"]


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
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
) -> None:
    """Tell how well differences of scores go with people's preferences, beside people with each other."""
    as_format = format_of(as_format, as_json)
    first, second = open_runs([run_a, run_b])
    _, units = units_of_file(preferences, label)
    found = study_preferences(
        first,
        second,
        {unit.sample_id: values for unit, values in units.items()},
        metrics=names(metrics),
        cluster=cluster,
        seed=seed,
    )
    emit(list(preference_tables(found)), as_format=as_format, out=out, table=table)
