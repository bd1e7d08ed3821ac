"""Causes of scores without a value."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ragmetrics_core.records import FAILED
from ragmetrics_core.runs import Key, Outcome

__all__ = ["Causes"]

_REPLY_LOST = frozenset({"parse_error", "model_error", "timeout"})


class Causes(NamedTuple):
    """Causes of scores without a value.

    Attributes:
        failed: number of failures by status and reason, the most frequent first.
        skipped: number of samples that a metric skipped because of a missing field, by (metric, field).
        undefined: number of samples without a value, by (metric, reason).
        measured: number of scores that neither failed nor were skipped.
        total: number of scores.
        lost: scores that failed because a reply was missing or could not be read, by status.
    """

    failed: list[tuple[tuple[str, str], int]]
    skipped: dict[tuple[str, str], int]
    undefined: dict[tuple[str, str], int]
    measured: int
    total: int
    lost: dict[str, list[Key]]

    @classmethod
    def of(cls, outcomes: Iterable[tuple[Key, Outcome]]) -> "Causes":
        """Count the causes in outcomes, in one pass."""
        failed: Counter[tuple[str, str]] = Counter()
        first: dict[str, str] = {}
        skipped: Counter[tuple[str, str]] = Counter()
        undefined: Counter[tuple[str, str]] = Counter()
        lost: dict[str, list[Key]] = {}
        measured = total = 0
        for key, outcome in outcomes:
            total += 1
            if outcome.status in FAILED or outcome.status == "unverified_contexts":
                # a metric that raises names its sample: show one cause of many samples with the first one
                cause = (outcome.reason or "no reason given").replace(
                    f" on sample {key.sample_id}: ", ": ", 1
                )
                failed[outcome.status, cause] += 1
                if outcome.status in _REPLY_LOST:
                    lost.setdefault(outcome.status, []).append(key)
                first.setdefault(cause, outcome.reason or cause)
            elif outcome.status == "skipped":
                skipped[key.signature, outcome.reason or ""] += 1
            else:
                measured += 1
                if outcome.status == "undefined":
                    reason = (outcome.reason or "no reason given").replace("_", " ")
                    undefined[key.signature, reason] += 1
        told = [((status, first[cause]), times) for (status, cause), times in failed.most_common()]
        return cls(told, dict(skipped), dict(undefined), measured, total, lost)
