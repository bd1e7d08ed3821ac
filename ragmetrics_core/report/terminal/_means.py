"""The table of means, with notes and cost."""

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ragmetrics_core.records import FAILED
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._remarks import RemarkLine, has_gap, reading_lines, remarks_of
from ragmetrics_core.report._text import flat
from ragmetrics_core.report.judge_lines import judge_lines
from ragmetrics_core.report.terminal._text import (
    LABEL,
    OPEN,
    STYLES,
    WEAK,
    facts,
    number,
    one_line,
    part,
    plain,
    table,
)
from ragmetrics_core.runs import Mean, MetricEntry, Run
from ragmetrics_core.texts.wording import number_of

__all__ = ["cost", "means_table", "reading", "remarks"]


def means_table(means: Sequence[Mean], entries: Sequence[MetricEntry]) -> Table:
    """A row for each metric: mean, number of samples and, if any, spread and worst and best case."""
    means_of, reaches = table("metric"), [_reach(mean) for mean in means]
    spreads = ["" if mean.spread is None else f"{mean.spread:.3f}" for mean in means]
    shown = {"mean": True, "sd": any(spreads), "n": True, "worst–best": any(reaches), "abstained": True}
    heads = [name for name, is_shown in shown.items() if is_shown]
    for name in heads:
        # folded, and only where even a narrow column of names leaves them no room: no digit may be lost
        means_of.add_column(name, justify="right", overflow="fold")
    for mean, entry, sd, reach in zip(means, entries, spreads, reaches, strict=True):
        cells = {
            "mean": Text("none", LABEL) if mean.value is None else number(mean.value, entry, "bold "),
            "sd": Text(sd),
            "n": Text(f"{mean.n} of {mean.total}"),
            "worst–best": reach,
            "abstained": Text(str(mean.abstained), "" if mean.abstained else LABEL),
        }
        first = Text("\n  ").join(filter(None, (plain(mean.metric), _others(mean))))
        means_of.add_row(first, *(cells[head] for head in heads))
    return means_of


def remarks(run: Run, causes: Causes) -> Iterable[RenderableType]:
    """Notes, failures by cause, rejected rows and skipped fields."""
    for remark in remarks_of(run, causes):
        if remark.lines:
            yield part(remark.title.text, map(_line, remark.lines))
        else:
            yield Text()
            yield _line(remark.title)
        if remark.more:
            yield Text(f"    {remark.more}", LABEL)
        yield from map(one_line, remark.closing)


def reading(run: Run, means: Sequence[Mean]) -> RenderableType:
    """Meanings of the columns of the table of means."""
    return facts((name, Text(text, LABEL)) for name, text in reading_lines(run, means))


def cost(run: Run) -> RenderableType:
    """Models of a run, the limits of its judge, calls and tokens."""
    tally = run.tally
    calls = number_of(tally.get("calls", 0), "call")
    if again := tally.get("asked_again"):
        calls += f", {again:,} of them after a reply that was not in the form asked for"
    if shared := tally.get("shared"):
        calls += f" and {shared:,} answered by a call already made"
    if embedded := tally.get("embedded"):
        calls += f"; {number_of(embedded, 'text')} embedded"
    tokens = tally.get("prompt_tokens", 0), tally.get("completion_tokens", 0)
    if any(tokens):
        calls += f"; {number_of(tokens[0], 'token')} read, {tokens[1]:,} written"
    models = {"judge": run.judge, "embedder": run.embedder}
    pairs: list[tuple[str, RenderableType]] = [(name, plain(each)) for name, each in models.items() if each]
    pairs[1:1] = [("", one_line(line)) for line in judge_lines(run)]
    return facts([*pairs, ("cost", Text(calls if tally else "unknown: the run did not finish"))])


def _line(line: RemarkLine) -> Text:
    text, coloured = one_line(line.text), flat(line.coloured)
    start = text.plain.find(coloured)
    text.stylize(STYLES[line.look], start, start + len(coloured))
    return text


def _others(mean: Mean) -> Text:
    counts = [*mean.statuses.items(), ("abstained", mean.separated)]
    return Text(", ").join(
        Text(f"{count} {name.replace('_', ' ')}", WEAK if name in FAILED else OPEN * (name == "incomplete"))
        for name, count in counts
        if count and name != "ok"
    )


def _reach(mean: Mean) -> Text:
    """The worst and the best case, if a failed or incomplete score leaves the mean open."""
    return Text(f"{mean.worst:.3f}–{mean.best:.3f}" if has_gap(mean) else "", OPEN)
