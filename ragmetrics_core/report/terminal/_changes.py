"""The difference of two records, and the differences that an audit finds."""

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragmetrics_core.drivers import Difference
from ragmetrics_core.records import Record
from ragmetrics_core.records.comparison import Change, RecordDiff
from ragmetrics_core.report._proof_page import changes_by_kind
from ragmetrics_core.report.terminal._text import (
    GOOD,
    LABEL,
    OPEN,
    WEAK,
    facts,
    heading,
    one_line,
    outcome,
    plain,
)
from ragmetrics_core.runs import MetricEntry

__all__ = ["difference_lines", "difference_page"]

_STYLES = {
    "Verdict changed": OPEN,
    "Only before": WEAK,
    "Only after": GOOD,
    "Worded differently, same verdict": LABEL,
}


def difference_page(diff: RecordDiff, entry: MetricEntry) -> Iterator[RenderableType]:
    """Difference of two scores: both outcomes, then every changed text and verdict.

    Args:
        diff: the two records and their changes.
        entry: their metric in the run.
    """
    before, after = diff.before, diff.after
    title = Text.assemble(plain(before.signature, "bold"), (" of ", LABEL), plain(before.sample_id))
    if diff.moved is not None:
        gain = diff.moved if entry.higher_is_better else -diff.moved
        sign = GOOD if gain > 0 else WEAK if gain < 0 else LABEL
        title.append(f"  {diff.moved:+.3f}", f"bold {sign}")
    yield title
    yield facts((name, _outcome(record, entry)) for name, record in (("before", before), ("after", after)))
    groups = changes_by_kind(diff)
    for kind, changes in groups.items():
        yield Text()
        yield heading(kind)
        yield _changes(changes, _STYLES[kind])
    if not groups:
        yield Text("The same texts with the same verdicts.", LABEL)


def difference_lines(sample: str, metric: str, differences: Iterable[Difference]) -> Iterator[Text]:
    """The differences of one record: sample, metric, field, stored value and derived value."""
    yield Text.assemble(("differs ", WEAK), plain(sample, "bold"), "  ", plain(metric))
    for each in differences:
        pairs = (
            (plain(each.field), " stored ", each.stored),
            (" " * len(each.field), " derived ", each.derived),
        )
        for field, name, value in pairs:
            text = repr(value)
            shown = one_line(text if len(text) <= 200 else f"{text[:197]}...")
            yield Text.assemble("    ", field, (name, LABEL), shown)


def _outcome(record: Record, entry: MetricEntry) -> Text:
    return Text.assemble(outcome(record, entry), "  ", one_line(record.headline, LABEL))


def _changes(changes: Iterable[Change], style: str) -> RenderableType:
    listed = Table.grid(padding=(0, 1))
    listed.add_column(style=style, no_wrap=True)
    listed.add_column(overflow="fold")
    for change in changes:
        sign, _, told = str(change).partition(" ")
        label, colon, text = told.partition(": ")
        listed.add_row(Text(sign), Text.assemble(plain(label, style), colon, one_line(text)))
    return Padding(listed, (0, 0, 0, 2))
