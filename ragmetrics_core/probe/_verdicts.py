"""The verdicts of measured samples, at the statements and chunks of their passages."""

from collections.abc import Sequence

from ragmetrics_core.probe._corpus import Case, Padding, Passage
from ragmetrics_core.probe._samples import padded_statement
from ragmetrics_core.records import Record

__all__ = ["cases_of", "on_chunks", "on_padded", "on_statements"]


def cases_of(passage: Passage, *, chunks: bool) -> list[Case]:
    """The cases of a passage: its chunks or its statements."""
    return [
        Case(passage.id, chunks, place)
        for place in range(len(passage.chunks if chunks else passage.statements))
    ]


def on_statements(passage: Passage, record: Record) -> dict[Case, bool | None]:
    """The verdicts on a passage's statements, in whatever order they were asked about."""
    return _by_text(passage, record, [statement.text for statement in passage.statements])


def on_padded(passage: Passage, record: Record, paddings: Sequence[Padding]) -> dict[Case, bool | None]:
    """The verdicts on a passage's padded statements."""
    places = range(len(passage.statements))
    return _by_text(passage, record, [padded_statement(passage, place, paddings) for place in places])


def on_chunks(passage: Passage, record: Record, *, turned: bool = False) -> dict[Case, bool | None]:
    """The verdicts on a passage's chunks; `turned` when they were shown in the reverse order."""
    said: list[bool | None] = [verdict.supported for verdict in record.verdicts]
    said += [None] * (len(passage.chunks) - len(said))
    return dict(zip(cases_of(passage, chunks=True), said[::-1] if turned else said, strict=True))


def _by_text(passage: Passage, record: Record, texts: Sequence[str]) -> dict[Case, bool | None]:
    said: dict[str, bool | None] = {}
    for verdict in record.verdicts:
        said.setdefault(" ".join(verdict.text.split()), verdict.supported)
    return {Case(passage.id, False, place): said.get(text) for place, text in enumerate(texts)}
