"""The statements of a text, from a judge."""

import re
from collections.abc import Mapping
from typing import Any, Self

from ragmetrics_core.parsers._answer import (
    Answer,
    Declined,
    Expected,
    Reading,
    Schema,
    Text,
    Texts,
    distinct,
    entries,
    list_of,
    object_of,
    spoken,
)
from ragmetrics_core.parsers._reply import NotRead, lines_of
from ragmetrics_core.shapes import Json

__all__ = ["END", "StatementList", "lines_to_end"]

END = "END"
"""Last line of a list as text; without it, the list may be cut off."""

_NUMBERED = re.compile(r"(\d{1,6})\. {1,9}(\S[^\n]*)")


class StatementList(Answer):
    """Short sentences, each true or false by itself: {"statements": ["..."], "declined": false}.

    As lines of text: "1. first statement", "2. second statement" and so on, then the line END.

    Attributes:
        statements: distinct statements in the judge's order.
        declined: False, or the reason why the split text declines; None if the judge was not asked.
    """

    statements: Texts
    declined: bool | Text | None = None

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the distinct statements; drop the refusal itself from an answer that declines.

        It is dropped only if the prompt's form asks for statements that are "no refusal".
        """
        answer = cls.checked(value)
        if answer.declined is None and '"declined"' in expected.form:
            raise NotRead('"declined" is missing')
        why = str(answer.declined or "")
        if why.isascii() and len(why.split()) == 1:  # "no" and "false", or "true" alone
            raise NotRead('"declined" is neither false nor a reason in a few words')
        nothing = () if expected.graded else entries(answer.statements, "statement")[1]
        if nothing:  # "None." may be the whole text that is split, or say that it has no statements
            raise NotRead(f"{nothing[0]}; write whole sentences, or an empty list")
        statements, dropped = distinct(answer.statements, "statement")
        is_whole = bool(statements) and [*map(spoken, statements)] == [*map(spoken, expected.items)]
        if why and is_whole and "no refusal" in expected.form:
            dropped = (*dropped, f"statement 1 is the refusal: {answer.statements[0][:80]}")
            statements = ()
        return Reading(answer.model_copy(update={"statements": statements}), dropped=dropped)

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """Read the statements of numbered lines."""
        statements: list[Json] = []
        for number, line in enumerate(lines_to_end(body), start=1):
            match = _NUMBERED.fullmatch(line)
            if match is None or int(match[1]) != number:
                raise NotRead(f'line {number} does not begin with "{number}. ": {line[:80]}')
            statements.append(match[2])
        return {"statements": statements}

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form."""
        text: Schema = {"type": "string"}
        declined = {"anyOf": [{"type": "boolean", "enum": [False]}, text]}
        return object_of(expected, {"statements": list_of(text), "declined": declined})

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """The statements as numbered lines."""
        numbered = enumerate([" ".join(text.split()) for text in value["statements"]], start=1)
        return "\n".join([*(f"{number}. {text}" for number, text in numbered), END])

    def abstention(self) -> Declined | None:
        """Whether the split text declines, if the judge answered that."""
        if self.declined is None:
            return None
        return Declined(bool(self.declined), str(self.declined) if self.declined else None)


def lines_to_end(body: str) -> list[str]:
    """The lines before the final line END.

    Raises:
        NotRead: the last line is not END, so the list may be cut off.
    """
    *lines, last = lines_of(body) or [""]
    if last != END:
        raise NotRead(f"the last line is not {END}")
    return lines
