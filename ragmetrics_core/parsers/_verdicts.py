"""Verdicts on numbered items, from one reply."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field
from typing_extensions import TypeAliasType

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import (
    Answer,
    Declined,
    Expected,
    Reading,
    Schema,
    list_of,
    object_of,
    validated,
)
from ragmetrics_core.parsers._decisions import PROBABILITY, decided, holds_decisions
from ragmetrics_core.parsers._reply import NotRead, lines_of
from ragmetrics_core.texts.comparing import folded, plain_form

__all__ = ["PASSED_ON", "UNKNOWN", "DecliningVerdict", "ExplainedVerdicts", "NumberedVerdict", "VerdictList"]

PASSED_ON = "passed on"
"""The verdict of an item that a reply defers to another judge."""
UNKNOWN = "unknown"
"""The verdict on an item that a judge of this library cannot decide."""

_LINE = re.compile(r"(\d{1,6})[.):]? {1,9}(yes|no)\.?", re.IGNORECASE)
_EXPLAINED = re.compile(r"(\d{1,6})\. (\S[^\n]*) Verdict: (yes|no)\.?", re.IGNORECASE)
_FINAL = "Final verdicts: "
_Quotes = TypeAliasType("_Quotes", Annotated[tuple[str, ...], FailFast()])
_TEXT: Schema = {"type": "string"}
_PLAIN_FIELDS = frozenset({"number", "reason", "evidence", "verdict"})
_BEFORE_TEXT = re.compile(r"[\W\d_]*")
# A shorter one may well be a reason of its own.
_SHORTEST_COPY = 12


class NumberedVerdict(BaseModel):
    """The judge's verdict on one item.

    Attributes:
        number: number of the item.
        reason: the judge's reason; empty if it gives none.
        evidence: words that the judge copied, not checked here; several texts from a judge of this library.
        verdict: "yes" or "no"; partly means no. A judge of this library may also defer it, or leave it open.
        probability: probability of "yes", if a judge of this library gives one.
        unsupported: the unsupported words of the item, if a judge of this library marks them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    number: int
    reason: str = ""
    evidence: str | _Quotes = ""
    verdict: Literal["yes", "no", "passed on", "unknown"]
    probability: float | None = Field(None, ge=0, le=1)
    unsupported: _Quotes | None = None

    @property
    def supported(self) -> bool:
        """Whether the verdict is "yes"."""
        return self.verdict == "yes"

    @property
    def quotes(self) -> tuple[str, ...]:
        """The copied texts with at least one letter or digit."""
        copied = (self.evidence,) if isinstance(self.evidence, str) else self.evidence
        return tuple([text.strip() for text in copied if any(map(str.isalnum, text))])


