"""Where quoted evidence stands: the source that a span belongs to, and the texts with the evidence marked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from rich.text import Text

from ragmetrics_core.measurement import Evidence, Verdict
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.record import Record
from ragmetrics_core.report.terminal.text import GOOD, OPEN, WEAK, visible

__all__ = ["Mark", "Place", "marked", "marks", "place", "style_of"]


class Place(NamedTuple):
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
    number: int
    style: str


def style_of(verdict: Verdict) -> str:
    """The colour of a decision."""
    return OPEN if verdict.supported is None else GOOD if verdict.supported else WEAK


def place(evidence: Evidence) -> Place | None:
    """The text in which a quote was found; None when it stands nowhere."""
    return None if evidence.span is None else Place(evidence.source, evidence.span.chunk)


def marks(record: Record) -> Mapping[Place, list[Mark]]:
    """What to mark in each text of the record's sample."""
    found: dict[Place, list[Mark]] = {}
    for verdict in record.verdicts:
        for evidence in verdict.evidence:
            where = place(evidence)
            if where and evidence.span:
                mark = Mark(evidence.span.start, evidence.span.end, verdict.number, style_of(verdict))
                found.setdefault(where, []).append(mark)
    for where, mark in _relevant_sentences(record):
        found.setdefault(where, []).append(mark)
    return found


def marked(text: str, wanted: Iterable[Mark]) -> Text:
    """The text with the marks' pieces underlined, and the verdicts' numbers after each."""
    result = Text(visible(text))
    within = sorted(
        (mark for mark in wanted if mark.start < mark.end <= len(text)),
        key=lambda mark: (mark.end, mark.number),
    )
    for mark in within:
        result.stylize(f"underline {mark.style}", mark.start, mark.end)
    ends = [(end, list(group)) for end, group in groupby(within, key=lambda mark: mark.end)]
    pieces = result.divide([end for end, _ in ends])
    whole = Text()
    for position, piece in enumerate(pieces):
        whole.append_text(piece)
        if position < len(ends):
            group = ends[position][1]
            numbers = " ".join(dict.fromkeys(_raised(mark.number) for mark in group))
            whole.append(f"⁽{numbers}⁾", group[0].style)
    return whole


def _relevant_sentences(record: Record) -> Iterator[tuple[Place, Mark]]:
    """The context sentences that a verdict calls relevant: the record says how the contexts were split."""
    verdicts = iter([verdict for verdict in record.verdicts if verdict.about == "context sentence"])
    for number, chunk in enumerate(_texts(record)["contexts"], start=1):
        for start, end in record.segments.get(digest_of(chunk), ()):
            verdict = next(verdicts, None)
            if verdict is not None and verdict.supported:
                yield Place("contexts", number), Mark(start, end, verdict.number, GOOD)


def _texts(record: Record) -> Mapping[str, Sequence[str]]:
    sample = record.sample
    if sample is None:
        return {"contexts": (), "reference": (), "answer": ()}
    one = {"reference": sample.reference, "answer": sample.answer}
    return {
        "contexts": sample.contexts or (),
        "reference": () if one["reference"] is None else (one["reference"],),
        "answer": () if one["answer"] is None else (one["answer"],),
    }


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
