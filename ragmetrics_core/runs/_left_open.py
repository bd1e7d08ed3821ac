"""Scores that a person's decision has left open: references that were not asked about may now count."""

from ragmetrics_core.records import FAILED, GenerateStep, Record
from ragmetrics_core.records._written_record import WrittenRecord
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._stored import Key

__all__ = ["goes_on", "left_open"]


def left_open(folder: Folder, sample_id: str) -> dict[str, Record]:
    """The records of a sample that lack references because of a correction, by signature."""
    statuses = folder.index.statuses(sample_id)
    incomplete = [signature for signature, status in statuses.items() if status == "incomplete"]
    records = (folder.record(Key(sample_id, signature)) for signature in incomplete)
    return {
        each.signature: each
        for each in records
        if each.corrections and each.counts.get("references_not_asked")
    }


def goes_on(earlier: Record | None, measured: WrittenRecord) -> bool:
    """Whether a score that was measured may take the place of one that was left open, if there was one.

    It must rest on the earlier one's replies, for those are what the person decided on; the others may fail.
    """
    if earlier is None:
        return True
    if measured.status in FAILED:
        return False
    replies = _replies(measured.read())
    return all(replies.get(place) == reply for place, reply in _replies(earlier).items())


def _replies(record: Record) -> dict[tuple[str, int | None, str | None], tuple[str, str]]:
    return {
        (step.path, step.draw, step.judge): (step.rendered_digest, step.reply)
        for step in record.steps
        if isinstance(step, GenerateStep)
    }
