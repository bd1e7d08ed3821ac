"""The spread of a run's scores over repetitions, and what it comes from."""

from collections.abc import Iterable, Mapping

from ragmetrics_core import scoring
from ragmetrics_core.drivers import by_vote
from ragmetrics_core.record import Record

__all__ = ["spread_of"]


def spread_of(repetitions: Mapping[str, Iterable[Record]]) -> scoring.Spread:
    """Split the spread of one metric's scores; see `nested_spread`.

    Args:
        repetitions: for each sample, its records, one for each repetition.
    """
    samples = []
    for records in repetitions.values():
        votes = [[value for value in by_vote(record) if value is not None] for record in records]
        samples.append([each for each in votes if each])
    return scoring.nested_spread(samples)
