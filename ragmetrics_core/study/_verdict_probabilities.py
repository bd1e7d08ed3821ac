"""Probabilities of the verdicts behind scores that are shares of verdicts."""

from collections.abc import Callable, Iterable
from math import fsum, isclose

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics.catalogue import metric_class
from ragmetrics_core.records import Record

__all__ = ["is_verdict_share", "verdict_probabilities"]


def is_verdict_share(signature: str) -> bool:
    """Whether a metric's score is the share of its verdicts, which it can also take of probabilities."""
    try:
        kind = metric_class(signature.partition("/")[0])
    except ConfigError:
        return False
    return "expected" in str(getattr(kind, "__annotations__", {}).get("aggregate", ""))


def verdict_probabilities(
    metric: str, records: Callable[[str], Iterable[Record]] = lambda _: ()
) -> dict[str, tuple[float, ...]]:
    """Probabilities of the verdicts of each sample with a score; 1 or 0 if a person decided.

    Raises:
        ConfigError: a verdict has no probability or several votes, or a score is not the share of its
            verdicts.
    """
    return {record.sample_id: _of(record) for record in records(metric) if record.value is not None}


def _of(record: Record) -> tuple[float, ...]:
    place = f"{record.signature} of {record.sample_id}"
    verdicts = record.verdicts
    if any(verdict.votes for verdict in verdicts):
        raise ConfigError(
            f"{place} was decided by votes: a limit such as 0.8@p90 needs a run without repeats"
        )
    known = [
        verdict.confidence if verdict.overruled is None else float(bool(verdict.supported))
        for verdict in verdicts
    ]
    shares = [share for share in known if share is not None]
    if not shares or len(shares) < len(known):
        raise ConfigError(
            f"{place} has a verdict without a probability: a limit such as 0.8@p90 needs a judge that gives "
            "one for each, such as embedded, grounded:MODEL or decisions:MODEL"
        )
    means = (sum(bool(verdict.supported) for verdict in verdicts), fsum(shares))
    if not any(isclose(record.value or 0.0, mean / len(shares), abs_tol=1e-9) for mean in means):
        raise ConfigError(f"{place} is not the share of its verdicts, as a limit such as 0.8@p90 requires")
    return tuple(shares)
