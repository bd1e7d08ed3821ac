"""An answer from the judge's own knowledge."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import StringConstraints

from ragmetrics_core.parsers._answer import Answer, Expected, Schema, object_of

__all__ = ["ClosedBookAnswer"]


class ClosedBookAnswer(Answer):
    """An answer without documents: {"answer": "...", "known": true}.

    Attributes:
        answer: the answer; may be empty if it is not known.
        known: whether the judge knows the answer.
    """

    answer: Annotated[str, StringConstraints(strip_whitespace=True)]
    known: bool

    def objections(self, expected: Expected) -> Iterator[str]:
        """Object to an empty answer that is said to be known."""
        if self.known and not self.answer:
            yield '"answer" is empty although "known" is true'

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form."""
        return object_of(expected, {"answer": {"type": "string"}, "known": {"type": "boolean"}})
