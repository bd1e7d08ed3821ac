"""Remarks on a run below its means: notes, failures, rows left out, and how to read the table."""

from collections.abc import Iterator, Sequence
from itertools import islice
from shlex import quote
from typing import NamedTuple

from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._marks import Look
from ragmetrics_core.runs import BadRow, Key, Mean, Run
from ragmetrics_core.texts.wording import number_of

__all__ = ["Remark", "RemarkLine", "has_gap", "is_first", "reading_lines", "remarks_of"]

SHOWN = 5
# Files beside a run that are looked at for another run.
_BESIDE = 200
# Settings that may help if a reply was lost, by the score's status.
_TO_SET = {
    "parse_error": "to ask more often, set --form-attempts higher, or use another judge",
    "model_error": "fix what the reason names; if it may pass, set --attempts higher",
    "timeout": "set --timeout higher or --concurrency lower",
}


class RemarkLine(NamedTuple):
    """A line, and the part of it that has a colour."""

    text: str
    coloured: str = ""
    look: Look = "open"


class Remark(NamedTuple):
    """A title with lines below it, or a sentence without lines.

    Attributes:
        title: the title or the sentence.
        lines: the first lines.
        more: number of lines left out, with their noun; else "".
        closing: sentences below the lines.
    """

    title: RemarkLine
    lines: tuple[RemarkLine, ...] = ()
    more: str = ""
    closing: tuple[str, ...] = ()


def remarks_of(run: Run, causes: Causes) -> Iterator[Remark]:
    """Notes, failures by cause, rejected rows and skipped fields."""
    if not run.finished:
        told = "The run is not finished: the numbers cover only its samples so far."
        yield Remark(RemarkLine(told, told))
    if (answers := run.declines).asked or answers.declined:
        is_open = answers.declined or answers.undecided
        yield Remark(RemarkLine(f"Answers: {answers}", str(answers) if is_open else ""))
    if run.notes:
        yield Remark(RemarkLine("Notes"), tuple(map(RemarkLine, run.notes)))
    if causes.failed:
        count = sum(times for _, times in causes.failed)
        words = [(status.replace("_", " "), reason, times) for (status, reason), times in causes.failed]
        yield Remark(
            RemarkLine(f"{count} of {number_of(causes.total, 'score')} failed"),
            tuple(
                RemarkLine(f"{times} × {status}: {reason}", status, "no")
                for status, reason, times in words[:SHOWN]
            ),
            _more(len(words) - SHOWN, "reason"),
            tuple(_lost(run, status, sorted(keys)) for status, keys in causes.lost.items()),
        )
    if bad := run.rejected:
        yield Remark(
            RemarkLine(number_of(len(bad), "row was", "rows were") + " left out"),
            tuple(_left_out_lines(bad))[:SHOWN],
            _more(len({row.message for row in bad}) - SHOWN, "reason"),
        )
    for title, counts, why in (("Skipped", causes.skipped, "no "), ("Undefined", causes.undefined, "")):
        if counts:
            lines = (
                RemarkLine(f"{metric} {title.lower()} for {times} of {len(run)}: {why}{reason}")
                for (metric, reason), times in counts.items()
            )
            yield Remark(RemarkLine(title), tuple(lines))


def _left_out_lines(bad: Sequence[BadRow]) -> Iterator[RemarkLine]:
    """A line for each reason why rows were left out, with the first rows that have it."""
    places: dict[str, list[str]] = {}
    for row in bad:
        places.setdefault(row.message, []).append(row.where)
    for message, where in places.items():
        if len(where) == 1:
            yield RemarkLine(f"{where[0]}: {message}", where[0])
        else:
            more = _more(len(where) - SHOWN, "row")
            listed = " ".join([", ".join(where[:SHOWN]), *[more] * bool(more)])
            yield RemarkLine(f"{len(where)} × {message}: {listed}")


def is_first(run: Run) -> bool:
    """Whether no other run lies beside this one: its reader may see such a table for the first time."""
    if run.path is None:
        return True
    own = run.path.resolve()
    beside = islice(own.parent.glob("*/manifest.json"), _BESIDE)
    return all(manifest.parent == own for manifest in beside)


def reading_lines(run: Run, means: Sequence[Mean]) -> list[tuple[str, str]]:
    """Up to four lines that say what the table of means says: a column and its meaning."""
    ranges = {(entry.worst, entry.best) for entry in run.metrics}
    ends = "the worst and the best depend on the metric"
    if len(ranges) == 1:
        ((worst, best),) = ranges
        ends = f"{worst:g} is the worst, {best:g} the best"
    last = "abstained", "answers that decline to answer, such as “I do not know”"
    if any(map(has_gap, means)):
        last = "worst–best", "the mean if all that is missing were the worst, or the best"
    sd = "sd", "how much the scores differ from sample to sample; 0: not at all"
    return [
        ("mean", f"the average score; {ends}"),
        *[sd] * any(mean.spread is not None for mean in means),
        ("n", "samples that count; a missing score is left out, not counted as 0"),
        last,
    ]


def has_gap(mean: Mean) -> bool:
    """Whether failed scores leave the mean open."""
    return mean.worst is not None and mean.best is not None and abs(mean.best - mean.worst) > 5e-4


def _lost(run: Run, status: str, keys: Sequence[Key]) -> str:
    """The scores that lost a reply, the command that shows the replies, and the settings that may help."""
    scores = ", ".join(f"{key.sample_id} {key.signature}" for key in keys[:SHOWN])
    if len(keys) > SHOWN:
        scores += f" and {len(keys) - SHOWN:,} more"
    folder = "RUN" if run.path is None else quote(str(run.path))
    first = f"{quote(keys[0].sample_id)} {quote(keys[0].signature)}"
    what = status.replace("_", " ").capitalize()
    return f"{what}: {scores}; ragmetrics show {folder} {first} --replies; {_TO_SET[status]}"


def _more(count: int, what: str) -> str:
    return f"and {number_of(count, f'more {what}')}" if count > 0 else ""
