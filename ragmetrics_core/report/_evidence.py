"""Where the texts stand that verdicts rest on, and what a person has said about a verdict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core.measurement import Evidence, Verdict
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.record import Correction, Record

__all__ = ["Mark", "TextPlace", "correction_of", "decided", "marks", "place"]


class TextPlace(NamedTuple):
    """A text of the sample: the source, and which of its texts, from 1."""

    source: str
    part: int

    def __str__(self) -> str:
        """The place in words: "chunk 2", "reference"."""
        return f"chunk {self.part}" if self.source == "contexts" else self.source


class Mark(NamedTuple):
    """A piece of a text that a verdict rests on."""

    start: int
    end: int
    verdict: Verdict


def place(evidence: Evidence) -> TextPlace | None:
    """The text in which a quote was found; None when it stands nowhere."""
    return None if evidence.span is None else TextPlace(evidence.source, evidence.span.chunk)


def marks(record: Record) -> Mapping[TextPlace, list[Mark]]:
    """What to mark in each text of the record's sample."""
    found: dict[TextPlace, list[Mark]] = {}
    for verdict in record.verdicts:
        for evidence in verdict.evidence:
            where = place(evidence)
            if where and evidence.span:
                found.setdefault(where, []).append(Mark(evidence.span.start, evidence.span.end, verdict))
    for where, mark in _relevant_sentences(record):
        found.setdefault(where, []).append(mark)
    return found


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
