"""`ragmetrics study`: from scores to what they mean."""

import typer

from ragmetrics_core.cli._study_annotate import annotate, annotations
from ragmetrics_core.cli._study_compare import compare
from ragmetrics_core.cli._study_concordance import concordance
from ragmetrics_core.cli._study_estimate import estimate
from ragmetrics_core.cli._study_funnel import funnel
from ragmetrics_core.cli._study_groups import groups
from ragmetrics_core.cli._study_pairwise import pairwise
from ragmetrics_core.cli._study_people import agreement
from ragmetrics_core.cli._study_plan import plan
from ragmetrics_core.cli._study_repeats import repeats
from ragmetrics_core.cli._study_systems import correlations, systems
from ragmetrics_core.cli._study_trend import trend
from ragmetrics_core.cli._study_vectors import cosine, retriever

__all__ = ["study"]

study = typer.Typer(help="From scores to what they mean: groups, comparisons, agreement with people.")

for command in (
    groups,
    compare,
    concordance,
    agreement,
    correlations,
    pairwise,
    systems,
    estimate,
    plan,
    repeats,
    trend,
    cosine,
    retriever,
    funnel,
    annotate,
    annotations,
):
    study.command(no_args_is_help=False)(command)
