"""A question that can be understood without the conversation before it."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import StringConstraints

from ragmetrics_core.parsers._answer import Answer, Expected, Schema, object_of

__all__ = ["StandaloneQuestion"]

_NUMBER = re.compile(r"\d+")


class StandaloneQuestion(Answer):
    """A rewritten question: {"question": "..."}.

    Attributes:
        question: the question.
    """

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

    def objections(self, expected: Expected) -> Iterator[str]:
        """Object to numbers that are not in the texts, the conversation and the question."""
        known = {number for text in expected.texts for number in _NUMBER.findall(text)}
        for number in dict.fromkeys(_NUMBER.findall(self.question)):
            if expected.texts and number not in known:
                yield f'"question" has the number {number}, which is not in the conversation'

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form."""
        return object_of(expected, {"question": {"type": "string", "minLength": 1}})
