"""`ragmetrics study estimate`: what people would say of all samples, from labels of some."""

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
    emit,
    format_of,
    open_runs,
    save_plot,
)
from ragmetrics_core.cli._study_truth import (
    Adjudicator,
    ConsensusRule,
    FileLabelName,
    Labels,
    Scale,
    agreed_values,
    on_one_scale,
    scale_ends,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_intervals
from ragmetrics_core.study import (
    estimate_quality,
    estimate_tables,
    powered_runs,
    powered_slices,
    powered_tables,
)

__all__ = ["estimate"]


def estimate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.", show_default=False)],
    labels: Labels,
    metric: Annotated[
        str, typer.Option(help="The metric that predicts what people say.")
    ] = "factual_correctness",
    label: FileLabelName = None,
    adjudicator: Adjudicator = None,
    consensus: ConsensusRule = None,
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
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Estimate the mean quality as people judge it, from scores of all samples and labels of some.

    The prediction-powered mean, beside the classical one (labels only) and the naive one (scores only). With
    --by also the differences between slices, with --against the difference to another run.
    """
    as_format = format_of(as_format, as_json)
    if (against is None) != (against_labels is None):
        raise ConfigError("--against and --against-labels go together: the other run and its labels")
    scores, *others = open_runs([run] if against is None else [run, against])
    known = [
        agreed_values(each, path, label=label, adjudicator=adjudicator, consensus=consensus)
        for each, path in zip([scores, *others], [labels, against_labels], strict=False)
        if path is not None
    ]
    said, *rest = on_one_scale(known, scale)
    ends = scale_ends(known, scale)
    found = estimate_quality(scores, said, metric=metric, scale=ends, cluster=cluster)
    tables = list(estimate_tables(found))
    if others:
        tables += powered_tables(
            powered_runs(scores, others[0], (said, rest[0]), metric=metric, cluster=cluster)
        )
    if by is not None:
        slices = powered_tables(powered_slices(scores, said, metric=metric, by=by, cluster=cluster))
        tables += slices
    emit(tables, as_format=as_format, out=out, table=table)
    rows = [
        ("prediction-powered", found.powered),
        ("classical", found.classical),
        ("naive", found.naive),
    ]
    save_plot(
        lambda path: draw_intervals(
            {found.metric: rows}, path, title="Mean quality", axis="as people judge it"
        ),
        plot,
    )
