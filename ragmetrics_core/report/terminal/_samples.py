"""The samples of a run as a table, the worst first, and the page of one sample."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ragmetrics_core.records import Record
from ragmetrics_core.report._proof_page import SamplePage
from ragmetrics_core.report._side_by_side import ReportRow, SideBySide
from ragmetrics_core.report.judge_lines import judge_notes
from ragmetrics_core.report.terminal._proof import asked, stage_facts
from ragmetrics_core.report.terminal._text import (
    LABEL,
    OPEN,
    WEAK,
    bullets,
    facts,
    heading,
    one_line,
    outcome,
    plain,
    table,
)
from ragmetrics_core.runs import Finding, MetricEntry, Run
from ragmetrics_core.samples import Sample, counted
from ragmetrics_core.texts.wording import number_of, quoted

__all__ = ["sample_page", "samples_table"]

WIDE = 100
# A UUID with its hyphens.
LIVE_ID = 36


def samples_table(run: Run, *, limit: int = 0, width: int) -> Table:
    """A row for each sample, the worst first: values, diagnosis, and the question if there is room.

    Samples are ordered by the mean of their values, each scaled to its metric's range (0 to 1), with missing
    verdicts counted as negative; samples without a value come last.

    Args:
        run: run to list; samples that are not listed are not read.
        limit: largest number of samples; 0 lists all.
        width: columns of the terminal.
    """
    rows, entries = SideBySide([run]).rows[: limit or None], run.metrics
    has_room = width >= WIDE + 12 * max(0, len(entries) - 3)
    titles = [_title(entry, entries) for entry in entries]
    lines = max(map(len, titles), default=1)
    samples = table()
    samples.expand = has_room

    def add(words: Sequence[str], **how: Any) -> None:
        samples.add_column(Text("\n" * (lines - len(words)) + "\n".join(words)), **how)

    add(["sample"], overflow="fold", min_width=_id_width(rows, titles, width))
    if has_room:
        add(["question"], no_wrap=True, overflow="ellipsis", ratio=1)
    for title in titles:
        add(title, justify="right")
    add(["diagnosis"], overflow="fold")
    for row in rows:
        question = [one_line(run.sample(row.sample_id).question or "")] if has_room else []
        cells = (
            outcome(cell, entry) if cell else "" for entry, (cell,) in zip(entries, row.cells, strict=True)
        )
        codes = ", ".join(row.findings[0]).replace("_", " ")
        samples.add_row(plain(row.sample_id), *question, *cells, Text(codes, OPEN))
    return samples


def sample_page(
    sample: Sample, scores: Mapping[str, Record], findings: Sequence[Finding], entries: Sequence[MetricEntry]
) -> Iterator[RenderableType]:
    """A sample with all its scores and their diagnosis."""
    yield facts(_facts(SamplePage.of_sample(sample, scores.values()), sample))
    yield Text()
    listed = table("metric")
    listed.add_column("score", justify="right", no_wrap=True)
    listed.add_column("how", overflow="fold")
    for entry in entries:
        if score := scores.get(entry.signature):
            how = one_line(score.formula or score.reason or "")
            listed.add_row(plain(entry.signature), outcome(score, entry), how)
    yield listed
    notes = dict.fromkeys(note for score in scores.values() for note in judge_notes(score.judge))
    if notes:
        yield Text()
        yield facts(("judge", one_line(note, LABEL)) for note in notes)
    if findings:
        yield Text()
        yield heading("Diagnosis")
        yield bullets(_finding(each) for each in findings)


def history_page(records: Sequence[Record], entries: Sequence[MetricEntry]) -> Iterator[RenderableType]:
    """Scores of a sample that no longer count, the oldest first, each with its answer."""
    yield heading("Earlier scores, which no longer count")
    if not records:
        yield Text("There are none.", LABEL)
        return
    of_signature = {entry.signature: entry for entry in entries}
    listed = table("metric")
    listed.add_column("score", justify="right", no_wrap=True)
    listed.add_column("how", overflow="fold")
    listed.add_column("answer", overflow="fold")
    for record in records:
        answer = record.sample.answer if record.sample else None
        how = one_line(record.formula or record.reason or "")
        score = outcome(record, of_signature[record.signature])
        listed.add_row(plain(record.signature), score, how, one_line(answer or ""))
    yield listed


def _facts(page: SamplePage, sample: Sample) -> Iterator[tuple[str, RenderableType]]:
    """The texts with their names, the number and origin of the contexts, and the stages."""
    yield from asked(page)
    told = "(absent)" if page.contexts is None else number_of(len(page.contexts), "chunk")
    shown = f", {counted(sample.shown)}" if page.contexts and page.stages else ""
    yield "contexts", Text(told + shown + page.found_by, WEAK if sample.contradicted else LABEL)
    yield from stage_facts(page)


def _id_width(rows: Sequence[ReportRow], titles: Sequence[Sequence[str]], width: int) -> int:
    """Minimum width of the ids: the id of a live application is not broken if there is room."""
    taken = sum(max(map(len, title), default=0) + 2 for title in titles) + len("diagnosis") + 2
    longest = max((len(row.sample_id) for row in rows), default=0)
    return max(6, min(longest, LIVE_ID, width - taken))


def _title(entry: MetricEntry, entries: Sequence[MetricEntry]) -> list[str]:
    """The metric's name, a line for each word, with the variant if the name is ambiguous."""
    words = plain(entry.name).plain.split("_")
    is_unique = sum(each.name == entry.name for each in entries) == 1
    return words if is_unique else [*words, plain(entry.signature).plain.removeprefix(f"{entry.name}/")]


def _finding(finding: Finding) -> Text:
    text = Text.assemble((finding.code.replace("_", " "), OPEN), "  ", str(finding._replace(texts=())))
    return Text("\n").join([text, *(one_line(quoted(statement), LABEL) for statement in finding.texts)])
