"""The statements of a text, from a judge."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.boundary.shapes import Json
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
from ragmetrics_core.parsers._claims import Sources, SourceSentence
from ragmetrics_core.parsers._reply import NotRead, lines_of

__all__ = ["END", "WITH_CLAIM", "StatementList", "lines_to_end"]

END = "END"
"""Last line of a list as text; without it, the list may be cut off."""

Kind = Literal["claim", "question", "greeting", "heading", "refusal"]
"""What a sentence is; only a claim has statements."""

_NUMBERED = re.compile(r"(\d{1,6})\. {1,9}(\S[^\n]*)")
_DIGITS: Final = re.compile(r"[0-9]{1,6}")
_KINDS: Final = get_args(Kind)
_FIELDS: Final = frozenset({"sentence", "kind", "statements", "reason", "text"})
_BLANK: Final[tuple[Json, ...]] = (None, "")
_REPEATED = "repeated"

WITH_CLAIM: Final = frozenset({"claim", _REPEATED})
"""Kinds of sentences that state something."""


class _Statements(BaseModel):
    """Statements of one sentence, each on one line and with a letter or digit."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)

    statements: Texts


class _Entry(NamedTuple):
    """The entry of one sentence: its statements, or its kind, or the reason that it cannot be used."""

    kind: str = "claim"
    statements: tuple[str, ...] = ()
    objection: str = ""


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

    def with_more(self, later: Any) -> Self:
        """The statements of both, by sentence; the first one says whether the text declines.

        Statements that the first one has cover no further sentence.
        """
        known = set(map(spoken, self.statements))
        more = [pair for pair in later._pairs() if spoken(pair[1]) not in known]
        pairs = sorted([*self._pairs(), *more], key=lambda pair: pair[0])
        both, _ = _of_pairs(pairs, [*(self.without or ()), *(later.without or ())])
        return self.model_copy(update=both)

    def _pairs(self) -> Iterable[tuple[int, str]]:
        return zip(self.sentences or (), self.statements, strict=True)

    @classmethod
    def misplaced_form(cls, form: str, *, is_numbered: bool) -> str | None:
        """A form with sentences needs a text whose sentences are numbered, and the other way round."""
        if ('"sentences"' in form) == is_numbered:
            return None
        if is_numbered:
            return 'it numbers sentences, so its form must have an entry for each: {"sentences": [...]}'
        return "its form names sentences, so write the text as {{ answer.sentences }}, which numbers them"

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the distinct statements; leave out a refusal."""
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
        sources = Sources(expected.around)
        pairs: list[tuple[int, str]] = []
        without: list[tuple[int, str]] = []
        objections: list[str] = []
        missing: list[str] = []
        owners = _owners(given, expected)
        for number, text in zip(expected.numbers, expected.items, strict=True):
            entry = _joined(given.get(number, ()))
            if entry is None:
                missing.append(str(number))
                continue
            if self.declined and _repeats(entry.statements, expected):
                dropped.append(f"sentence {number} is a refusal: {entry.statements[0][:80]}")
                entry = _Entry("refusal")
            sentence = sources.sentence(text)
            copied = [each for each in entry.statements if len(owners[each]) > 1]
            why = entry.objection
            if not why and not expected.graded:  # a judge of this library splits each sentence by rules
                why = _objection(entry, sentence, self.declined)
            if not why and not expected.graded and not all(map(sentence.has_most_of, copied)):
                why = f'the statement "{copied[0][:80]}" is that of another sentence'
            if why:
                objections.append(f"sentence {number}: {why}")
            elif entry.kind == "claim":
                pairs += [(number, statement) for statement in entry.statements]
            else:
                without.append((number, entry.kind))
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
            "kind": {"type": "string", "enum": list(_KINDS)},
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


def _by_sentence(value: Mapping[str, Json], expected: Expected) -> tuple[dict[int, list[_Entry]], list[str]]:
    """The entries of each sentence in question, and notes on entries that do not count."""
    listed = value.get("sentences")
    if "statements" in value and len(expected.numbers) == 1 and not expected.known:
        # the text has one sentence: no other can be meant
        statements = value["statements"]
        kind = "refusal" if value.get("declined") is True and not statements else "claim"
        one: dict[str, Json] = {"sentence": expected.numbers[0], "kind": kind, "statements": statements}
        listed = [one] if statements or kind == "refusal" else []
    if not isinstance(listed, list) or ("sentences" in value and "statements" in value):
        raise NotRead('the object does not hold the list "sentences"')
    found: dict[int, list[_Entry]] = {}
    known = dict(expected.known)
    dropped: list[str] = []
    unknown: list[str] = []
    for place, each in enumerate(listed, start=1):
        number = _number(each.get("sentence")) if isinstance(each, dict) else None
        if not isinstance(each, dict) or number is None:
            unknown.append(f'entry {place}: "sentence" is not a number')
        elif number in known:
            dropped.append(f"sentence {number} was answered before")
        elif number not in expected.numbers:
            unknown.append(f"sentence {number} was not asked about")
        else:
            found.setdefault(number, []).append(_entry(each))
    if unknown and len(found) < len(expected.numbers):  # the other numbers may be wrong too
        raise NotRead(unknown[0])
    return found, dropped + unknown


def _number(value: Json) -> int | None:
    """A number, also in words such as "sentence 1"."""
    if isinstance(value, str) and len(digits := _DIGITS.findall(value)) == 1:
        return int(digits[0])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _entry(entry: Mapping[str, Json]) -> _Entry:
    """An entry; a kind that the form does not have is a claim's, if it has statements."""
    if unknown := sorted(entry.keys() - _FIELDS):
        return _Entry(objection=f'"{unknown[0][:80]}" was not asked for')
    listed = entry.get("statements")
    texts = listed if isinstance(listed, list) else [listed]
    said = [each for each in texts if each not in _BLANK]
    try:
        statements = tuple([each.strip() if isinstance(each, str) else "" for each in said])
        checked = validated(_Statements, {"statements": list(statements)}).statements
    except NotRead as reason:
        return _Entry(objection=str(reason))
    kind = entry.get("kind", "claim")
    if kind not in _KINDS and checked:
        kind = "claim"
    if not isinstance(kind, str) or kind not in _KINDS:
        return _Entry(objection=f'"{str(kind)[:40]}" is none of the kinds {", ".join(_KINDS)}')
    return _Entry(kind, checked)


