"""What went wrong with a sample, from what its records already hold."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ragmetrics_core.records import Record
from ragmetrics_core.runs._decisions import decisions_in

__all__ = ["Finding", "Findings", "diagnose", "findings_of"]

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
    reasons = [each.abstained.reason or "" for each in records if each.abstained and each.abstained.declined]
    abstained = [Finding("abstained", tuple(filter(None, reasons[:1])))] if reasons else []
    return (*abstained, *findings_of((record.metric, decisions_of(record)) for record in records))


def findings_of(measured: Iterable[tuple[str, Mapping[str, bool]]]) -> Findings:
    """What went wrong with a sample, from decisions on texts alone: see `decisions_in`.

    Args:
        measured: of each record of the sample the metric's name and the decisions.
    """
    decided: dict[str, Mapping[str, bool]] = {}
    for metric, decisions in measured:
        if decisions:
            decided.setdefault(metric, decisions)
    grounded = decided.get("faithfulness", {})
    factual = decided.get("factual_correctness", {})
    recalled = decided.get("context_recall", {})

    def texts(
        found: Mapping[str, bool], decision: bool, also: Mapping[str, bool] | None = None
    ) -> tuple[str, ...]:
        other = found if also is None else also
        expected = decision if also is None else not decision
        return tuple(
            text for text, value in found.items() if value is decision and other.get(text) is expected
        )

    found: list[tuple[Code, tuple[str, ...]]] = [
        ("missed_retrieval", texts(recalled, False)),
        ("unsupported_statement", texts(grounded, False)),
        ("answered_from_outside", texts(grounded, False, factual)),
        ("wrong_though_supported", texts(grounded, True, factual)),
    ]
    return tuple(Finding(code, statements) for code, statements in found if statements)


def decisions_of(record: Record) -> dict[str, bool]:
    """The decisions of a record that count in a diagnosis, by text."""
    verdicts = ((verdict.about, verdict.text, verdict.supported) for verdict in record.verdicts)
    return decisions_in(record.metric, verdicts, record.counts)
