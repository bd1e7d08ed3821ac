"""`ragmetrics study repeats`: what a judge's repeated votes say about the judge."""

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._study_output import (
    AsJson,
    Format,
    OneTable,
    Out,
    Seed,
    Wanted,
    emit,
    format_of,
    names,
)
from ragmetrics_core.runs import Run
from ragmetrics_core.study import read_scores, repeat_tables, study_repeats

__all__ = ["repeats"]


def repeats(
    run: RunFolder,
    metrics: Wanted = None,
    seed: Seed = 0,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
) -> None:
    """Tell how much of a score's variance is the judge's own, and on which verdicts its votes differ.

    For a run with --repeats or --full-repeats of 2 or more, or with a panel of judges.
    """
    as_format = format_of(as_format, as_json)
    opened = Run.load(run)
    wanted = names(metrics)
    chosen = None if wanted is None else [read_scores(opened).metric(each) for each in wanted]
    found = study_repeats(opened, metrics=chosen, seed=seed)
    is_short = as_format in (None, "terminal") and out is None and table is None
    emit(list(repeat_tables(found, most=10 if is_short else None)), as_format=as_format, out=out, table=table)
