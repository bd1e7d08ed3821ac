"""A run in a notebook: the table of means."""

from html import escape

from ragmetrics_core.report._judge_lines import judge_lines
from ragmetrics_core.report._text import one_line
from ragmetrics_core.runs import Mean, Run
from ragmetrics_core.wording import number_of

__all__ = ["notebook_table"]


def notebook_table(run: Run) -> str:
    """Means with n, counts by status, worst and best case, and the judge's accuracy.

    All content is text.
    """
    heads = ("metric", "mean", "sd", "n", "worst to best", "other")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(_row(mean) for mean in run.means())
    told = number_of(len(run), "sample")
    if run.judge:
        told += f", judge {one_line(run.judge)}"
    if not run.finished:
        told += "; the run is not finished"
    lines = "".join(f"<p>{escape(one_line(line))}</p>" for line in judge_lines(run))
    hint = 'ragmetrics_core.write_report(run, "report.html") shows every score with its proof'
    return (
        f"<table><caption>{escape(told)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{lines}<p>{escape(hint)}</p>"
    )


def _row(mean: Mean) -> str:
    others = ", ".join(
        f"{count} {status.replace('_', ' ')}" for status, count in mean.statuses.items() if status != "ok"
    )
    reach = "" if mean.worst is None or mean.best is None else f"{mean.worst:.3f} to {mean.best:.3f}"
    cells = (
        "none" if mean.value is None else f"{mean.value:.3f}",
        "" if mean.sd is None else f"{mean.sd:.3f}",
        f"{mean.n} of {mean.total}",
        reach,
        others,
    )
    listed = "".join(f"<td>{escape(one_line(cell))}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(one_line(mean.metric))}</th>{listed}</tr>'
