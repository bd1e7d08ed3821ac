"""Marks in the texts of a sample: statements and evidence of verdicts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from ragmetrics_core.measurement import Verdict
from ragmetrics_core.parsers import CONTRADICTED, locate, split_sentences
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records import Record
from ragmetrics_core.samples import Sample
from ragmetrics_core.texts.comparing import folded, plain_form

__all__ = [
    "LONG_TEXT",
    "MOST_VERDICTS",
    "LocatedText",
    "Look",
    "Mark",
    "Sought",
    "about_reference",
    "look_of",
    "marks_of",
    "place_of",
    "reference_name",
    "standings_of",
]

LONG_TEXT, MOST_VERDICTS = 100_000, 500
ALIKE = 0.6
LONGEST = 20_000
# A word, or one character of a script that writes no spaces.
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\w+")
# How a verdict says which of several references it is about.
_ABOUT_REFERENCE = re.compile(r" \(reference (\d{1,6})\)$")
# Where the metrics that compare words with all references at once say which of them was the best.
_COUNTED = {
    **dict.fromkeys(
        ("token_f1", "meteor", "bert_score", "answer_equivalence", "semantic_answer_similarity"), "reference"
    ),
    "rouge": "best",
}


Look = Literal["yes", "no", "contradicted", "unsure", "open"]
"""Colour and sign of a verdict; "open" for a missing one."""


def look_of(verdict: Verdict) -> Look:
    """The look of a verdict; a probability near 0.5 makes it unsure, however it counts.

    A contradicted statement looks contradicted with any probability: one is enough to fail a gate.
    """
    if verdict.supported is None:
        return "open"
    if verdict.label == CONTRADICTED and not verdict.supported:
        return "contradicted"
    if verdict.unsure:
        return "unsure"
    return "yes" if verdict.supported else "no"


class LocatedText(NamedTuple):
    """A piece of the text: the statement itself (`exact`) or the sentence closest to it."""

    start: int
    end: int
    exact: bool


@dataclass(frozen=True)
class Sought:
    """A text to search for statements."""

    text: str

    def find(self, statement: str) -> LocatedText | None:
        """The place of the statement, else of the sentence with most of its words; None if there is none.

        >>> Sought("He lived in Ulm. He was born in 1879.").find("Einstein was born in 1879.")
        LocatedText(start=17, end=37, exact=False)
        """
        if span := locate(statement, [self.text]):
            return LocatedText(span.start, span.end, True)
        words = _words(statement)
        if not words or len(self.text) > LONGEST:
            return None
        best = max(self._sentences, key=lambda place: len(words & self._sentences[place]), default=None)
        if best is None or len(words & self._sentences[best]) < ALIKE * len(words):
            return None
        return LocatedText(*best, False)

    @cached_property
    def _sentences(self) -> dict[tuple[int, int], frozenset[str]]:
        """The words of each sentence, by its place."""
        places: dict[tuple[int, int], frozenset[str]] = {}
        at = 0
        for sentence in split_sentences(self.text):
            start = self.text.find(sentence, at)
            if start >= 0:
                at = start + len(sentence)
                places[start, at] = _words(sentence)
        return places


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded(plain_form(text))))


class Mark(NamedTuple):
    """A piece of a text that belongs to a verdict.

    The kind is "evidence" if the verdict rests on the piece, "statement" if the piece is the statement, and
    "near" if the piece says the statement in other words.
    """

    start: int
    end: int
    number: int
    look: Look
    kind: str


def standings_of(record: Record, sample: Sample) -> list[str]:
    """Whether each reference counts, if the score used one of several."""
    texts = sample.expected
    if (name := _COUNTED.get(record.metric)) is not None:
        is_of_all = tuple(dict.fromkeys((sample.reference, *(sample.references or ())))) == texts
    else:
        name, is_of_all = "reference", record.counts.get("references") == len(texts)
    counted = record.counts.get(name)
    if len(texts) < 2 or not is_of_all or counted is None:
        return []
    asked = len(texts) - record.counts.get("references_not_asked", 0)
    return [
        "counts" if number == counted else "does not count" if number <= asked else "not asked"
        for number in range(1, len(texts) + 1)
    ]


def marks_of(record: Record, sample: Sample) -> dict[str, list[Mark]]:
    """Marks by text; verdicts that do not count are marked only in their own reference."""
    marks: dict[str, list[Mark]] = {}

    def add(name: str, start: int, end: int, verdict: Verdict, kind: str = "evidence") -> None:
        marks.setdefault(name, []).append(Mark(start, end, verdict.number, look_of(verdict), kind))

    for verdict in record.verdicts:
        counts = _is_about_what_counts(record, verdict)
        for evidence in verdict.evidence:
            if evidence.span and (counts or evidence.source.startswith("reference")):
                span = evidence.span
                add(place_of(evidence.source, span.chunk), span.start, span.end, verdict)
    relevances = (verdict for verdict in record.verdicts if verdict.about == "context sentence")
    for number, chunk in enumerate(sample.contexts or (), start=1):
        # the record says how the contexts were split
        for start, end in record.segments.get(digest_of(chunk), ()):
            verdict_of = next(relevances, None)
            if verdict_of is not None and verdict_of.supported:
                add(place_of("contexts", number), start, end, verdict_of)
    references = {reference_name(number): text for number, text in enumerate(sample.expected, start=1)}
    sought = {
        name: Sought(text[:LONG_TEXT]) for name, text in {"answer": sample.answer or "", **references}.items()
    }
    for verdict in record.verdicts[:MOST_VERDICTS]:
        name = _stated_in(record, verdict, references)
        if name in sought and (at := sought[name].find(verdict.text[:2000])):
            add(name, at.start, at.end, verdict, "statement" if at.exact else "near")
    return marks


def _stated_in(record: Record, verdict: Verdict, references: Mapping[str, str]) -> str:
    """The text that a verdict's statement was made from: "answer", "reference", "reference 2"; else ""."""
    name = verdict.about.partition(" ")[0]
    if name != "reference":
        return name if _is_about_what_counts(record, verdict) else ""
    if (number := about_reference(verdict)) is not None:
        return reference_name(number)
    # a verdict on a reference as a whole
    return next((place for place, text in references.items() if text == verdict.text), name)


def reference_name(number: int) -> str:
    """Name of a sample's reference with this number, as evidence has it."""
    return "reference" if number == 1 else f"reference {number}"


def place_of(source: str, part: int) -> str:
    """A text of the sample in words: "chunk 2", "reference"."""
    return f"chunk {part}" if source == "contexts" else source


def about_reference(verdict: Verdict) -> int | None:
    """The number of the reference that a verdict names, if there are several."""
    match = _ABOUT_REFERENCE.search(verdict.about)
    return int(match[1]) if match else None


def _is_about_what_counts(record: Record, verdict: Verdict) -> bool:
    """Whether a verdict is not about one of several references that another one was better than."""
    number = about_reference(verdict)
    return number is None or number == record.counts.get("reference", number)
