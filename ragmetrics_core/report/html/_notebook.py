"""Runs, scores and results of studies in a notebook, as HTML without scripts; all texts are escaped."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

from ragmetrics_core.records import Record
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._marks import MOST_VERDICTS, Look, Mark, reference_name
from ragmetrics_core.report._proof_page import LEGEND, ProofPage, VerdictGroup, VerdictPage, verdict_groups
from ragmetrics_core.report._remarks import Remark, has_gap, is_first, reading_lines, remarks_of
from ragmetrics_core.report._text import flat, one_line, words
from ragmetrics_core.report.judge_lines import judge_lines, judge_notes
from ragmetrics_core.runs import Mean, Run
from ragmetrics_core.study import StudyTable, shown
from ragmetrics_core.texts.wording import number_of, visible

__all__ = ["notebook_proof", "notebook_study", "notebook_table"]

LONG_TEXT = 20_000
# Sign, ink and paper of a verdict, the most urgent first. Paper of its own is readable in every notebook.
_LOOKS: Mapping[Look, tuple[str, str, str]] = {
    "contradicted": ("≠", "#ffffff", "#8f0d3a"),
    "no": ("✗", "#a61e18", "#fbe0de"),
    "unsure": ("≈", "#6b3a9e", "#eee3fb"),
    "open": ("?", "#7a4d00", "#fcedc9"),
    "yes": ("✓", "#14682f", "#dcf2e2"),
}
# Notebooks align the cells of tables to the right, and break no line in a text.
_LEFT = 'style="text-align: left; vertical-align: top"'
_TEXT = 'style="text-align: left; white-space: pre-wrap"'


def notebook_table(run: Run) -> str:
    """Means with their reading, notes, failures, rows left out, and the judge's accuracy."""
    means = run.means()
    is_open = any(map(has_gap, means))
    heads = ("metric", "mean", "sd", "n", *["worst–best"] * is_open, "abstained", "other")
    told = number_of(len(run), "sample")
    if run.rejected:
        told += f", {number_of(len(run.rejected), 'row')} left out"
    if run.judge:
        told += f", judge {one_line(run.judge)}"
    if not run.finished:
        told += "; the run is not finished"
    hint = 'ragmetrics_core.write_report(run, "report.html") shows every score with its proof'
    return "".join((
        _table(told, heads, (_row(mean, is_open=is_open) for mean in means)),
        _details("How to read this table", _facts(reading_lines(run, means)), is_open=is_first(run)),
        *map(_remark, remarks_of(run, Causes.of(run.outcomes()))),
        _paragraphs([*judge_lines(run), hint]),
    ))  # fmt: skip


def notebook_proof(record: Record) -> str:
    """The proof of a score: formula, texts with their marks, verdicts with quotes, and contexts."""
    first = f"{record.signature} of {record.sample_id}: {flat(record.headline)}"
    if record.sample is None:
        judge = [f"judge: {note}" for note in judge_notes(record.judge)]
        return _paragraphs([first, *judge]) + _verdicts(verdict_groups(record))
    page = ProofPage.of_record(record)
    return "".join((
        _paragraphs([first]),
        _facts(_how(page)),
        _facts_of_html(_asked(page)),
        _verdicts(page.groups),
        _list("Ratings", (f"{rating:g}: {reason}" for rating, reason in page.ratings)),
        _contexts(page),
        _list("Retrieval, stage by stage", (f"{stage.name}: {stage.what}" for stage in page.sample.stages)),
        _list("Asked again, or not counted", page.remarks),
        _paragraphs([f"The answer declines to answer: {page.declined}"] if page.declined else []),
        _details("Judge, prompts and versions", _facts(page.origin)),
    ))  # fmt: skip


def notebook_study(tables: Iterable[StudyTable]) -> str:
    """The tables of a study with their notes."""
    return "".join(map(_study_table, tables))


