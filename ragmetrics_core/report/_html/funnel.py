"""What became of the retrieval, as a section of the first page: stage by stage, with a picture."""

from typing import Any

from ragmetrics_core.report._html.plots import funnel_plot
from ragmetrics_core.report._html.text import one_line
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._shown import ShownContexts
from ragmetrics_core.study import Estimate, study_funnel

__all__ = ["funnel"]

_MOST = 50


def funnel(run: Run) -> dict[str, Any] | None:
    """The section as plain data; None where no sample says what became of its retrieval."""
    shown = ShownContexts.of(run.samples())
    if not shown.samples:
        return None
    study = study_funnel(run)
    names = [one_line(" ".join(filter(None, (stage.stage, stage.component))), 120) for stage in study.stages]
    return {
        "shown": [one_line(line, 500) for line in list(shown.lines())[:_MOST]],
        "rows": [
            [name, stage.samples, f"{stage.chunks:.3g}", _said(stage.hit), _said(stage.recall), stage.lost]
            for name, stage in zip(names, study.stages, strict=True)
        ],
        "used": None if study.used is None else str(study.used),
        "findings": [
            [one_line(found.sample_id, 80), found.finding, one_line(found.what, 300)]
            for found in study.findings[:_MOST]
        ],
        "plot": funnel_plot(
            [(name, stage.recall.value) for name, stage in zip(names, study.stages, strict=True)]
        ),
    }


def _said(share: Estimate) -> str:
    return "" if share.value is None else str(share)