def _owners(given: Mapping[int, Sequence[_Entry]], expected: Expected) -> dict[str, set[str]]:
    """The sentences of each statement; equal statements share one set."""
    of_statement: dict[str, set[str]] = {}
    of_spoken: dict[str, set[str]] = {}
    for number, text in zip(expected.numbers, expected.items, strict=True):
        for entry in given.get(number, ()):
            for statement in entry.statements:
                sentences = of_spoken.setdefault(spoken(statement), set())
                sentences.add(text)
                of_statement[statement] = sentences
    return of_statement


def _joined(entries: Sequence[_Entry]) -> _Entry | None:
    """The entries of a sentence as one, or None if there are none."""
    if len(entries) < 2:
        return entries[0] if entries else None
    kinds = list(dict.fromkeys(entry.kind for entry in entries))
    objections = [entry.objection for entry in entries if entry.objection]
    if len(kinds) > 1:
        objections.append(f"it is given as a {kinds[0]} and as a {kinds[1]}")
    said = [statement for entry in entries for statement in entry.statements]
    return _Entry(kinds[0], tuple(said), objections[0] if objections else "")


def _objection(entry: _Entry, sentence: SourceSentence, declined: object) -> str:
    """The reason that an entry cannot be used; empty if it can."""
    kind, statements, _ = entry
    if kind != "claim":
        if statements:
            return f'a {kind} has no statements, but "{statements[0][:80]}" is given'
        return _not_of_kind(kind, sentence, declined)
    if not statements:
        return "it is a claim without a statement"
    whole = spoken(sentence.text)
    others = [said for said in statements if said != sentence.text and spoken(said) != whole]
    try:
        nothing = entries(others, "statement")[1]
    except NotRead as placeholder:
        return str(placeholder)
    if nothing:
        return f"{nothing[0]}; write whole sentences"
    return sentence.objection(others, is_whole=len(others) == len(statements))


def _not_of_kind(kind: str, sentence: SourceSentence, declined: object) -> str:
    """The reason that a sentence without statements cannot be of a kind; empty if it can."""
    if kind == "question" and not sentence.is_question:
        return "it does not end with a question mark"
    if kind == "heading" and sentence.is_ended:
        return "it is a whole sentence and no heading"
    if kind == "greeting" and sentence.numbers:
        return f"it has the number {min(sentence.numbers)}, so it is no greeting"
    if kind == "refusal" and declined is False:
        return 'the answer does not decline, so a remark about missing information is a "claim"'
    return ""


def _repeats(statements: Sequence[str], expected: Expected) -> bool:
    """Whether the only statement is the whole text that was split."""
    whole = [*map(spoken, expected.items)]
    return not expected.known and len(whole) == 1 and [*map(spoken, statements)] == whole


def _of_pairs(
    pairs: Sequence[tuple[int, str]], without: Sequence[tuple[int, str]]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields of a list from the statements with their sentences, and a note on each repeated statement."""
    statements, dropped = distinct([text for _, text in pairs], "statement")
    first: dict[str, int] = {}
    for number, text in pairs:
        first.setdefault(text, number)
    numbers = tuple([first[text] for text in statements])
    repeated = sorted({number for number, _ in pairs} - {*numbers})
    fields = {
        "statements": statements,
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
