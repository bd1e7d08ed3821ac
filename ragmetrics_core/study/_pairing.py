"""The pairs of two runs: by sample, with what the second run lost."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragmetrics_core.study._scores import Scores
from ragmetrics_core.wording import number_of

__all__ = ["FEWEST", "Pairs", "doubts_of", "pairs_of"]

Array = np.ndarray[tuple[int], np.dtype[np.float64]]

FEWEST = 6
"""With fewer pairs no paired test finds anything at 0.05, however large the differences: 2 / 2^5 > 0.05."""


class Pairs(NamedTuple):
    """One metric's scores in two runs, sample by sample.

    Attributes:
        ids: samples with a value in both runs.
        before, after: their values.
        sure_ids: samples that the first run scored: the pairs of a decision.
        sure_before: their values in the first run.
        sure_after: in the second; where it has none, the worse bound of what is incomplete, else the bad end
            of the metric's range.
        lost: samples that the first run scored and the second did not, those that it does not have included.
        gained: samples that the second run scored and the first did not.
        missing: whether the second run has no value at all.
    """

    ids: tuple[str, ...]
    before: Array
    after: Array
    sure_ids: tuple[str, ...]
    sure_before: Array
    sure_after: Array
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    missing: bool

    @property
    def failed(self) -> bool:
        """Whether the second run failed: it scored nothing, or less than half of what the first one did."""
        return self.missing or 2 * len(self.lost) > len(self.sure_ids)


def pairs_of(before: Scores, after: Scores, metric: str) -> Pairs:
    """Pair the scores of a metric by sample."""
    first, second = before.values[metric], after.values.get(metric, {})
    sure_ids = tuple(first)
    worst = (max if metric in before.lower_is_better else min)(before.worst(metric), after.worst(metric))
    counted = {each: value for each, value in after.sure.get(metric, {}).items() if each in first}
    ids = tuple(each for each in sure_ids if each in second)
    return Pairs(
        ids=ids,
        before=_column(first, ids),
        after=_column(second, ids),
        sure_ids=sure_ids,
        sure_before=_column(first, sure_ids),
        sure_after=_column(dict.fromkeys(sure_ids, worst) | counted | _of(second, ids), sure_ids),
        lost=tuple(each for each in sure_ids if each not in second),
        gained=tuple(each for each in second if each not in first),
        missing=not second,
    )


def doubts_of(
    before: Scores, after: Scores, wanted: Sequence[str] | None, *, cluster: str = ""
) -> tuple[str, ...]:
    """Why the difference of two runs may be another than that of what they measured; a gate refuses these.

    Args:
        before: the first run.
        after: the second one.
        wanted: the metrics that were asked for; None when all were, so that the second must have those of the
            first.
        cluster: the label whose values are the clusters; "" for none.
    """
    doubts: list[str] = []
    if wanted is None and (lacking := [each for each in before.metrics if each not in after.metrics]):
        doubts.append(f"{after.name} does not measure {', '.join(lacking)}, as {before.name} does")
    for kind in dict.fromkeys((*before.models, *after.models)):
        one, other = (run.models.get(kind) for run in (before, after))
        if one and other and one != other:
            doubts.append(f"the {kind} of {after.name} is {other}, that of {before.name} {one}")
    changed = [
        each
        for each, digest in before.expected.items()
        if each in after.expected and after.expected[each] != digest
    ]
    if changed:
        count = "1 sample has" if len(changed) == 1 else f"{len(changed)} samples have"
        first = f"{changed[0]!r}" if len(changed) == 1 else f"the first is {changed[0]!r}"
        doubts.append(f"{count} other expected texts in {after.name} than in {before.name} ({first})")
    regrouped = [
        each
        for each, labels in before.labels.items()
        if cluster and each in after.labels and labels.get(cluster) != after.labels[each].get(cluster)
    ]
    if regrouped:
        count = number_of(len(regrouped), "sample has", "samples have")
        doubts.append(
            f"{count} another {cluster} in {after.name} than in {before.name}, which moves the intervals "
            f"({regrouped[0]!r})"
        )
    return tuple(doubts)


def _of(values: Mapping[str, float], ids: Sequence[str]) -> dict[str, float]:
    return {each: values[each] for each in ids}


def _column(values: Mapping[str, float], ids: Sequence[str]) -> Array:
    return np.array([values[each] for each in ids], dtype=float)
