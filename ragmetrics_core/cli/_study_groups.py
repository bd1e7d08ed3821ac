"""`ragmetrics study groups`: means by a label and across runs."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._study_output import (
    Alpha,
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
    open_runs,
    save_plot,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_groups
from ragmetrics_core.study import (
    group_tables,
    study_groups,
)

__all__ = ["groups"]


def groups(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.", show_default=False)
    ],
    by: Annotated[
        str | None, typer.Option(help="The label that makes the groups, such as retrieval_correct.")
    ] = None,
    metrics: Wanted = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="The run that every other one is compared with; added if it is not given."),
    ] = None,
    correlate: Annotated[
        str | None,
        typer.Option(
            help="Two metrics to correlate in each group. Without it: faithfulness,factual_correctness."
        ),
    ] = None,
    one_sided: Annotated[
        bool,
        typer.Option(
            "--one-sided", help="Test good above bad where a label's two values mean that, as the paper does."
        ),
    ] = False,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Compare means: between values of a label, and between runs.

    Mean (s.d.) and n for each metric and group, Welch's t-test (two-sided, unless --one-sided), the
    Mann-Whitney test, Holm's adjustment over all tests and effect sizes. Marked in colour is what got better
    or worse against the baseline.
    """
    as_format = format_of(as_format, as_json)
    given = list(runs)
    if baseline is not None and baseline.resolve() not in {each.resolve() for each in given}:
        given.insert(0, baseline)
    opened = open_runs(given)
    of_path = {path.resolve(): scores.name for path, scores in zip(given, opened, strict=True)}
    pair = names(correlate)
    if pair is not None and len(pair) != 2:
        raise ConfigError("--correlate takes two metrics: faithfulness,factual_correctness")
    study = study_groups(
        opened,
        by=by,
        metrics=names(metrics),
        baseline=None if baseline is None else of_path[baseline.resolve()],
        pair=None if pair is None else (pair[0], pair[1]),
        alpha=alpha,
        one_sided=one_sided,
        cluster=cluster,
        seed=seed,
    )
    tables = list(group_tables(study))
    emit(tables, as_format=as_format, out=out, table=table)
    save_plot(lambda path: draw_groups(study, path), plot)
