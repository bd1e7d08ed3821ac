"""`ragmetrics study plan`: how many samples and labels an answer needs, from a pilot run."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_output import (
    Alpha,
    AsJson,
    Cluster,
    Format,
    OneTable,
    Out,
    emit,
    format_of,
    open_runs,
)
from ragmetrics_core.cli._study_truth import (
    Adjudicator,
    ConsensusRule,
    FileLabelName,
    Scale,
    agreed_values,
    on_one_scale,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    plan_study,
    plan_tables,
    repeat_tables,
    study_repeats,
)

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
    adjudicator: Adjudicator = None,
    consensus: ConsensusRule = None,
    scale: Scale = None,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
) -> None:
    """Tell how many samples, labels and votes a wanted width, or a difference to be found, needs.

    Votes are told where the pilot run has --repeats or --full-repeats of 2 or more.
    """
    as_format = format_of(as_format, as_json)
    pilot, *others = open_runs([run] if against is None else [run, against])
    known = None
    if labels is not None:
        agreed = agreed_values(pilot, labels, label=label, adjudicator=adjudicator, consensus=consensus)
        (known,) = on_one_scale([agreed], scale)
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
    tables = list(plan_tables(found))
    try:
        votes = study_repeats(Run.load(run), metrics=[pilot.metric(metric)])
    except ConfigError:
        remarks().print(
            "how many votes a verdict needs can be told of a run with --repeats 2 or more, how many scores a "
            "sample needs of one with --full-repeats 2 or more"
        )
    else:
        tables += [next(repeat_tables(votes))]
    emit(tables, as_format=as_format, out=out, table=table)
