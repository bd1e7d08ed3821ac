"""Resuming: scores to measure again, and cached replies to discard."""

from collections.abc import Iterable, Iterator
from typing import Any

from ragmetrics_core.drivers import useless_replies
from ragmetrics_core.journal import call_address
from ragmetrics_core.metrics import Metric
from ragmetrics_core.records import FAILED, GenerateStep, Record
from ragmetrics_core.records.written_record import WrittenRecord
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._stored_lines import Key
from ragmetrics_core.samples import Sample

__all__ = ["left_open", "may_replace", "useless_calls"]


def left_open(folder: Folder, sample: Sample) -> dict[str, Record]:
    """Records of a sample, by signature, that a correction reopened.

    References that were not asked about may count now.
    """
    statuses = folder.statuses(sample)
    incomplete = [signature for signature, status in statuses.items() if status == "incomplete"]
    records = (folder.record(Key(sample.id, signature)) for signature in incomplete)
    return {
        record.signature: record
        for record in records
        if record.corrections and record.counts.get("references_not_asked")
    }


def may_replace(earlier: Record | None, measured: WrittenRecord) -> bool:
    """Whether a new score may replace a reopened one, if there is one.

    It must rest on the earlier replies, because the person decided on those; other steps may fail.
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


def useless_calls(record: Record, metrics: Iterable[Metric[Any]]) -> Iterator[str]:
    """Addresses of the replies that made a record fail.

    Args:
        record: a hydrated record.
        metrics: the run's metrics.
    """
    metric = next((each for each in metrics if each.signature == record.signature), None)
    for step in useless_replies(record, metric=metric):
        judge = step.judge or record.judge
        assert judge is not None, "a judge replied"
        yield call_address(judge, step.rendered_digest, str(step.draw))
