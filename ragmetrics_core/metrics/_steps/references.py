"""Metrics that compare with a reference; the best of several references counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast

from ragmetrics_core.measurement import Bounds, Measurement
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.reference_numbers import of_reference
from ragmetrics_core.protocol import Fork, Steps
from ragmetrics_core.samples import View, distinct_references

__all__ = ["ReferenceMetric", "best_measurement"]

V = TypeVar("V", bound=View)


class _HasReferences(Protocol):
    reference: str
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ReferenceMetric(Metric[V]):
    """A metric that measures against one reference at a time.

    Attributes:
        references: "best" measures against one reference after the other until a score is the best possible,
            and takes the best (the first of equal ones); "first" measures only against `reference`.
        best_is_highest: whether the highest score is the best reference's; None for `higher_is_better`.
    """

    best_is_highest: ClassVar[bool | None] = None

    references: Literal["best", "first"] = "best"

    def against(self, sample: V) -> Steps[Measurement]:
        """Measure the sample against its single reference."""
        raise NotImplementedError

    def measure(self, sample: V) -> Steps[Measurement]:
        """Measure against each reference until no other can be better; take the best."""
        given = cast("_HasReferences", sample)
        if not given.references:
            return (yield from self.against(sample))
        texts = distinct_references((given.reference, *given.references))
        if self.references == "first" or len(texts) == 1:
            return (yield from self.against(_with_one(sample, given.reference)))
        highest = self.higher_is_better if self.best_is_highest is None else self.best_is_highest
        ends = self.range

        def is_full(measured: Measurement) -> bool:
            known = measured.range
            return known is not None and (known.low >= ends.high if highest else known.high <= ends.low)

        branches = [
            of_reference(number, self.against(_with_one(sample, text)))
            for number, text in enumerate(texts, start=1)
        ]
        # one after the other; a branch that failed does not keep the next one from running
        found: tuple[Measurement, ...] = yield Fork(tuple(branches), is_full)
        full = ends.high if highest else ends.low
        return best_measurement(found, highest=highest, references=len(texts), full=full)


def best_measurement(
    found: Sequence[Measurement], *, highest: bool, references: int | None = None, full: float | None = None
) -> Measurement:
    """The best of the measurements against several references, the first of equal ones.

    References with an undefined score are skipped. If verdicts are missing, the bounds are those of the best
    score. If a person overruled the full score that ended the measurement, each reference that was not
    measured may still have the full score.

    Args:
        found: the measurements, in the order of the references.
        highest: whether the highest score is the best.
        references: number of references; default: the number of measurements.
        full: the best possible score.
    """
    ranges = [
        (number, each, each.range) for number, each in enumerate(found, start=1) if each.range is not None
    ]
    if not ranges:
        return found[0]
    best_of = max if highest else min
    bounds = Bounds(best_of(each.low for *_, each in ranges), best_of(each.high for *_, each in ranges))
    sure = bounds.low if highest else bounds.high
    number, best, _ = next(item for item in ranges if sure == (item[2].low if highest else item[2].high))
    count = len(found) if references is None else references
    counts, which = {"reference": number, "references": count}, f"reference {number} of {count}"
    if left := count - len(found):
        counts["references_not_asked"] = left
        which += f", {left} not asked"
    told = replace(best, counts={**best.counts, **counts}, formula=f"{best.formula} ({which})")
    if left and full is not None and (sure < full if highest else sure > full):
        open_bounds = Bounds(sure, full) if highest else Bounds(full, sure)
        return replace(told, value=None, bounds=open_bounds, reason=_left_open(len(found) + 1, count))
    if bounds.low == bounds.high:
        return replace(told, value=bounds.low, bounds=None, reason=None)
    reason = next(each.reason for _, each, _ in ranges if each.bounds is not None)
    return replace(told, value=None, bounds=bounds, reason=reason)


def _left_open(first: int, last: int) -> str:
    """Message that names the references not measured, with the reason and the fix."""
    which = f"reference {last} was" if first == last else f"references {first} to {last} were"
    them = "it" if first == last else "them"
    return (
        f"{which} not asked about, for a person overruled what ended the asking; "
        f"evaluating again into the same folder asks about {them}"
    )


def _with_one(sample: V, reference: str) -> V:
    return replace(sample, **cast("dict[str, Any]", {"reference": reference, "references": ()}))
