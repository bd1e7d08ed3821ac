"""The statements of a text, from a judge."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict

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
    validated,
)
from ragmetrics_core.parsers._claims import is_tied
from ragmetrics_core.parsers._reply import NotRead, lines_of
from ragmetrics_core.shapes import Json

__all__ = ["END", "WITH_CLAIM", "StatementList", "lines_to_end"]

END = "END"
"""Last line of a list as text; without it, the list may be cut off."""

Kind = Literal["claim", "question", "greeting", "heading", "refusal"]
"""What a sentence is; only a claim has statements."""

_NUMBERED = re.compile(r"(\d{1,6})\. {1,9}(\S[^\n]*)")
_QUESTION_MARKS: Final = re.compile("[?？؟;]")
_REPEATED = "repeated"

WITH_CLAIM: Final = frozenset({"claim", _REPEATED})
"""Kinds of sentences that state something."""


class SplitSentence(BaseModel):
    """The statements of a numbered sentence, or the reason why it has none."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    sentence: int
    kind: Kind = "claim"
    statements: Texts = ()


class StatementList(Answer):
    """Short sentences, each true or false by itself, each from a numbered sentence of the text.

    {"sentences": [{"sentence": 1, "kind": "claim", "statements": ["..."]}], "declined": false, "reason": ""}.
    If some sentences have no usable entry, the others are read, and only these are asked for again.

    Prompts that do not number the sentences ask for {"statements": ["..."]}, or for lines of text:
    "1. first statement", "2. second statement" and so on, then the line END.

    Attributes:
        statements: distinct statements in the judge's order.
        sentences: number of the sentence of each statement; None if the sentences were not numbered.
        without: numbers of the sentences without statements of their own, each with its kind, or "repeated"
            if another sentence has the same statements.
        declined: whether the split text declines; None if the judge did not say.
        reason: why it declines.
    """

    statements: Texts
    sentences: tuple[int, ...] | None = None
    without: tuple[tuple[int, str], ...] | None = None
    declined: bool | Text | None = None
    reason: str | None = None

    def answered(self) -> Mapping[int, str] | None:
        """The kinds of the sentences by number; None if they were not numbered."""
        if self.sentences is None:
            return None
        return dict.fromkeys(self.sentences, "claim") | dict(self.without or ())

    def with_more(self, later: Self) -> Self:
        """The statements of both, by sentence; the first one says whether the text declines."""
        pairs = sorted([*self._pairs(), *later._pairs()], key=lambda pair: pair[0])
        both, _ = _of_pairs(pairs, [*(self.without or ()), *(later.without or ())])
        return self.model_copy(update=both)

    def _pairs(self) -> Iterable[tuple[int, str]]:
        return zip(self.sentences or (), self.statements, strict=True)

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the distinct statements; drop a refusal, which is no statement."""
        is_numbered = '"sentences"' in expected.form and not (expected.graded and "statements" in value)
        rest = {name: each for name, each in value.items() if name not in ("sentences", "statements")}
        answer = cls.checked({**rest, "statements": []} if is_numbered else value)
        dropped: tuple[str, ...] = ()
        if isinstance(answer.declined, str):  # a reason or a denial; no rule tells them apart
            dropped = (f'"declined" is neither true nor false: {answer.declined[:80]}',)
            answer = answer.model_copy(update={"declined": None})
        read = answer._of_sentences(value, expected) if is_numbered else answer._of_list(expected)
        return read._replace(dropped=(*dropped, *read.dropped))

    def _of_list(self, expected: Expected) -> Reading[Self]:
        """The distinct statements of a text whose sentences are not numbered."""
        nothing = () if expected.graded else entries(self.statements, "statement")[1]
        if nothing:  # "None." may be the whole text that is split, or say that it has no statements
            raise NotRead(f"{nothing[0]}; write whole sentences, or an empty list")
        statements, dropped = distinct(self.statements, "statement")
        has_none = "no refusal" in expected.form or '"refusal"' in expected.form
        if has_none and self.declined and _repeats(statements, expected):
            dropped = (*dropped, f"statement 1 is the refusal: {statements[0][:80]}")
            statements = ()
        return Reading(self.model_copy(update={"statements": statements}), dropped=dropped)

    def _of_sentences(self, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """The statements of the numbered sentences, with an objection to each that has no usable entry."""
        given, dropped = _by_sentence(value, expected)
        pairs: list[tuple[int, str]] = []
        without: list[tuple[int, str]] = []
        objections: list[str] = []
        missing: list[str] = []
        for number, text in zip(expected.numbers, expected.items, strict=True):
            kinds = list(dict.fromkeys(entry.kind for entry in given.get(number, ())))
            said = [statement for entry in given.get(number, ()) for statement in entry.statements]
            is_refusal = kinds == ["refusal"] or (self.declined and _repeats(said, expected))
            if said and is_refusal:
                dropped.append(f"sentence {number} is a refusal: {said[0][:80]}")
                kinds, said = ["refusal"], []
            if not kinds:
                missing.append(str(number))
            elif why := _objection(text, kinds, said, expected):
                objections.append(f"sentence {number}: {why}")
            elif said:
                pairs += [(number, statement) for statement in said]
            else:
                without.append((number, kinds[0]))
        if missing:
            noun = "sentence" if len(missing) == 1 else "sentences"
            objections.append(f"your last reply lacks {noun} {', '.join(missing)}")
        if objections and not pairs and not without:
            return Reading(None, tuple(objections), dropped=tuple(dropped))
        fields, repeated = _of_pairs(pairs, without)
        return Reading(self.model_copy(update=fields), tuple(objections), dropped=(*dropped, *repeated))

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
        fields: dict[str, Schema] = {"declined": {"type": "boolean"}, "reason": text}
        if '"sentences"' not in expected.form:
            return object_of(expected, {"statements": list_of(text), **fields})
        sentence: dict[str, Schema] = {
            "sentence": {"type": "integer"},
            "kind": {"type": "string", "enum": list(get_args(Kind))},
            "statements": list_of(text),
        }
        return object_of(expected, {"sentences": list_of(object_of(expected, sentence)), **fields})

    @classmethod
    def numbered_schema(cls, expected: Expected) -> Schema:
        """A schema that also fixes the sentence and the kind of each entry."""
        schema = cls.reply_schema(expected)
        if '"sentences"' in expected.form:
            sentences = schema["properties"]["sentences"]
            entry = sentences.pop("items")
            fixed = [
                {
                    "sentence": {"const": number},
                    "kind": {"const": "claim"},
                    "statements": list_of({"type": "string", "examples": [text]}, 1),
                }
                for number, text in zip(expected.numbers, expected.items, strict=True)
            ]
            sentences["prefixItems"] = [entry | {"properties": properties} for properties in fixed]
        return schema

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """The statements as numbered lines."""
        numbered = enumerate([" ".join(text.split()) for text in value["statements"]], start=1)
        return "\n".join([*(f"{number}. {text}" for number, text in numbered), END])

    def abstention(self) -> Declined | None:
        """Whether the split text declines, if the judge answered that."""
        if self.declined is None:
            return None
        return Declined(bool(self.declined), (self.declined and self.reason) or None)


def _by_sentence(
    value: Mapping[str, Json], expected: Expected
) -> tuple[dict[int, list[SplitSentence]], list[str]]:
    """The entries of each sentence in question, and notes on those that were answered before."""
    listed = value.get("sentences")
    if "statements" in value and len(expected.numbers) == 1:  # no other sentence can be meant
        statements = value["statements"]
        kind = "refusal" if value.get("declined") is True and not statements else "claim"
        one: dict[str, Json] = {"sentence": expected.numbers[0], "kind": kind, "statements": statements}
        listed = [one] if statements or kind == "refusal" else []
    if not isinstance(listed, list) or ("sentences" in value and "statements" in value):
        raise NotRead('the object does not hold the list "sentences"')
    found: dict[int, list[SplitSentence]] = {}
    known = dict(expected.known)
    dropped: list[str] = []
    for each in listed:
        entry = validated(SplitSentence, each if isinstance(each, dict) else {"statements": [each]})
        if entry.sentence in known:
            dropped.append(f"sentence {entry.sentence} was answered before")
        elif entry.sentence not in expected.numbers:
            raise NotRead(f"sentence {entry.sentence} was not asked about")
        else:
            found.setdefault(entry.sentence, []).append(entry)
    return found, dropped


def _objection(text: str, kinds: Sequence[str], statements: Sequence[str], expected: Expected) -> str:
    """Why the entry of a sentence cannot be used; empty if it can."""
    if len(kinds) > 1:
        return f"it is given as a {kinds[0]} and as a {kinds[1]}"
    if kinds[0] != "claim" and statements:
        return f'a {kinds[0]} has no statements, but "{statements[0][:80]}" is given'
    if kinds[0] == "question" and not _QUESTION_MARKS.search(text):
        return "it has no question mark"
    if kinds[0] == "claim" and not statements:
        return "it is a claim without a statement"
    nothing = () if expected.graded else entries(statements, "statement")[1]
    if nothing:
        return f"{nothing[0]}; write whole sentences"
    others = next((said for said in statements if not is_tied(said, text, expected.around)), None)
    return "" if others is None else f'it shares no word with the statement "{others[:80]}"'


def _repeats(statements: Sequence[str], expected: Expected) -> bool:
    """Whether the only statement is the whole text that was split."""
    return len(statements) == 1 and [*map(spoken, statements)] == [*map(spoken, expected.items)]


def _of_pairs(
    pairs: Sequence[tuple[int, str]], without: Sequence[tuple[int, str]]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields of a list from the statements with their sentences, and a note on each repeated statement."""
    kept: dict[str, tuple[int, str]] = {}
    for number, text in pairs:
        kept.setdefault(spoken(text), (number, text))
    dropped = distinct([text for _, text in pairs], "statement")[1]
    numbers = tuple([number for number, _ in kept.values()])
    repeated = sorted({number for number, _ in pairs} - {*numbers})
    fields = {
        "statements": tuple([text for _, text in kept.values()]),
        "sentences": numbers,
        "without": tuple(sorted([*without, *((number, _REPEATED) for number in repeated)])) or None,
    }
    return fields, dropped


def lines_to_end(body: str) -> list[str]:
    """The lines before the final line END.

    Raises:
        NotRead: the last line is not END, so the list may be cut off.
    """
    *lines, last = lines_of(body) or [""]
    if last != END:
        raise NotRead(f"the last line is not {END}")
    return lines