def _study_table(table: StudyTable) -> str:
    cells = [
        [shown(cell, column.kind) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    filled = [place for place in range(len(table.columns)) if any(row[place] for row in cells)]
    heads = [table.columns[place].name for place in filled]
    sides = {place: f" {_LEFT}" * (table.columns[place].kind == "text") for place in filled}
    rows = ("".join(f"<td{sides[place]}>{_line(row[place])}</td>" for place in filled) for row in cells)
    return _table(table.title, heads, rows, [*sides.values()]) + _list("", table.notes)


def _remark(remark: Remark) -> str:
    if not remark.lines:
        return _paragraphs([remark.title.text])
    lines = [*(line.text for line in remark.lines), *filter(None, [remark.more]), *remark.closing]
    return _list(remark.title.text, lines)


def _how(page: ProofPage) -> Iterator[tuple[str, str]]:
    """Formula or status, numbers, coverage, limits of the judge, and parts of the score."""
    yield ("formula" if page.status == "ok" else "status"), page.headline
    if page.numbers:
        yield "numbers", page.numbers
    for line in page.coverage:
        yield "covered", line
    for line in page.judge_notes:
        yield "judge", line
    for _, metric, told, _ in page.parts:
        yield metric, told


def _asked(page: ProofPage) -> Iterator[tuple[str, str]]:
    """Earlier turns, question, answer and references, the texts as HTML."""
    sample = page.sample
    texts: list[tuple[str, str | None]] = []
    texts += ((f"earlier, {flat(turn.role)}", turn.content) for turn in sample.history)
    texts += [("question", sample.question), ("stand-alone question", sample.standalone)]
    texts += [("answer", sample.answer)]
    texts += [(reference_name(place), text) for place, text in enumerate(sample.references, start=1)]
    for name, text in texts:
        if text is not None:
            yield name, _marked(text, page.marks.get(name, ()))


def _contexts(page: ProofPage) -> str:
    contexts = page.sample.contexts
    if not contexts:
        return ""
    rows: list[str] = []
    for number, context in enumerate(contexts, start=1):
        text = _marked(context.text, page.marks.get(f"chunk {number}", ()))
        if context.standing:
            text += f" <em>{_line(context.standing)}</em>"
        rows.append(f'<th scope="row" {_LEFT}>{number}</th><td {_TEXT}>{text}</td>')
    return _table(f"Contexts, in rank order{page.sample.found_by}", (), rows)


def _marked(text: str, marks: Iterable[Mark]) -> str:
    """The text as HTML, with the colours and numbers of the verdicts on its pieces."""
    whole = visible(text[:LONG_TEXT])
    within = [mark for mark in marks if mark.start < mark.end <= len(whole)]
    ends = sorted({0, len(whole), *(mark.start for mark in within), *(mark.end for mark in within)})
    pieces: list[str] = []
    for start, end in pairwise(ends):
        piece = escape(whole[start:end])
        looks: set[Look] = {mark.look for mark in within if mark.start <= start and end <= mark.end}
        # where verdicts disagree about a piece, the one to look at
        pieces.append(_coloured(min(looks, key=[*_LOOKS].index), piece) if looks else piece)
        numbers = sorted({mark.number for mark in within if mark.end == end})
        if numbers:
            pieces.append(f"<sup>{' '.join(map(str, numbers))}</sup>")
    left_out = len(text) - len(whole)
    return "".join(pieces) + (f"… ({left_out:,} more characters)" if left_out else "")


def _verdicts(groups: Sequence[VerdictGroup]) -> str:
    content = ""
    for group in groups:
        caption = f"{group.title}: {group.unsure}" if group.unsure else group.title
        content += _table(caption, (), map(_verdict, group.verdicts[:MOST_VERDICTS]))
        if len(group.verdicts) > MOST_VERDICTS:
            content += _paragraphs(
                [f"{number_of(len(group.verdicts) - MOST_VERDICTS, 'more verdict')} not shown"]
            )
    if any(group.unsure for group in groups):
        content += f"<p>{_chip('unsure', '')} {escape(LEGEND)}</p>"
    return content


def _verdict(verdict: VerdictPage) -> str:
    quotes = (f"{quote.text} ({quote.where})" for quote in verdict.quotes)
    below = (verdict.unsure or verdict.probability, verdict.tally, verdict.reason, *quotes, verdict.decision)
    texts = "<br>".join(escape(flat(words(text))) for text in (verdict.text, *below) if text)
    chip = _chip(verdict.look, verdict.label.replace(" ", "\N{NO-BREAK SPACE}"))
    return f'<th scope="row" {_LEFT}>{verdict.number}</th><td {_LEFT}>{chip}</td><td {_LEFT}>{texts}</td>'


def _row(mean: Mean, *, is_open: bool) -> str:
    others = ", ".join(
        f"{count} {status.replace('_', ' ')}" for status, count in mean.statuses.items() if status != "ok"
    )
    cells = [
        "none" if mean.value is None else f"{mean.value:.3f}",
        "" if mean.spread is None else f"{mean.spread:.3f}",
        f"{mean.n} of {mean.total}",
    ]
    if is_open:
        is_known = mean.worst is not None and mean.best is not None
        cells.append(f"{mean.worst:.3f}–{mean.best:.3f}" if is_known else "")
    cells += [str(mean.abstained), others]
    listed = "".join(f"<td>{_line(cell)}</td>" for cell in cells)
    return f'<th scope="row">{_line(mean.metric)}</th>{listed}'


def _table(caption: str, heads: Sequence[str], rows: Iterable[str], sides: Sequence[str] = ()) -> str:
    """A table; its rows are HTML, and `sides` are attributes of its heads."""
    named = zip(heads, sides or [""] * len(heads), strict=True)
    head = "".join(f'<th scope="col"{side}>{_line(name)}</th>' for name, side in named)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<table><caption {_LEFT}>{_line(caption)}</caption>"
        f"{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )


def _facts(pairs: Iterable[tuple[str, str]]) -> str:
    return _facts_of_html((name, escape(flat(text))) for name, text in pairs)


def _facts_of_html(pairs: Iterable[tuple[str, str]]) -> str:
    rows = (
        f'<tr><th scope="row" {_LEFT}>{_line(name)}</th><td {_TEXT}>{text}</td></tr>' for name, text in pairs
    )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _list(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_line(line)}</li>" for line in lines)
    head = f"<p><strong>{_line(title)}</strong></p>" if title else ""
    return f"{head}<ul>{items}</ul>" if items else ""


def _details(title: str, content: str, *, is_open: bool = False) -> str:
    return f"<details{' open' * is_open}><summary>{_line(title)}</summary>{content}</details>"


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{_line(line)}</p>" for line in lines)


def _chip(look: Look, label: str) -> str:
    sign, _, _ = _LOOKS[look]
    return _coloured(look, f"{sign} {_line(label)}")


def _coloured(look: Look, content: str) -> str:
    _, ink, paper = _LOOKS[look]
    return f'<span style="color: {ink}; background: {paper}">{content}</span>'


def _line(text: str) -> str:
    return escape(one_line(text, 300))
