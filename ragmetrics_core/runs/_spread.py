"""The spread of a run's scores over repetitions, and what it comes from."""

from collections.abc import Iterable, Mapping
from typing import Any

from ragmetrics_core import scoring
from ragmetrics_core.drivers import by_vote
from ragmetrics_core.metrics import Metric
from ragmetrics_core.records import Record

__all__ = ["spread_of"]


def spread_of(
    repetitions: Mapping[str, Iterable[Record]], *, metrics: Mapping[str, Metric[Any]]
) -> scoring.Spread:
    """Split the spread of one metric's scores; see `nested_spread`.

    Args:
        repetitions: for each sample, its records, one for each repetition.
        metrics: the user's own ones, by signature.
    """
    samples: list[list[list[float]]] = []
    for records in repetitions.values():
        votes = [by_vote(record, metric=metrics.get(record.signature)) for record in records]
        known = [[value for value in each if value is not None] for each in votes]
        samples.append([each for each in known if each])
    return scoring.nested_spread(samples)