class VerdictList(Answer):
    """A verdict on each number: {"verdicts": [{"number": 1, "reason": "", "evidence": "", "verdict": "no"}]}.

    As lines of text: a number and "yes" or "no" on each, as in "1. yes". If some numbers have no verdict, the
    others are read, and only the missing ones are asked for again. If a number is unknown, repeated or has
    another item's text, the whole reply is rejected, because the other numbers may be wrong too.
    """

    verdicts: tuple[NumberedVerdict, ...]

    @property
    def passed_on(self) -> tuple[int, ...]:
        """The numbers that the reply defers to another judge."""
        return tuple([each.number for each in self.verdicts if each.verdict == PASSED_ON])

    def answered(self) -> Mapping[int, str]:
        """The verdicts by number."""
        return {each.number: each.verdict for each in self.verdicts}

    def with_more(self, later: Any) -> Self:
        """The verdicts of both, by number."""
        both = sorted([*self.verdicts, *later.verdicts], key=lambda each: each.number)
        return self.model_copy(update={"verdicts": tuple(both)})

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the verdicts; object to numbers that have none."""
        if expected.graded and holds_decisions(value):
            return cls._of_decisions(value, expected)
        entries = value.get("verdicts")
        if not isinstance(entries, list) or len(value) != 1:
            raise NotRead('the object holds not one list, "verdicts"')
        verdicts: list[NumberedVerdict] = []
        objections: list[str] = []
        fields = frozenset(filter(expected.shows, _PLAIN_FIELDS))
        numbered, dropped = _numbered(entries, expected)
        for number, entry in numbered.items():
            try:
                verdicts.append(_verdict(entry, expected, fields))
            except NotRead as reason:
                objections.append(f"number {number}: {reason}")
        with_one = frozenset([each.number for each in verdicts])
        missing = [str(number) for number in expected.numbers if number not in with_one]
        if missing:
            objections.append(f"your last reply lacks a verdict on {', '.join(missing)}")
        answer = cls.model_construct(verdicts=tuple(verdicts))
        return Reading(answer if verdicts or not objections else None, tuple(objections), dropped=dropped)

    @classmethod
    def _of_decisions(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read a decision model's answers: "yes" if its probability is above 0.5."""
        answers = decided(value, PROBABILITY)
        verdicts: list[NumberedVerdict] = []
        objections: list[str] = []
        for number in expected.numbers:
            try:
                share = answers.take(str(number))
            except NotRead as reason:
                objections.append(f"number {number}: {reason}")
                continue
            verdict = NumberedVerdict(
                number=number,
                reason=f"yes with probability {share:.3g}",
                verdict="yes" if share > 0.5 else "no",
                probability=share,
            )
            verdicts.append(verdict)
        answer = cls.model_construct(verdicts=tuple(verdicts))
        return Reading(answer if verdicts else None, tuple(objections), dropped=answers.left)

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """Read the verdicts of lines such as "1. yes"."""
        return {"verdicts": [_entry(line, _LINE.fullmatch(line)) for line in lines_of(body)]}

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form, with the numbers in question."""
        numbers = expected.numbers
        entry = object_of(
            expected,
            {
                "number": {"type": "integer"} | ({"enum": list(numbers)} if numbers else {}),
                "reason": _TEXT,
                "evidence": _TEXT,
                "verdict": {"type": "string", "enum": ["yes", "no"]},
            },
        )
        return object_of(expected, {"verdicts": list_of(entry, len(numbers) or None)})

    @classmethod
    def numbered_schema(cls, expected: Expected) -> Schema:
        """A schema that also fixes the number of each entry, which not all servers support."""
        schema = cls.reply_schema(expected)
        if expected.numbers:
            verdicts = schema["properties"]["verdicts"]
            entry = verdicts.pop("items")
            verdicts["prefixItems"] = [
                entry | {"properties": entry["properties"] | {"number": {"const": number}}}
                for number in expected.numbers
            ]
        return schema

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """The verdicts as lines."""
        return "\n".join([f"{entry['number']}. {entry['verdict']}" for entry in value["verdicts"]])


class ExplainedVerdicts(VerdictList):
    """Verdicts as lines of text with their reasons, repeated in a last line.

    "1. why. Verdict: Yes." for each number, then "Final verdicts: 1. Yes. 2. No." with the same verdicts.
    """

    @classmethod
    def of_lines(cls, body: str) -> dict[str, Json]:
        """Read the verdicts of the lines; the last line must repeat them."""
        *lines, last = lines_of(body) or [""]
        entries = [_entry(line, _EXPLAINED.fullmatch(line)) for line in lines]
        if " ".join(last.split()).lower() != _final_line(entries).lower():
            raise NotRead(f'the last line is not "{_final_line(entries)[:200]}", as the lines before it say')
        return {"verdicts": list(entries)}

    @classmethod
    def to_lines(cls, value: Mapping[str, Any]) -> str:
        """The verdicts as lines, with their reasons."""
        entries = value["verdicts"]
        reasons = [" ".join(str(entry.get("reason") or "No reason.").split()) for entry in entries]
        lines = [
            f"{entry['number']}. {reason} Verdict: {_word(entry)}."
            for entry, reason in zip(entries, reasons, strict=True)
        ]
        return "\n".join([*lines, _final_line(entries)])


class DecliningVerdict(VerdictList):
    """The verdict on the single remark that the answer declines."""

    def abstention(self) -> Declined | None:
        """The first verdict; None if it is missing."""
        if not self.verdicts:
            return None
        first = self.verdicts[0]
        return Declined(declined=first.supported, reason=first.reason.strip() or None)


def _word(entry: Mapping[str, Any]) -> str:
    return str(entry["verdict"]).capitalize()


def _final_line(entries: Sequence[Mapping[str, Any]]) -> str:
    return _FINAL + " ".join([f"{entry['number']}. {_word(entry)}." for entry in entries])


def _entry(line: str, match: re.Match[str] | None) -> dict[str, Json]:
    """A line of text as an entry of the JSON form."""
    if match is None:
        raise NotRead(f"this line is not of the form: {line[:80]}")
    return {
        "number": int(match[1]),
        "reason": match[2] if match.re is _EXPLAINED else "",
        "verdict": match[match.lastindex or 0].lower(),
    }


def _verdict(entry: Mapping[str, Json], expected: Expected, fields: Set[str]) -> NumberedVerdict:
    """The verdict of an entry.

    Raises:
        NotRead: the entry has no verdict, or has unknown fields.
    """
    if not expected.graded:
        if not entry.keys() <= fields:
            raise NotRead(f'"{min(entry.keys() - fields)[:80]}" was not asked for')
        if "verdict" not in entry:
            raise NotRead('it has no "verdict"')
        if entry["verdict"] not in ("yes", "no"):
            raise NotRead(f'its verdict is neither "yes" nor "no", but {_quoted(entry["verdict"])}')
    return validated(NumberedVerdict, entry)


def _numbered(
    entries: Sequence[Json], expected: Expected
) -> tuple[dict[int, Mapping[str, Json]], tuple[str, ...]]:
    """The entries by number, and a note on each that repeats a known verdict.

    Raises:
        NotRead: a number is missing, unknown, repeated or misplaced, or contradicts a known verdict.
    """
    numbered: dict[int, Mapping[str, Json]] = {}
    known = dict(expected.known)
    repeated: dict[int, str] = {}
    texts = {number: _bare(text) for number, text in zip(expected.numbers, expected.items, strict=False)}
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict) or type(number := entry.get("number")) is not int:
            said = _quoted(entry.get("number") if isinstance(entry, dict) else entry)
            raise NotRead(f'entry {place} of "verdicts" has no "number" that is an integer, but {said}')
        if number in numbered or number in repeated:
            raise NotRead(f"number {number} stands there twice")
        if number in known:
            if (verdict := entry.get("verdict")) != known[number]:
                was, now = known[number], str(verdict)[:80]
                raise NotRead(f'the verdict on number {number} was "{was}" before and is "{now}" now')
            repeated[number] = f"number {number} repeats a known verdict: {known[number]}"
            continue
        if expected.numbers and number not in expected.numbers:
            raise NotRead(f"number {number} was not asked about")
        reason = _bare(entry.get("reason"))
        statement = _bare(entry.get("statement"))
        copied = [
            of
            for of, text in texts.items()
            if text and (text == statement or (text == reason and len(text) >= _SHORTEST_COPY))
        ]
        if copied and number not in copied:
            raise NotRead(f"number {number} stands with the text of number {copied[0]}")
        numbered[number] = entry
        if statement and statement == texts.get(number):
            numbered[number] = {name: value for name, value in entry.items() if name != "statement"}
    return numbered, tuple(repeated.values())


def _quoted(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]


def _bare(value: Json) -> str:
    """A normalized text without its number and its final mark; empty if it is missing."""
    if not value:
        return ""
    text = value if isinstance(value, str) else str(value)
    return folded(_BEFORE_TEXT.sub("", plain_form(text), count=1).rstrip(" .?!"))
