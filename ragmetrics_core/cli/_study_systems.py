"""`ragmetrics study correlations` and `systems`: metrics against people, over samples and over systems."""

from collections.abc import Mapping
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
from ragmetrics_core.cli._study_truth import (
    Adjudicator,
    ConsensusRule,
    LabelFiles,
    LabelName,
    labels_of_runs,
    people_values,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    Rule,
    Scores,
    people_tables,
    study_people,
    study_systems,
    system_tables,
    systems_of,
)

__all__ = ["correlations", "systems"]


def correlations(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="A run for each set that people labelled.", show_default=False),
    ],
    label: LabelName = None,
    labels: LabelFiles = None,
    metrics: Wanted = None,
    adjudicator: Adjudicator = None,
    consensus: ConsensusRule = None,
    cluster: Cluster = None,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
) -> None:
    """Tell which metric goes best with people, in one labelled set or over several.

    Spearman's and Kendall's correlations with people, set by set and averaged over the sets; and of each two
    metrics how much better one of them correlates, by a paired bootstrap.
    """
    as_format = format_of(as_format, as_json)
    opened, said = _people(runs, label, labels, adjudicator, consensus)
    found = study_people(opened, said, metrics=names(metrics), cluster=cluster, seed=seed)
    emit(list(people_tables(found)), as_format=as_format, out=out, table=table)


def systems(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="A run for each system, of the same samples; or one run with --by.",
            show_default=False,
        ),
    ],
    by: Annotated[
        str | None, typer.Option(help="One run with several systems: the label that names them.")
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            help="With --by: the label that tells questions apart. Without it: the question's text."
        ),
    ] = None,
    label: LabelName = None,
    labels: LabelFiles = None,
    metrics: Wanted = None,
    adjudicator: Adjudicator = None,
    consensus: ConsensusRule = None,
    cluster: Cluster = None,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
) -> None:
    """Tell whether a metric ranks systems as people do: Kendall's correlation of the systems' means.

    With intervals for other systems and other questions, from six systems on.
    """
    as_format = format_of(as_format, as_json)
    if by is not None and len(runs) > 1:
        raise ConfigError("--by is for one run with several systems; without it each run is a system")
    if question is not None and by is None:
        raise ConfigError("--question goes with --by: runs are matched by their samples' ids")
    if by is None and labels is not None and 1 == len(labels) < len(runs):
        raise ConfigError(
            "each system's answers need labels of their own: one --labels for each run, in their order"
        )
    opened, said = _people(runs, label, labels, adjudicator, consensus)
    pairs: list[tuple[Scores, Mapping[str, float]]] = [*zip(opened, said, strict=True)]
    if by is not None:
        pairs = [*systems_of(opened[0], said[0], by, question=question)]
    found = study_systems(pairs, metrics=names(metrics), cluster=cluster, seed=seed)
    emit(list(system_tables(found)), as_format=as_format, out=out, table=table)


def _people(
    runs: list[Path],
    label: str | None,
    labels: list[Path] | None,
    adjudicator: str | None,
    consensus: Rule | None,
) -> tuple[list[Scores], list[dict[str, float]]]:
    opened = open_runs(runs)
    said = [
        people_values(each, label=label, labels=path, adjudicator=adjudicator, consensus=consensus)
        for each, path in zip(opened, labels_of_runs(runs, labels or ()), strict=True)
    ]
    return opened, said
