"""Proofs of a sample's scores as plain data: its texts, the page of each score, and changes."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragmetrics_core.errors import RagMetricsError
from ragmetrics_core.records import Record
from ragmetrics_core.records.comparison import diff
from ragmetrics_core.report._marks import look_of
from ragmetrics_core.report._proof_page import LONG_STEP, ProofPage, SamplePage, changes_by_kind
from ragmetrics_core.report._side_by_side import SideBySide
from ragmetrics_core.report._text import cut, one_line, words
from ragmetrics_core.runs import Run, diagnose
from ragmetrics_core.study import item_name, named_runs
from ragmetrics_core.texts.wording import quoted

__all__ = ["proof_of"]

SEED = 0
"""Of the names of annotated answers; the script has the same."""


def proof_of(beside: SideBySide, sample_id: str) -> dict[str, Any]:
    """Data of one sample: its texts and the proof of each score, by run."""
    records: list[dict[int, Record]] = []
    for number, run in enumerate(beside.runs):
        scores = run.scores(sample_id) if sample_id in run.sample_ids else {}
        entries = ((place, column.entries[number]) for place, column in enumerate(beside.columns))
        records.append(
            {
                place: scores[entry.signature]
                for place, entry in entries
                if entry and entry.signature in scores
            }
        )
    first, *others = records
    return {
        "sides": [
            _side(run, sample_id, name, of_run) if sample_id in run.sample_ids else None
            for run, name, of_run in zip(beside.runs, _names(beside.runs), records, strict=True)
        ],
        "changes": {
            place: _changes(first[place], second[place])
            for second in others
            for place in first
            if place in second
        },
    }


def _names(runs: Sequence[Run]) -> list[str | None]:
    """Names of the runs in annotations, as in a sheet; None if one is in memory or occurs twice."""
    paths = [run.path for run in runs if run.path is not None]
    if len({path.resolve() for path in paths}) < len(runs):
        return [None for _ in runs]
    return list(named_runs(paths))


def _side(run: Run, sample_id: str, name: str | None, records: Mapping[int, Record]) -> dict[str, Any]:
    messages: dict[str, int] = {}
    return {
        **SamplePage.of_sample(run.sample(sample_id), records.values()).model_dump(),
        "item": None if name is None else item_name(name, sample_id, SEED),
        "findings": [
            [each.code, str(each._replace(texts=())), [quoted(words(text)) for text in each.texts[:20]]]
            for each in diagnose(run.scores(sample_id).values())
        ],
        "records": {place: _proof(run, each).model_dump(context=messages) for place, each in records.items()},
        "messages": [cut(text, LONG_STEP) for text in messages],
    }


def _proof(run: Run, record: Record) -> ProofPage:
    try:
        return ProofPage.of_record(run.with_messages(record))
    except RagMetricsError as error:
        return ProofPage.of_record(record, problem=str(error))


def _changes(before: Record, after: Record) -> dict[str, Any]:
    """Changes between two records, for the verdicts on the page only, because comparing texts is slow."""
    found = diff(*(each.model_copy(update={"verdicts": each.verdicts[:60]}) for each in (before, after)))
    return {
        kind: [
            [each and [look_of(each), one_line(each.label), each.unsure, words(each.text)] for each in change]
            for change in changes
        ]
        for kind, changes in changes_by_kind(found).items()
    }
