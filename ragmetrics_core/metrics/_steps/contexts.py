"""Statements that the contexts should support."""

from collections.abc import Sequence

from ragmetrics_core.asking import ask_each
from ragmetrics_core.measurement import Judged, Labels
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps

__all__ = ["ask_supported"]


def ask_supported(
    prompt: Prompt[VerdictList],
    statements: Sequence[str],
    contexts: tuple[str, ...],
    unaccounted: tuple[str, ...],
    *,
    about: str,
    labels: Labels,
    size: int,
) -> Steps[Judged]:
    """Ask whether the contexts support each statement.

    Statements without support are asked about once more if the model was shown texts of which it is unknown
    whether they are evidence. A statement that only these support has no decision: the score has bounds.

    Args:
        prompt: the prompt, which shows the contexts and the statements.
        statements: the statements.
        contexts: the evidence.
        unaccounted: the other texts in the request.
        about: the kind of statements, for the record.
        labels: names of a positive and a negative verdict.
        size: maximum number of statements in one call.
    """
    judged = yield from ask_each(prompt, statements, about=about, labels=labels, size=size, contexts=contexts)
    doubted = [number for number, known in enumerate(judged.known) if known is False]
    if not unaccounted or not doubted:
        return judged
    again = yield from ask_each(
        prompt,
        [statements[number] for number in doubted],
        about=f"{about} (with text of unknown origin)",
        labels=labels,
        size=size,
        evidence=len(contexts),
        contexts=(*contexts, *unaccounted),
    )
    if not again.supported:
        return judged
    decided = list(judged.known)
    for number, known in zip(doubted, again.known, strict=True):
        decided[number] = None if known else False
    stances = [
        None if known is None else stance
        for known, stance in zip(decided, judged.stances or [None] * len(decided), strict=True)
    ]
    return Judged(
        tuple(decided), judged.probabilities, "unaccounted_text", tuple(stances) if judged.stances else ()
    )
