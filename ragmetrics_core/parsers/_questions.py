"""Questions that a judge generated for an answer."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import Answer, Declined, Expected, Schema, Text, list_of, object_of
from ragmetrics_core.parsers._reply import NotRead, lines_of
from ragmetrics_core.parsers._sentences import split_sentences

__all__ = ["GeneratedQuestion", "QuestionList"]

_MARKS = ("?", "？", "؟", "\N{GREEK QUESTION MARK}")


class GeneratedQuestion(BaseModel):
    """A question that the answer would answer, with the judge's flag for a noncommittal answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    question: Text
    noncommittal: bool | None = None


class QuestionList(Answer):
    """The questions of one reply: {"questions": [{"question": "...", "noncommittal": false}]}.

    As text: one line, which ends with a question mark. Repeats are kept, because each is a draw.
    """

    questions: Annotated[tuple[GeneratedQuestion, ...], FailFast()]

    def objections(self, expected: Expected) -> Iterator[str]:
        """Object to a wrong number of questions and to missing flags.

        A judge of this library may give fewer questions for a short text.
        """
        count, size = len(self.questions), expected.size
        if size is not None and count != size and not (expected.graded and count < size):
            yield f"there are {len(self.questions)} questions, where {expected.size} were asked for"
        has_flag = [each.noncommittal is not None for each in self.questions]
        if '"noncommittal"' in expected.form and not all(has_flag):
            yield '"noncommittal" is missing'
        if not expected.shows("noncommittal") and any(has_flag):
            yield '"noncommittal" was not asked for'

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """Read the question on the only line."""
        lines = lines_of(body)
        if len(lines) != 1 or not body.endswith(_MARKS) or split_sentences(body) != (body,):
            raise NotRead("it is not one line with one sentence that ends with a question mark")
        return {"questions": [{"question": body}]}

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, with the number of questions."""
        question = object_of(expected, {"question": {"type": "string"}, "noncommittal": {"type": "boolean"}})
        return object_of(expected, {"questions": list_of(question, expected.size)})

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """The first question, on a line."""
        return "".join(
            [" ".join(each["question"].split()).replace("?", "") + "?" for each in value["questions"][:1]]
        )

    def abstention(self) -> Declined | None:
        """Declined if every question is flagged noncommittal; None if there are no flags."""
        flags = [each.noncommittal for each in self.questions]
        if not flags or None in flags:
            return None
        return Declined(all(flags))
