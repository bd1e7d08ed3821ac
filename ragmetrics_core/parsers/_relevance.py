"""Context sentences that help to answer, by number or copied out."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import FailFast, Field
from typing_extensions import TypeAliasType

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import (
    Answer,
    Expected,
    Reading,
    Schema,
    Texts,
    distinct,
    entries,
    list_of,
    object_of,
)
from ragmetrics_core.parsers._reply import NotRead
from ragmetrics_core.parsers._sentences import split_sentences
from ragmetrics_core.parsers._statements import END, lines_to_end

__all__ = ["INSUFFICIENT", "ExtractedSentences", "RelevantSentences"]

INSUFFICIENT: Final = "Insufficient Information"
"""Phrase in place of sentences if the contexts do not answer the question."""

_Numbers = TypeAliasType("_Numbers", Annotated[tuple[int, ...], FailFast()])
_PHRASE = re.compile(rf"{INSUFFICIENT}\.?", re.IGNORECASE)


class RelevantSentences(Answer):
    """The context sentences that help, by number: {"relevant": [1, 2]}, or "Insufficient Information"."""

    relevant: _Numbers | Literal["Insufficient Information"]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers in the judge's order; empty for insufficient information."""
        return () if self.relevant == INSUFFICIENT else self.relevant

    def objections(self, expected: Expected) -> Iterator[str]:
        """Object to numbers without a sentence and to repeated numbers."""
        counts = Counter(self.numbers)
        known = frozenset(expected.numbers) or counts
        yield from (f"there is no sentence {number}" for number in counts if number not in known)
        yield from (f"sentence {number} stands there twice" for number, times in counts.items() if times > 1)

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, with the numbers of the sentences."""
        number: Schema = {"type": "integer"}
        if 0 < len(expected.numbers) <= 100:  # hosted services hold a model to so many words and no more
            number = number | {"enum": list(expected.numbers)}
        either = {"anyOf": [list_of(number), {"type": "string", "enum": [INSUFFICIENT]}]}
        return object_of(expected, {"relevant": either})


class ExtractedSentences(Answer):
    """Sentences that the judge copied out of the contexts, one on a line, then the line END.

    Or only the phrase "Insufficient Information", with or without a full stop.

    Attributes:
        sentences: the distinct sentences in the judge's order; empty for insufficient information.
        phrase: the phrase as written; None if sentences were copied.
    """

    sentences: Texts
    phrase: str | None = Field(None)

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the distinct sentences; reject a text that says there is none, other than the phrase."""
        answer = cls.checked(value)
        sentences, dropped = distinct(answer.sentences, "sentence")
        if not expected.graded and answer.sentences and not entries(answer.sentences, "sentence")[0]:
            raise NotRead(
                f"there are neither sentences alone nor {INSUFFICIENT} alone: {answer.sentences[0][:80]}"
            )
        return Reading(answer.model_copy(update={"sentences": sentences}), dropped=dropped)

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """Read the lines, or the phrase."""
        if _PHRASE.fullmatch(body):
            return {"sentences": [], "phrase": body}
        lines = lines_to_end(body)
        if not lines or any(map(_PHRASE.fullmatch, lines)):
            raise NotRead(f"there are neither sentences alone nor {INSUFFICIENT} alone")
        # what announces the sentences is none of them, nor are dots in their place
        strange = next(
            (line for line in lines if line.endswith(":") or not any(map(str.isalnum, line))), None
        )
        if strange is not None:
            raise NotRead(f"this line is no sentence: {strange[:80]}")
        return {"sentences": [*split_sentences("\n".join(lines))]}

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the sentences only, since the prompt asks for lines."""
        return object_of(expected, {"sentences": list_of({"type": "string"})})

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """The sentences, one on a line, or the phrase if there are none."""
        lines = [" ".join(text.split()) for text in value["sentences"]]
        return "\n".join([*lines, END]) if lines else INSUFFICIENT
