"""A conversation of three turns about two documents, with a scripted model: shared by the three examples.

The first answer names a year that no document has, and the second one repeats it. Everything is offline: the
model looks its replies up here, and the embedded judge scores them.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ragmetrics_core.live import LiveResult

SESSION = "visitor-7"
DOCUMENTS = (
    "The Harbour Museum stands on the north quay. It shows sailing ships and old maps.",
    "Entry to the Harbour Museum is free on Sundays. On other days a ticket costs nine euros.",
)
REWRITE = "Rewrite the last question so that it can be understood without the conversation."


class Reply(NamedTuple):
    """A question, how the application rewrites it, and what it answers."""

    question: str
    rewritten: str
    answer: str


REPLIES = (
    Reply(
        "What does the Harbour Museum show?",
        "What does the Harbour Museum show?",
        "The Harbour Museum shows sailing ships and old maps. The Harbour Museum opened in 1987.",
    ),
    Reply("When did it open?", "When did the Harbour Museum open?", "The Harbour Museum opened in 1987."),
    Reply(
        "And on which days is it free?",
        "On which days is entry to the Harbour Museum free?",
        "Entry to the Harbour Museum is free on Sundays.",
    ),
)


def reply(prompt: str) -> str:
    """The model's reply: to the question that comes last in the prompt."""
    asked = max(REPLIES, key=lambda each: max(prompt.rfind(each.question), prompt.rfind(each.rewritten)))
    return asked.rewritten if REWRITE in prompt else asked.answer


def nearest(query: str) -> str:
    """The document that shares most words with a query."""
    return max(DOCUMENTS, key=lambda document: len(_words(query) & _words(document)))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def show(results: Iterable[LiveResult]) -> None:
    """Print each turn with its question, answer and proofs."""
    for result in sorted(results, key=lambda result: result.sample.turn or 0):
        sample = result.sample
        print(f"\n{sample.session}#{sample.turn}: {sample.question}")
        if sample.standalone is not None:
            print(f"rewritten by the application: {sample.standalone}")
        print(f"answer: {sample.answer}")
        for record in result.records:
            print(record.explain())
