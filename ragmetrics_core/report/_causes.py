"""Why scores of a run have no value."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ragmetrics_core.records import FAILED
from ragmetrics_core.runs import Key, Outcome

__all__ = ["Causes"]


class Causes(NamedTuple):
    """Why scores of a run have no value.

    Attributes:
        failed: how often each status and reason of a failure occurred, the most frequent first.
        skipped: how many samples each metric skipped for the lack of each field, by (metric, field).
        undefined: how many samples each metric has no value of, for each reason, by (metric, reason).
        measured: how many scores are neither failed nor skipped.
        total: how many scores there are.
    """

    failed: list[tuple[tuple[str, str], int]]
    skipped: dict[tuple[str, str], int]
    undefined: dict[tuple[str, str], int]
    measured: int
    total: int

    @classmethod
    def of(cls, outcomes: Iterable[tuple[Key, Outcome]]) -> "Causes":
        """Count the causes in outcomes, one pass over them."""
        failed: Counter[tuple[str, str]] = Counter()
        first: dict[str, str] = {}
        skipped: Counter[tuple[str, str]] = Counter()
        undefined: Counter[tuple[str, str]] = Counter()
        measured = total = 0
        for key, outcome in outcomes:
            total += 1
            if outcome.status in FAILED or outcome.status == "unverified_contexts":
                # a metric that raises names its sample: one cause on many samples is told with the first
                cause = (outcome.reason or "no reason given").replace(
                    f" on sample {key.sample_id}: ", ": ", 1
                )
                failed[outcome.status, cause] += 1
                first.setdefault(cause, outcome.reason or cause)
            elif outcome.status == "skipped":
                skipped[key.signature, outcome.reason or ""] += 1
            else:
                measured += 1
                if outcome.status == "undefined":
                    reason = (outcome.reason or "no reason given").replace("_", " ")
                    undefined[key.signature, reason] += 1
        told = [((status, first[cause]), times) for (status, cause), times in failed.most_common()]
        return cls(told, dict(skipped), dict(undefined), measured, total)
