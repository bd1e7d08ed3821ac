"""A run in a notebook: the table of means. A score: its formula and verdicts."""

from collections.abc import Iterable, Mapping
from html import escape

from ragmetrics_core.records import Record
from ragmetrics_core.report._marks import MOST_VERDICTS, Look
from ragmetrics_core.report._proof_page import LEGEND, VerdictPage, verdict_groups
from ragmetrics_core.report._text import flat, one_line, words
from ragmetrics_core.report.judge_lines import judge_lines, judge_notes
from ragmetrics_core.runs import Mean, Run
from ragmetrics_core.wording import number_of

__all__ = ["notebook_proof", "notebook_table"]

# Sign, ink and paper of a verdict. Paper of its own is readable in light and dark notebooks.
_LOOKS: Mapping[Look, tuple[str, str, str]] = {
    "yes": ("✓", "#14682f", "#dcf2e2"),
    "no": ("✗", "#a61e18", "#fbe0de"),
    "unsure": ("≈", "#6b3a9e", "#eee3fb"),
    "open": ("?", "#7a4d00", "#fcedc9"),
}


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
    lines = _paragraphs(judge_lines(run))
    hint = 'ragmetrics_core.write_report(run, "report.html") shows every score with its proof'
    return (
        f"<table><caption>{escape(told)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{lines}<p>{escape(hint)}</p>"
    )


def notebook_proof(record: Record) -> str:
    """Formula and judge of a score, and its verdicts in their colours.

    All content is text.
    """
    first = f"{record.signature} of {record.sample_id}: {flat(record.headline)}"
    content = _paragraphs([first, *(f"judge: {note}" for note in judge_notes(record.judge))])
    groups = verdict_groups(record)
    for group in groups:
        caption = f"{group.title}: {group.unsure}" if group.unsure else group.title
        rows = "".join(map(_verdict, group.verdicts[:MOST_VERDICTS]))
        content += f"<table><caption>{escape(one_line(caption))}</caption><tbody>{rows}</tbody></table>"
        if len(group.verdicts) > MOST_VERDICTS:
            content += _paragraphs(
                [f"{number_of(len(group.verdicts) - MOST_VERDICTS, 'more verdict')} not shown"]
            )
    if any(group.unsure for group in groups):
        content += f"<p>{_chip('unsure', '')} {escape(LEGEND)}</p>"
    return content


def _verdict(verdict: VerdictPage) -> str:
    quotes = (f"{quote.text} ({quote.where})" for quote in verdict.quotes)
    below = (verdict.unsure, verdict.tally, verdict.reason, *quotes, verdict.decision)
    texts = "<br>".join(escape(flat(words(text))) for text in (verdict.text, *below) if text)
    chip = _chip(verdict.look, verdict.label)
    return f'<tr><th scope="row">{verdict.number}</th><td>{chip}</td><td>{texts}</td></tr>'


def _chip(look: Look, label: str) -> str:
    sign, ink, paper = _LOOKS[look]
    return f'<span style="color: {ink}; background: {paper}">{sign} {escape(one_line(label))}</span>'


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(one_line(line, 300))}</p>" for line in lines)


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
