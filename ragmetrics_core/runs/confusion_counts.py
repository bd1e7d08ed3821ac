"""True positives, false positives and false negatives of scores, under the field names of ragas."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core.records import PartResult, Record

__all__ = ["CountRow", "count_rows"]

Counts = Mapping[str, float]

# Names of counts by metric: what is on both sides, all of the answer, all of the reference.
_TWO_SIDES = {
    "token_f1": ("shared", "answer_words", "reference_words"),
    "rouge": ("shared", "answer", "reference"),
}
_RANKING = frozenset(
    {"retrieval_precision", "retrieval_recall", "hit_rate", "average_precision", "reciprocal_rank", "ndcg"}
)


class CountRow(NamedTuple):
    """The counts of one score, or of a part of it.

    Attributes:
        sample: the sample's id.
        metric: the metric's signature.
        part: the metric of the part that the counts are of; None for the score's own counts.
        status, value: the score's.
        num_tp: on both sides: statements, words or relevant results.
        num_fp: only in the answer, or retrieved and not relevant.
        num_fn: only in the reference, or relevant and not retrieved.
        missing: verdicts that are missing, so that they are in no count.
    """

    sample: str
    metric: str
    part: str | None
    status: str
    value: float | None
    num_tp: int
    num_fp: int
    num_fn: int
    missing: int


def count_rows(records: Iterable[Record]) -> Iterator[CountRow]:
    """The counts of records and of their parts, in their order; without a row for scores that have none."""
    for record in records:
        for part, metric, counts in ((None, record.metric, record.counts), *_of_parts(record.parts)):
            confusion = confusion_of(metric, counts)
            if confusion is not None:
                missing = int(counts.get("missing", 0))
                whole = record.sample_id, record.signature, part, record.status, record.value
                yield CountRow(*whole, *confusion, missing)


def confusion_of(metric: str, counts: Counts) -> tuple[int, int, int] | None:
    """TP, FP and FN from the counts of a metric's score; None if they do not determine all three.

    >>> confusion_of("token_f1", {"shared": 2, "answer_words": 5, "reference_words": 3})
    (2, 3, 1)
    >>> confusion_of("ndcg", {"found": 1, "relevant": 3, "ranks": 5, "retrieved": 4})
    (1, 3, 2)
    >>> confusion_of("faithfulness", {"supported": 1, "statements": 2})
    """
    if counts.keys() >= {"num_tp", "num_fp", "num_fn"}:
        return int(counts["num_tp"]), int(counts["num_fp"]), int(counts["num_fn"])
    names = _TWO_SIDES.get(metric, ())
    if names and counts.keys() >= set(names):
        both, answer, reference = (int(counts[name]) for name in names)
        return both, answer - both, reference - both
    if metric in _RANKING and "found" in counts:
        found = int(counts["found"])
        results = int(min(counts["ranks"], counts["retrieved"]))
        return found, results - found, int(counts["relevant"]) - found
    return None


def _of_parts(parts: Sequence[PartResult]) -> Iterator[tuple[str, str, Counts]]:
    for part in parts:
        yield part.metric, part.metric, part.counts
        yield from _of_parts(part.parts)
