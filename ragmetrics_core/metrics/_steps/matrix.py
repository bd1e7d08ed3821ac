"""The claim and chunk matrix: statements against each chunk and against the other text.

All metrics of the matrix ask the same questions, so the driver makes each call once for all of them; they
share the statements with faithfulness and factual correctness. A missing verdict stays unknown (`None`) in
everything derived from it.
"""

from collections.abc import Iterable, Sequence

from ragmetrics_core.asking import ask_each, review, together, unmentioned
from ragmetrics_core.measurement import Judged, Labels
from ragmetrics_core.parsers import CONTRADICTED, NOT_MENTIONED, UNPROVEN, VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps

__all__ = [
    "all_of",
    "any_of",
    "each_chunk",
    "in_any",
    "in_relevant",
    "inverse",
    "relevant_chunks",
    "stances_of",
]

ENTAILED = Labels("entailed", "not entailed")
Known = bool | None


def each_chunk(
    prompt: Prompt[VerdictList], statements: Sequence[str], contexts: Sequence[str], *, about: str
) -> Steps[tuple[Judged, ...]]:
    """Verdicts on the statements for each chunk alone; a blank chunk entails none, without a call."""
    return (
        yield from together(
            *(
                _one_chunk(prompt, statements, chunk, number, about)
                for number, chunk in enumerate(contexts, start=1)
            )
        )
    )


def _one_chunk(
    prompt: Prompt[VerdictList], statements: Sequence[str], chunk: str, number: int, about: str
) -> Steps[Judged]:
    about = f"{about} in chunk {number}"
    if not chunk.strip():
        blank = unmentioned(prompt, statements, "the chunk is blank")
        return (yield from review(blank, about=about, labels=ENTAILED))
    return (
        yield from ask_each(
            prompt, statements, about=about, labels=ENTAILED, ranks=(number,), contexts=(chunk,)
        )
    )


def in_any(chunks: Sequence[Judged], count: int) -> Judged:
    """For each of `count` statements, whether some chunk entails it."""
    return Judged.derived([any_of(chunk.known[place] for chunk in chunks) for place in range(count)], *chunks)


def in_relevant(chunks: Sequence[Judged], relevant: Judged, count: int) -> Judged:
    """For each of `count` statements, whether some relevant chunk entails it."""
    rows = list(zip(chunks, relevant.known, strict=True))
    known = [any_of(all_of((chunk.known[place], known)) for chunk, known in rows) for place in range(count)]
    return Judged.derived(known, *chunks)


def stances_of(counted: Sequence[Known], chunks: Sequence[Judged]) -> tuple[str | None, ...]:
    """The stance of the chunks on each statement that counts; None for the others.

    One chunk that contradicts a statement is enough; a statement is not mentioned if no chunk mentions it.

    Args:
        counted: whether each statement counts.
        chunks: the verdicts on the statements, for each chunk.
    """
    rows = [chunk.stances for chunk in chunks if chunk.stances]
    stances: list[str | None] = []
    for place, counts in enumerate(counted):
        of_chunks = {row[place] for row in rows} if chunks else {NOT_MENTIONED}
        kinds = [kind for kind in (CONTRADICTED, UNPROVEN, NOT_MENTIONED) if kind in of_chunks]
        stances.append(kinds[0] if counts and kinds else None)
    return tuple(stances)


def relevant_chunks(reference: Sequence[Judged]) -> Judged:
    """For each chunk, whether it entails a statement of the reference."""
    return Judged.derived((any_of(chunk.known) for chunk in reference), *reference)


def any_of(known: Iterable[Known]) -> Known:
    """Whether any is true; unknown if none is true and some are unknown.

    >>> any_of([False, None]), any_of([None, True]), any_of([])
    (None, True, False)
    """
    values = set(known)
    return True if True in values else None if None in values else False


def all_of(known: Iterable[Known]) -> Known:
    """Whether all are true; unknown if none is false and some are unknown.

    >>> all_of([True, None]), all_of([None, False])
    (None, False)
    """
    return inverse(any_of(inverse(each) for each in known))


def inverse(known: Known) -> Known:
    """The opposite; unknown stays unknown."""
    return None if known is None else not known
