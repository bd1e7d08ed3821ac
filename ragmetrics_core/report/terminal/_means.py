"""The table of means, with notes and cost."""

from collections.abc import Iterable, Sequence
from shlex import quote

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ragmetrics_core.records import FAILED
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report.judge_lines import judge_lines
from ragmetrics_core.report.terminal._text import (
    LABEL,
    OPEN,
    WEAK,
    facts,
    number,
    one_line,
    part,
    plain,
    table,
)
from ragmetrics_core.runs import Key, Mean, MetricEntry, Run
from ragmetrics_core.wording import number_of

__all__ = ["cost", "means_table", "remarks"]

SHOWN = 5
# Settings that may help if a reply was lost, by the score's status.
_TO_SET = {
    "parse_error": "to ask more often, set --form-attempts higher, or use another judge",
    "model_error": "fix what the reason names; if it may pass, set --attempts higher",
    "timeout": "set --timeout higher or --concurrency lower",
}


def means_table(means: Sequence[Mean], entries: Sequence[MetricEntry]) -> Table:
    """A row for each metric: mean, spread, number of samples, worst and best case."""
    means_of = table("metric")
    for name in ("mean", "sd", "n", "worst–best", "abstained"):
        # folded, and only where even a narrow column of names leaves them no room: no digit may be lost
        means_of.add_column(name, justify="right", overflow="fold")
    for mean, entry in zip(means, entries, strict=True):
        means_of.add_row(
            Text("\n  ").join(filter(None, (plain(mean.metric), _others(mean)))),
            Text("none", LABEL) if mean.value is None else number(mean.value, entry, "bold "),
            Text("" if mean.sd is None else f"{mean.sd:.3f}"),
            Text(f"{mean.n} of {mean.total}"),
            _reach(mean),
            Text(str(mean.abstained), "" if mean.abstained else LABEL),
        )
    return means_of


def remarks(run: Run, causes: Causes) -> Iterable[RenderableType]:
    """Notes, failures by cause, rejected rows and skipped fields."""
    if not run.finished:
        yield Text()
        yield Text("The run is not finished: the numbers cover only its samples so far.", OPEN)
    if (answers := run.declines).asked or answers.declined:
        shade = OPEN if answers.declined or answers.undecided else ""
        yield Text.assemble("\nAnswers: ", (str(answers), shade))
    if run.notes:
        yield part("Notes", map(one_line, run.notes))
    if causes.failed:
        count = sum(times for _, times in causes.failed)
        failures = (
            Text.assemble(f"{times} × ", (status.replace("_", " "), WEAK), ": ", one_line(reason))
            for (status, reason), times in causes.failed[:SHOWN]
        )
        yield part(f"{count} of {number_of(causes.total, 'score')} failed", failures)
        yield from _more(len(causes.failed) - SHOWN, "reason")
        for status, keys in causes.lost.items():
            yield one_line(_lost(run, status, sorted(keys)))
    if bad := run.rejected:
        rows = (Text.assemble((row.where, OPEN), ": ", one_line(row.message)) for row in bad[:SHOWN])
        yield part(number_of(len(bad), "row was", "rows were") + " left out", rows)
        yield from _more(len(bad) - SHOWN, "row")
    for title, counts, why in (("Skipped", causes.skipped, "no "), ("Undefined", causes.undefined, "")):
        if counts:
            yield part(
                title,
                (
                    one_line(f"{metric} {title.lower()} for {times} of {len(run)}: {why}{reason}")
                    for (metric, reason), times in counts.items()
                ),
            )


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


def _lost(run: Run, status: str, keys: Sequence[Key]) -> str:
    """The scores that lost a reply, the command that shows the replies, and the settings that may help."""
    scores = ", ".join(f"{key.sample_id} {key.signature}" for key in keys[:SHOWN])
    if len(keys) > SHOWN:
        scores += f" and {len(keys) - SHOWN:,} more"
    folder = "RUN" if run.path is None else quote(str(run.path))
    first = f"{quote(keys[0].sample_id)} {quote(keys[0].signature)}"
    what = status.replace("_", " ").capitalize()
    return f"{what}: {scores}; ragmetrics show {folder} {first} --replies; {_TO_SET[status]}"


def _more(count: int, what: str) -> Iterable[RenderableType]:
    if count > 0:
        yield Text(f"    and {number_of(count, f'more {what}')}", LABEL)


def _others(mean: Mean) -> Text:
    counts = [*mean.statuses.items(), ("abstained", mean.separated)]
    return Text(", ").join(
        Text(f"{count} {name.replace('_', ' ')}", WEAK if name in FAILED else OPEN * (name == "incomplete"))
        for name, count in counts
        if count and name != "ok"
    )


def _reach(mean: Mean) -> Text:
    if mean.worst is None or mean.best is None:
        return Text("")
    is_open = abs(mean.best - mean.worst) > 5e-4
    return Text(f"{mean.worst:.3f}–{mean.best:.3f}", OPEN if is_open else LABEL)
