"""Shared step of the metrics that ask whether the contexts are sufficient to answer the question."""

from collections.abc import Sequence

from ragmetrics_core.asking import ask_each, review
from ragmetrics_core.measurement import Decision, Judged, Labels
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps

__all__ = ["ask_sufficient"]

SUFFICIENT = Labels("sufficient", "insufficient")
_REMARK = "The contexts are sufficient to answer the question."


def ask_sufficient(prompt: Prompt[VerdictList], question: str, contexts: Sequence[str]) -> Steps[Judged]:
    """One verdict on the contexts; blank contexts are insufficient, without a call."""
    about = "remark on the contexts"
    if not any(chunk.strip() for chunk in contexts):
        empty = [Decision(_REMARK, False, "nothing was retrieved")]
        return (yield from review(empty, about=about, labels=SUFFICIENT))
    return (
        yield from ask_each(
            prompt, [_REMARK], about=about, labels=SUFFICIENT, question=question, contexts=contexts
        )
    )
