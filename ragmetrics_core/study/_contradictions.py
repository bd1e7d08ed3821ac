"""Contradicted statements of a run, as reasons why a gate does not let it pass."""

from collections.abc import Iterator

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.parsers import CONTRADICTED
from ragmetrics_core.records import Record
from ragmetrics_core.runs import Run

__all__ = ["contradictions"]

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
