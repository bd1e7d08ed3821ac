"""Where the texts stand that verdicts rest on, which reference counted, what a person has said."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core.measurement import Evidence, Verdict
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records import Correction, Record
from ragmetrics_core.samples import Sample

__all__ = [
    "ExpectedText",
    "Mark",
    "TextPlace",
    "about_reference",
    "correction_of",
    "decided",
    "expected_texts",
    "is_about_what_counts",
    "marks",
    "place",
    "reference_source",
]

# How a verdict says which of several references it is about.
_ABOUT_REFERENCE = re.compile(r" \(reference (\d{1,6})\)$")
# Where the metrics that compare words with all references at once say which of them was the best.
_COUNTED = {
    **dict.fromkeys(
        ("token_f1", "meteor", "bert_score", "answer_equivalence", "semantic_answer_similarity"), "reference"
    ),
    "rouge": "best",
}


class TextPlace(NamedTuple):
    """A text of the sample: the source, and which of its texts, from 1."""

    source: str
    part: int

    def __str__(self) -> str:
        """The place in words: "chunk 2", "reference"."""
        return f"chunk {self.part}" if self.source == "contexts" else self.source


class ExpectedText(NamedTuple):
    """One of a sample's references.

    Attributes:
        number: its number, from 1.
        text: the reference.
        standing: where the score took one of several: "counts", "does not count" or "not asked"; else "".
    """

    number: int
    text: str
    standing: str = ""

    @property
    def source(self) -> str:
        """What evidence calls it: "reference", "reference 2"."""
        return reference_source(self.number)


class Mark(NamedTuple):
    """A piece of a text that a verdict rests on."""

    start: int
    end: int
    verdict: Verdict


def place(evidence: Evidence) -> TextPlace | None:
    """The text in which a quote was found; None when it stands nowhere."""
    return None if evidence.span is None else TextPlace(evidence.source, evidence.span.chunk)


def marks(record: Record) -> Mapping[TextPlace, list[Mark]]:
    """What to mark in each text of the record's sample; what does not count, in its own reference alone."""
    found: dict[TextPlace, list[Mark]] = {}
    for verdict in record.verdicts:
        counts = is_about_what_counts(record, verdict)
        for evidence in verdict.evidence:
            where = place(evidence)
            if where and evidence.span and (counts or where.source.startswith("reference")):
                found.setdefault(where, []).append(Mark(evidence.span.start, evidence.span.end, verdict))
    for where, mark in _relevant_sentences(record):
        found.setdefault(where, []).append(mark)
    return found


def reference_source(number: int) -> str:
    """What evidence calls a sample's reference of this number."""
    return "reference" if number == 1 else f"reference {number}"


def expected_texts(sample: Sample, record: Record | None = None) -> tuple[ExpectedText, ...]:
    """The references of a sample, and which of them a score counted and did not ask about."""
    texts = sample.expected
    counted = None if record is None or len(texts) < 2 else _counted(record, sample)
    if record is None or counted is None:
        return tuple(ExpectedText(number, text) for number, text in enumerate(texts, start=1))
    asked = len(texts) - record.counts.get("references_not_asked", 0)

    def standing(number: int) -> str:
        if number == counted:
            return "counts"
        return "does not count" if number <= asked else "not asked"

    return tuple(ExpectedText(number, text, standing(number)) for number, text in enumerate(texts, start=1))


def _counted(record: Record, sample: Sample) -> float | None:
    """The number of the reference that counted, where the score took one of several."""
    if (name := _COUNTED.get(record.metric)) is not None:
        every = tuple(dict.fromkeys((sample.reference, *(sample.references or ()))))
        return record.counts.get(name) if every == sample.expected else None
    is_of_all = record.counts.get("references") == len(sample.expected)
    return record.counts.get("reference") if is_of_all else None


def is_about_what_counts(record: Record, verdict: Verdict) -> bool:
    """Whether a verdict is not about one of several references that another one was better than."""
    number = about_reference(verdict)
    return number is None or number == record.counts.get("reference", number)


def about_reference(verdict: Verdict) -> int | None:
    """Which of several references a verdict is about, as it says itself."""
    found = _ABOUT_REFERENCE.search(verdict.about)
    return int(found[1]) if found else None


def decided(verdict: Verdict) -> str:
    """What a person's decision did to the judge's: overruled it, or confirmed it."""
    if verdict.overruled is None:
        return "overruled the judge's missing verdict"
    did = "confirmed" if verdict.overruled == verdict.supported else "overruled"
    return f"{did} the judge's {'yes' if verdict.overruled else 'no'}"


def correction_of(record: Record, verdict: Verdict) -> Correction | None:
    """The correction of a verdict: it is named by its place and its position there."""
    beside = [each.number for each in record.verdicts if each.path == verdict.path]
    item = beside.index(verdict.number) + 1
    return next((each for each in record.corrections if (each.path, each.item) == (verdict.path, item)), None)


def _relevant_sentences(record: Record) -> Iterator[tuple[TextPlace, Mark]]:
    """The context sentences that a verdict calls relevant: the record says how the contexts were split."""
    verdicts = iter([verdict for verdict in record.verdicts if verdict.about == "context sentence"])
    contexts: Sequence[str] = (record.sample.contexts or ()) if record.sample else ()
    for number, chunk in enumerate(contexts, start=1):
        for start, end in record.segments.get(digest_of(chunk), ()):
            verdict = next(verdicts, None)
            if verdict is not None and verdict.supported:
                yield TextPlace("contexts", number), Mark(start, end, verdict)
