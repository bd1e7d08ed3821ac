"""Contradicted statements of runs: their number, and the reasons why a gate does not let a run pass."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ragmetrics_core.asking import is_three_way
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import get
from ragmetrics_core.parsers import CONTRADICTED
from ragmetrics_core.prompts import STANCES
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.study._group_values import members_of
from ragmetrics_core.study._scores import Scores
from ragmetrics_core.study._tables import StudyTable, plain_table
from ragmetrics_core.texts.wording import number_of

__all__ = ["contradictions", "stance_tables"]

_COUNTS = ("statements", CONTRADICTED, "not_mentioned", "unproven")
_MOST_NAMED = 20
_LONGEST = 200


def contradictions(run: Run) -> tuple[tuple[str, str], ...]:
    """Reasons why a run has contradicted statements, each with its metric; none if it has none.

    A score that failed or lacks a verdict and an invalid row may hide a contradiction, so that they are
    reasons too. A contradiction that nothing in the contexts proves ("unproven") is not, and neither is one
    that a person overruled.

    Raises:
        ConfigError: no metric of the run has verdicts in three ways.
    """
    records: dict[str, list[Record]] = {}
    three_way = {entry.signature for entry in run.metrics if _asks_three_ways(entry.signature)}
    for record in run.records():
        records.setdefault(record.signature, []).append(record)
        if CONTRADICTED in record.counts:
            three_way.add(record.signature)
    if not three_way:
        raise ConfigError(
            'the condition "contradicted" needs verdicts in three ways: measure faithfulness/strict.2, '
            "hallucination/strict.2 or context_recall/strict.2"
        )
    reasons = [
        (signature, why)
        for signature in records
        if signature in three_way
        for record in records[signature]
        for why in _reasons(record)
    ]
    left = len(reasons) - _MOST_NAMED
    more = [("", f"{left} more statements are contradicted or undecided")] if left > 0 else []
    if run.rejected:
        rows = number_of(len(run.rejected), "invalid row")
        more.append(("", f"{rows} left out: what they say may be contradicted; correct the data"))
    return (*reasons[:_MOST_NAMED], *more)


def stance_tables(
    runs: Sequence[Run], opened: Sequence[Scores], *, by: str | None = None
) -> Iterator[StudyTable]:
    """Table of the contradicted statements by run, group and metric, if a run has verdicts in three ways.

    Args:
        runs: the runs.
        opened: their scores, in the same order.
        by: label that defines the groups. Default: one row for each run and metric.
    """
    rows: list[tuple[str, ...]] = []
    for run, scores in zip(runs, opened, strict=True):
        if all(prompt.name != STANCES.name for prompt in run.prompts.values()):
            continue
        members = members_of(scores, by)
        group_of = {sample_id: group for group, ids in members.items() for sample_id in ids}
        found: dict[tuple[str, str], Counter[str]] = {}
        for record in run.records():
            if CONTRADICTED in record.counts and record.sample_id in group_of:
                counted = {name: int(record.counts.get(name, 0)) for name in _COUNTS}
                key = group_of[record.sample_id], record.signature
                found.setdefault(key, Counter()).update(counted)
        order = [*members]
        for group, metric in sorted(found, key=lambda key: order.index(key[0])):
            counts = found[group, metric]
            place = (scores.name,) if by is None else (scores.name, group)
            rows.append((*place, metric, *(str(counts[each]) for each in _COUNTS)))
    if rows:
        places = ["run"] if by is None else ["run", by]
        columns = [*places, "metric", *(name.replace("_", " ") for name in _COUNTS)]
        yield plain_table("contradicted", "Contradicted statements", columns, rows)


def _asks_three_ways(signature: str) -> bool:
    """Whether a metric of the catalogue asks for verdicts in three ways, also if all its scores failed."""
    with suppress(ConfigError, ValueError, TypeError):  # a custom metric, or replaced prompts
        return any(map(is_three_way, get(signature).prompts_asked.values()))
    return False


def _reasons(record: Record) -> Iterator[str]:
    named = f"{record.signature} of sample {record.sample_id}"
    supported = {verdict.text for verdict in record.verdicts if verdict.supported}
    texts = dict.fromkeys(
        verdict.text
        for verdict in record.verdicts
        if verdict.label == CONTRADICTED and verdict.text not in supported
    )
    for text in texts:
        yield f'{named}: contradicted: "{text[:_LONGEST]}"'
    if record.value is None and record.status not in ("undefined", "skipped"):
        yield f"{named}: undecided: {record.status} ({record.formula or record.reason})"
