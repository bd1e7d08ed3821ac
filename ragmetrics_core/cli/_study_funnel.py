"""`ragmetrics study funnel`: what became of the relevant chunks, and which stage lost them."""

from pathlib import Path

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._study_output import AsJson, Format, OneTable, Out, Plot, emit, format_of, save_plot
from ragmetrics_core.report._plots import draw_intervals
from ragmetrics_core.runs import Run
from ragmetrics_core.study import Funnel, funnel_tables, study_funnel

__all__ = ["funnel"]


def funnel(
    run: RunFolder,
    as_format: Format = None,
    as_json: AsJson = False,
    out: Out = None,
    table: OneTable = None,
    plot: Plot = None,
) -> None:
    """Tell where relevant chunks were lost: found, ranked, filtered, shown.

    By stage: in how many samples a relevant chunk is among its chunks, and the share of relevant chunks that
    are. For each that the model was not shown, the stage that lost it. By search: what it found that was new.
    Relevant are the samples' reference_context_ids, or reference_contexts: chunks, or quotes from them.
    """
    as_format = format_of(as_format, as_json)
    found = study_funnel(Run.load(run))
    emit(list(funnel_tables(found)), as_format=as_format, out=out, table=table)
    save_plot(lambda path: _draw(found, path), plot)


def _draw(found: Funnel, path: Path) -> None:
    names = [" ".join(filter(None, (stage.stage, stage.component))) for stage in found.stages]
    rows = [(name, stage.recall) for name, stage in zip(names, found.stages, strict=True)]
    draw_intervals({"recall": rows}, path, title="Relevant chunks, stage by stage", axis="share")
