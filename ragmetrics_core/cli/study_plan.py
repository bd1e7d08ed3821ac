"""`ragmetrics study plan`: how many samples and labels an answer needs, from a pilot run."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli.study_output import Alpha, Cluster, Format, OneTable, Out, emit, open_runs
from ragmetrics_core.cli.study_truth import FileLabelName, agreed_values
from ragmetrics_core.study import on_unit_scale, plan_study, plan_tables, scale_of

__all__ = ["plan"]


def plan(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The pilot run.", show_default=False)],
    metric: Annotated[str, typer.Option(help="The metric.")] = "faithfulness",
    width: Annotated[float, typer.Option(min=0.0001, help="Of the interval wanted, from end to end.")] = 0.1,
    difference: Annotated[float, typer.Option(min=0.0001, help="Of two runs, that is to be found.")] = 0.05,
    against: Annotated[
        Path | None, typer.Option(help="Another run of the same samples: how their differences spread.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="What people said of some samples: how many labels are needed.")
    ] = None,
    label: FileLabelName = None,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    as_format: Format = None,
    out: Out = None,
    table: OneTable = None,
) -> None:
    """Tell how many samples and labels a wanted width, or a difference to be found, needs."""
    pilot, *others = open_runs([run] if against is None else [run, against])
    known = None
    if labels is not None:
        values, _, said = agreed_values(pilot, labels, label=label, adjudicator=None)
        numbers = on_unit_scale(list(values.values()), scale=scale_of(said))
        known = dict(zip(values, numbers, strict=True))
    found = plan_study(
        pilot,
        metric,
        width=width,
        difference=difference,
        against=others[0] if others else None,
        labels=known,
        cluster=cluster,
        alpha=alpha,
    )
    emit(list(plan_tables(found)), as_format=as_format, out=out, table=table)
