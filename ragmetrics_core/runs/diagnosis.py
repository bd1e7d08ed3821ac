"""What went wrong with a sample, from what its records already hold."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ragmetrics_core.record import Record

__all__ = ["Finding", "Findings", "diagnose"]

Code = Literal[
    "abstained",
    "missed_retrieval",
    "unsupported_statement",
    "answered_from_outside",
    "wrong_though_supported",
]

MEANINGS: Mapping[Code, str] = {
    "abstained": "the answer declines to answer",
    "missed_retrieval": "the contexts lack what the reference says",
    "unsupported_statement": "the answer says what the contexts do not support",
    "answered_from_outside": "the answer is correct, but not from these contexts",
    "wrong_though_supported": "the contexts support what the reference does not say",
}


class Finding(NamedTuple):
    """One finding and the texts that it rests on."""

    code: Code
    texts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The finding as a sentence."""
        return MEANINGS[self.code] + (f": {'; '.join(self.texts)}" if self.texts else "")


Findings = tuple[Finding, ...]


def diagnose(records: Iterable[Record]) -> Findings:
    """What the records of one sample say about its pipeline; no finding needs a call.

    - abstained: a step saw that the answer declines.
    - missed_retrieval: statements of the reference that context recall could not attribute.
    - unsupported_statement: statements of the answer that faithfulness found unsupported.
    - answered_from_outside: unsupported statements that the reference has (the telecom paper's finding
      about domain-adapted models).
    - wrong_though_supported: supported statements that the reference does not have.

    The last two need both faithfulness and factual correctness; statements are matched by their text. Where a
    metric was measured several times (`full_repeats`, variants), the first record with verdicts counts:
    another one has other statements, or decides otherwise on the same.
    """
    records = list(records)
    grounded = _verdicts(records, "faithfulness", "answer ")
    factual = _verdicts(records, "factual_correctness", "answer ")
    recalled = _verdicts(records, "context_recall", "reference ")

    def texts(
        found: Mapping[str, bool], decision: bool, also: Mapping[str, bool] | None = None
    ) -> tuple[str, ...]:
        other = found if also is None else also
        expected = decision if also is None else not decision
        return tuple(
            text for text, value in found.items() if value is decision and other.get(text) is expected
        )

    reasons = [each.abstained.reason or "" for each in records if each.abstained and each.abstained.declined]
    found: list[tuple[Code, tuple[str, ...]]] = [
        ("missed_retrieval", texts(recalled, False)),
        ("unsupported_statement", texts(grounded, False)),
        ("answered_from_outside", texts(grounded, False, factual)),
        ("wrong_though_supported", texts(grounded, True, factual)),
    ]
    abstained = [Finding("abstained", tuple(filter(None, reasons[:1])))] if reasons else []
    return (*abstained, *(Finding(code, statements) for code, statements in found if statements))


def _verdicts(records: Iterable[Record], metric: str, about: str) -> dict[str, bool]:
    """The decisions of a metric on texts of one kind, by text."""
    measured = (_decisions(record, about) for record in records if record.metric == metric)
    return next(filter(None, measured), dict[str, bool]())


def _decisions(record: Record, about: str) -> dict[str, bool]:
    """The decisions on texts of one kind; of several references, those of the one that counts."""
    several = record.counts.get("references") and record.counts.get("reference")
    which = f"(reference {several:g})" if several else ""
    return {
        verdict.text: verdict.supported
        for verdict in record.verdicts
        if verdict.about.startswith(about) and verdict.about.endswith(which) and verdict.supported is not None
    }
