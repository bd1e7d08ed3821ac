"""The samples of a run as a table, the worst first, and one sample with all its scores."""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ragmetrics_core.records import Record
from ragmetrics_core.report._proof_page import SamplePage
from ragmetrics_core.report._terminal.proof import asked
from ragmetrics_core.report._terminal.text import (
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
from ragmetrics_core.runs import Finding, MetricEntry, Run, diagnose
from ragmetrics_core.samples import Sample, counted
from ragmetrics_core.wording import number_of

__all__ = ["SampleRow", "sample_page", "sample_rows", "samples_table"]

WIDE = 100
# A UUID with its hyphens.
LIVE_ID = 36


class SampleRow(NamedTuple):
    """One sample in the table.

    Attributes:
        place: the mean of its values, each between its metric's ends (0 to 1); missing verdicts count as
            negative ones; None when there is no value at all.
        sample_id: which sample.
        question: what was asked.
        cells: one outcome for each metric.
        codes: what the diagnosis found.
    """

    place: float | None
    sample_id: str
    question: str
    cells: tuple[Text, ...]
    codes: tuple[str, ...]


def sample_rows(run: Run, *, limit: int = 0) -> list[SampleRow]:
    """The samples of a run, the worst first, those without any value last.

    Args:
        run: the run; of samples that are not listed nothing is read.
        limit: how many to list at most; 0 lists all.
    """
    entries = {entry.signature: entry for entry in run.metrics}
    places: dict[str, list[float]] = {sample_id: [] for sample_id in run.sample_ids}
    for key, found in run.outcomes():
        entry = entries.get(key.signature)
        if entry is None or key.sample_id not in places:
            continue
        if (goodness := entry.goodness(found.value, found.bounds)) is not None:
            places[key.sample_id].append(goodness)
    ranked = ((not of, sum(of) / len(of) if of else 0.0, sample_id) for sample_id, of in places.items())
    worst = nsmallest(limit, ranked) if limit else sorted(ranked)
    return [_row(run, sample_id, None if has_none else place) for has_none, place, sample_id in worst]


def samples_table(rows: Sequence[SampleRow], entries: Sequence[MetricEntry], *, width: int) -> Table:
    """One row for each sample: its values and diagnosis; the question too where there is room."""
    has_room = width >= WIDE + 12 * max(0, len(entries) - 3)
    samples = table("sample")
    if has_room:
        samples.add_column("question", no_wrap=True, overflow="ellipsis", ratio=1)
        samples.expand = True
    titles = [_title(entry, entries) for entry in entries]
    samples.columns[0].min_width = _id_width(rows, titles, width)
    lines = max(map(len, titles), default=1)
    for title in titles:
        samples.add_column(Text("\n" * (lines - len(title)) + "\n".join(title)), justify="right")
    samples.add_column("diagnosis", overflow="fold")
    for column in samples.columns:
        if isinstance(column.header, str):
            column.header = "\n" * (lines - 1) + column.header
    for row in rows:
        question = [one_line(row.question)] if has_room else []
        codes = ", ".join(code.replace("_", " ") for code in row.codes)
        samples.add_row(plain(row.sample_id), *question, *row.cells, Text(codes, OPEN))
    return samples


def sample_page(
    sample: Sample, scores: Mapping[str, Record], findings: Sequence[Finding], entries: Sequence[MetricEntry]
) -> Iterator[RenderableType]:
    """A sample with all its scores and what they say together."""
    yield facts(_facts(sample))
    yield Text()
    listed = table("metric")
    listed.add_column("score", justify="right", no_wrap=True)
    listed.add_column("how", overflow="fold")
    for entry in entries:
        if score := scores.get(entry.signature):
            how = one_line(score.formula or score.reason or "")
            cell = outcome(score.status, score.value, score.bounds, low=entry.worst, high=entry.best)
            listed.add_row(plain(entry.signature), cell, how)
    yield listed
    yield Text()
    if findings:
        yield heading("Diagnosis")
        yield bullets(_finding(each) for each in findings)
    elif any(score.value is not None for score in scores.values()):
        yield Text("The diagnosis found nothing.", LABEL)
    else:
        yield Text("No diagnosis: no score has a value.", LABEL)


def _facts(sample: Sample) -> Iterator[tuple[str, RenderableType]]:
    """The texts with their names, the number of contexts and how they were found, and the stages."""
    page = SamplePage.of(sample)
    yield from asked(page)
    told = "(absent)" if page.contexts is None else number_of(len(page.contexts), "chunk")
    shown = f", {counted(sample.shown)}" if page.contexts and page.stages else ""
    yield "contexts", Text(told + shown + page.found_by, WEAK if sample.contradicted else LABEL)
    for stage in page.stages:
        yield f"  {stage.name}", Text(stage.what, LABEL)


def _row(run: Run, sample_id: str, place: float | None) -> SampleRow:
    scores = run.scores(sample_id)
    cells: list[Text] = []
    for entry in run.metrics:
        score = scores.get(entry.signature)
        if score is None:
            cells.append(Text())
            continue
        cells.append(outcome(score.status, score.value, score.bounds, low=entry.worst, high=entry.best))
    return SampleRow(
        place=place,
        sample_id=sample_id,
        question=run.sample(sample_id).question or "",
        cells=tuple(cells),
        codes=tuple(each.code for each in diagnose(scores.values())),
    )


def _id_width(rows: Sequence[SampleRow], titles: Sequence[Sequence[str]], width: int) -> int:
    """How wide the ids stay at least: one of a live application is not broken where there is room for it."""
    taken = sum(max(map(len, title), default=0) + 2 for title in titles) + len("diagnosis") + 2
    longest = max((len(row.sample_id) for row in rows), default=0)
    return max(6, min(longest, LIVE_ID, width - taken))


def _title(entry: MetricEntry, entries: Sequence[MetricEntry]) -> list[str]:
    """The metric's name, a line for each word, with the variant where the name is not enough."""
    words = plain(entry.name).plain.split("_")
    is_unique = sum(each.name == entry.name for each in entries) == 1
    return words if is_unique else [*words, plain(entry.signature).plain.removeprefix(f"{entry.name}/")]


def _finding(finding: Finding) -> Text:
    text = Text.assemble((finding.code.replace("_", " "), OPEN), "  ", str(finding._replace(texts=())))
    for statement in finding.texts:
        text.append("\n")
        text.append_text(one_line(f"“{statement}”", LABEL))
    return text
