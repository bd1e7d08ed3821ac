"""Diagnosis of a sample from its records."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ragmetrics_core.records import Record
from ragmetrics_core.runs._decisions import Decided, decisions_in

__all__ = ["Finding", "Findings", "diagnose", "findings_of"]

Code = Literal[
    "abstained",
    "missed_retrieval",
    "unsupported_statement",
    "repeated_answer",
    "answered_from_outside",
    "more_than_reference",
    "unsupported_citation",
    "uncited_statement",
    "dangling_citation",
]

MEANINGS: Mapping[Code, str] = {
    "abstained": "the answer declines to answer",
    "missed_retrieval": "the contexts lack what the reference says",
    "unsupported_statement": "the answer says what the contexts do not support",
    "repeated_answer": "only an earlier answer of the application says it",
    "answered_from_outside": "the answer is correct, but not from these contexts",
    "more_than_reference": (
        "the contexts support it and the reference does not say it; only the verdict's reason can tell "
        "whether the reference contradicts it"
    ),
    "unsupported_citation": "a sentence is not supported by what it cites",
    "uncited_statement": "a sentence cites nothing",
    "dangling_citation": "a sentence cites a chunk that is not among the contexts",
}


class Finding(NamedTuple):
    """A finding and the texts that show it."""

    code: Code
    texts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The finding as a sentence."""
        return MEANINGS[self.code] + (f": {'; '.join(self.texts)}" if self.texts else "")


Findings = tuple[Finding, ...]


def diagnose(records: Iterable[Record]) -> Findings:
    """Diagnose the pipeline from the records of one sample, without a call.

    - abstained: the answer declines, as a step detected.
    - missed_retrieval: reference statements that context recall could not attribute.
    - unsupported_statement: answer statements that are unsupported according to faithfulness.
    - repeated_answer: unsupported answer statements that an earlier answer of the conversation says.
    - answered_from_outside: unsupported answer statements that agree with the reference (the telecom paper's
      finding about domain-adapted models).
    - more_than_reference: supported answer statements that the reference does not confirm. A short reference
      leaves out much that is right; the verdict alone does not tell whether it contradicts them.
    - unsupported_citation: sentences that, according to citation recall, their cited chunks do not support.
    - uncited_statement: sentences without a citation, according to citation recall.
    - dangling_citation: sentences that cite a chunk that is not among the contexts, according to citation
      recall or citation precision.

    `answered_from_outside` and `more_than_reference` need both faithfulness and factual correctness;
    statements are matched by their text. If a metric was measured several times (`full_repeats`, variants),
    the first record with verdicts counts, because statements and verdicts of the others may differ.
    """
    records = list(records)
    reasons = [each.abstained.reason or "" for each in records if each.abstained and each.abstained.declined]
    abstained = [Finding("abstained", tuple(filter(None, reasons[:1])))] if reasons else []
    return (*abstained, *findings_of((record.metric, decisions_of(record)) for record in records))


def findings_of(measured: Iterable[tuple[str, Mapping[str, Decided]]]) -> Findings:
    """Diagnose a sample from decisions alone; see `decisions_in`.

    Args:
        measured: metric name and decisions of each record of the sample.
    """
    by_metric: dict[str, Mapping[str, Decided]] = {}
    for metric, decisions in measured:
        if decisions:
            by_metric.setdefault(metric, decisions)

    def texts(decided: Decided, *metrics: str) -> list[str]:
        decisions = (item for metric in metrics for item in by_metric.get(metric, {}).items())
        return list(dict.fromkeys(text for text, each in decisions if each == decided))

    factual = by_metric.get("factual_correctness", {})
    repeated = texts("repeated", "faithfulness")
    unsupported = [*texts("unsupported", "faithfulness"), *repeated]
    supported = texts("supported", "faithfulness")
    found: list[tuple[Code, list[str]]] = [
        ("missed_retrieval", texts("unsupported", "context_recall")),
        ("unsupported_statement", unsupported),
        ("repeated_answer", repeated),
        ("answered_from_outside", [text for text in unsupported if factual.get(text) == "supported"]),
        ("more_than_reference", [text for text in supported if factual.get(text) == "unsupported"]),
        ("unsupported_citation", texts("unsupported", "citation_recall")),
        ("uncited_statement", texts("uncited", "citation_recall")),
        ("dangling_citation", texts("dangling", "citation_recall", "citation_precision")),
    ]
    return tuple(Finding(code, tuple(shown)) for code, shown in found if shown)


def decisions_of(record: Record) -> dict[str, Decided]:
    """Decisions of a record that count in a diagnosis, by text."""
    verdicts = (
        (verdict.about, verdict.text, verdict.supported, verdict.label) for verdict in record.verdicts
    )
    return decisions_in(record.metric, verdicts, record.counts)
