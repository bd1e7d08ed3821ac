"""Replies that scores failed on: a run forgets them, so that they are asked for again."""

from collections.abc import Iterable, Iterator
from typing import Any

from ragmetrics_core.drivers import useless_replies
from ragmetrics_core.journal import call_address
from ragmetrics_core.metrics import Metric
from ragmetrics_core.records import Record

__all__ = ["useless_calls"]


def useless_calls(record: Record, metrics: Iterable[Metric[Any]]) -> Iterator[str]:
    """The addresses of the replies that a failed record failed on.

    Args:
        record: a hydrated record.
        metrics: the run's metrics, its own among them.
    """
    metric = next((each for each in metrics if each.signature == record.signature), None)
    for step in useless_replies(record, metric=metric):
        judge = step.judge or record.judge
        assert judge is not None, "a judge replied"
        yield call_address(judge, step.rendered_digest, str(step.draw))
