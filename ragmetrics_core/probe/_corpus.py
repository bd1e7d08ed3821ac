"""The corpus of the probes: passages with known answers, texts that try to steer, and padding."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.prompts import digest_of

__all__ = [
    "Attack",
    "Case",
    "CorpusChunk",
    "CorpusStatement",
    "Field",
    "KnownPassage",
    "Padding",
    "ProbeCorpus",
    "Verdicts",
    "read_corpus",
    "spread",
    "truth",
]

Field = Literal["context", "answer", "question", "reference"]

_LIBRARY = files("ragmetrics_core.probe") / "library"


class _CorpusData(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CorpusChunk(_CorpusData):
    """A context chunk, and whether it holds the reference answer or a full fact of it."""

    text: str
    useful: bool


class CorpusStatement(_CorpusData):
    """A sentence, whether the passage's chunks support it, and what makes that easy or hard to tell."""

    text: str
    supported: bool
    kind: str


class KnownPassage(_CorpusData):
    """A few chunks, a question on them with its answer, and statements of which the truth is known."""

    id: str
    language: str
    question: str
    reference: str
    chunks: tuple[CorpusChunk, ...]
    statements: tuple[CorpusStatement, ...]

    def cases(self, *, chunks: bool = False) -> list["Case"]:
        """The cases of the statements, or of the chunks."""
        texts = self.chunks if chunks else self.statements
        return [Case(self.id, chunks, place) for place in range(len(texts))]


class Attack(_CorpusData):
    """A text that tries to steer a judge or the parser of its reply.

    Attributes:
        id: its name.
        field: the text of a sample behind which it is put; of the contexts, the first chunk.
        kind: by what means it tries.
        wish: the verdict that it wants. It steers when a verdict that was right becomes this one.
        text: what is put there.
    """

    id: str
    field: Field
    kind: str
    wish: Literal["yes", "no"]
    text: str

    @property
    def wants_yes(self) -> bool:
        """Whether the wished verdict is "yes"."""
        return self.wish == "yes"

    @property
    def is_on_chunks(self) -> bool:
        """Whether it is after verdicts on chunks: the prompts that show question and reference give these."""
        return self.field in ("question", "reference")


class Padding(_CorpusData):
    """Many words that say nothing, to be put in front of a statement."""

    language: str
    text: str


class ProbeCorpus(NamedTuple):
    """All that the probes are made of, and the digest of the files that hold it."""

    passages: tuple[KnownPassage, ...]
    attacks: tuple[Attack, ...]
    paddings: tuple[Padding, ...]
    digest: str


class Case(NamedTuple):
    """A statement or a chunk of a passage, by its place from 0."""

    passage: str
    is_chunk: bool
    place: int

    def __str__(self) -> str:
        """As the card names it: "lighthouse statement 2"."""
        return f"{self.passage} {'chunk' if self.is_chunk else 'statement'} {self.place + 1}"


Verdicts = Mapping[Case, bool | None]
"""Verdict on each case; None if the judge gave none."""


@cache
def read_corpus() -> ProbeCorpus:
    """Read the corpus that comes with the package."""
    attacks, passages = ((_LIBRARY / f"{name}.toml").read_text("utf-8") for name in ("attacks", "passages"))
    read = tomllib.loads(passages)
    return ProbeCorpus(
        passages=tuple(KnownPassage.model_validate(row) for row in read["passage"]),
        attacks=tuple(Attack.model_validate(row) for row in tomllib.loads(attacks)["attack"]),
        paddings=tuple(Padding.model_validate(row) for row in read["padding"]),
        digest=digest_of(attacks, passages),
    )


def truth(passages: Iterable[KnownPassage]) -> dict[Case, bool]:
    """The correct verdicts."""
    facts: dict[Case, bool] = {}
    for passage in passages:
        facts |= zip(passage.cases(), (statement.supported for statement in passage.statements), strict=True)
        facts |= zip(passage.cases(chunks=True), (chunk.useful for chunk in passage.chunks), strict=True)
    return facts


def spread(values: tuple[Any, ...], limit: int | None) -> tuple[Any, ...]:
    """At most `limit` of the values, taken evenly from all of them, so that a few stand for every kind.

    >>> spread(("a", "b", "c", "d", "e", "f"), 3)
    ('a', 'c', 'e')
    """
    if limit is None or limit >= len(values):
        return values
    return tuple(values[place * len(values) // limit] for place in range(limit))
