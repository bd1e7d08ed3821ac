"""Contradicted statements of runs: their number, and the reasons why a gate does not let a run pass."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.parsers import CONTRADICTED
from ragmetrics_core.prompts import STANCES
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run
from ragmetrics_core.study._tables import StudyTable, plain_table

__all__ = ["contradictions", "stance_tables"]

_COUNTS = ("statements", CONTRADICTED, "not_mentioned", "unproven")
_MOST_NAMED = 20
_LONGEST = 200


def contradictions(run: Run) -> tuple[tuple[str, str], ...]:
    """Reasons why a run has contradicted statements, each with its metric; none if it has none.

    A score that failed or lacks a verdict may hide a contradiction, so that it is a reason too. A
    contradiction that nothing in the contexts proves ("unproven") is not, and neither is one that a person
    overruled.

    Raises:
        ConfigError: no metric of the run has verdicts in three ways.
    """
    records: dict[str, list[Record]] = {}
    three_way: set[str] = set()
    for record in run.records():
        records.setdefault(record.signature, []).append(record)
        if CONTRADICTED in record.counts:
            three_way.add(record.signature)
    if not three_way:
        raise ConfigError(
            "--fail-if contradicted needs verdicts in three ways: measure faithfulness/strict.2, "
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
    return (*reasons[:_MOST_NAMED], *more)


def stance_tables(runs: Sequence[Run]) -> Iterator[StudyTable]:
    """Table of the contradicted statements of each run and metric, if a run has verdicts in three ways."""
    rows: list[tuple[str, ...]] = []
    for run in runs:
        if all(prompt.name != STANCES.name for prompt in run.prompts.values()):
            continue
        found: dict[str, Counter[str]] = {}
        for record in run.records():
            if CONTRADICTED in record.counts:
                counted = {name: int(record.counts.get(name, 0)) for name in _COUNTS}
                found.setdefault(record.signature, Counter()).update(counted)
        name = run.path.name if run.path else "run"
        rows += [(name, metric, *(str(counts[each]) for each in _COUNTS)) for metric, counts in found.items()]
    if rows:
        columns = ["run", "metric", *(name.replace("_", " ") for name in _COUNTS)]
        yield plain_table("contradicted", "Contradicted statements", columns, rows)


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
