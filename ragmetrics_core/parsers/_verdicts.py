"""Verdicts on numbered items, from one reply."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from itertools import count
from typing import Annotated, Any, ClassVar, Final, Literal, Self

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
from ragmetrics_core.parsers._calibrated import CalibratedReply, ProbabilityMap, holds_calibrated
from ragmetrics_core.parsers._decisions import (
    PROBABILITY,
    Chosen,
    Decided,
    chosen,
    decided,
    decided_as,
    holds_decisions,
)
from ragmetrics_core.parsers._evidence import locate
from ragmetrics_core.parsers._log_probabilities import LogProbabilityReply, holds_log_probabilities
from ragmetrics_core.parsers._reply import NotRead, lines_of
from ragmetrics_core.texts.comparing import folded, plain_form

__all__ = [
    "CONTRADICTED",
    "NONE_OF_THESE",
    "NOT_MENTIONED",
    "PASSED_ON",
    "STANCES",
    "SUPPORTED",
    "UNKNOWN",
    "UNPROVEN",
    "DecliningVerdict",
    "ExplainedVerdicts",
    "NumberedVerdict",
    "StanceList",
    "VerdictList",
    "sentence_question",
]

PASSED_ON = "passed on"
"""The verdict of an item that a reply defers to another judge."""
UNKNOWN = "unknown"
"""The verdict on an item that a judge of this library cannot decide."""
CONTRADICTED: Final = "contradicted"
"""The verdict on a statement that a sentence of the texts contradicts."""
NOT_MENTIONED: Final = "not mentioned"
"""The verdict on a statement that the texts neither support nor contradict."""
UNPROVEN: Final = "unproven"
"""In place of "contradicted" if the judge's evidence is not in the texts."""
SUPPORTED: Final = "supported"
"""The verdict on a statement that the texts support."""
STANCES: Final = (SUPPORTED, CONTRADICTED, NOT_MENTIONED)
"""The verdicts of a `StanceList`."""
NONE_OF_THESE: Final = "none of these"
"""The answer of a decision model that no sentence contradicts a statement."""

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
        verdict: "yes" or "no"; partly means no. In a `StanceList`, one of `STANCES`, or `UNPROVEN`. A judge
            of this library may also defer it, or leave it open.
        probability: probability that the item is supported, if a judge of this library gives one.
        unsupported: the unsupported words of the item, if a judge of this library marks them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    number: int
    reason: str = ""
    evidence: str | _Quotes = ""
    verdict: Literal[
        "yes", "no", "supported", "contradicted", "not mentioned", "unproven", "passed on", "unknown"
    ]
    probability: float | None = Field(None, ge=0, le=1)
    unsupported: _Quotes | None = None

    @property
    def supported(self) -> bool:
        """Whether the verdict is positive."""
        return self.verdict in ("yes", SUPPORTED)

    @property
    def stance(self) -> str | None:
        """The verdict of a `StanceList`; None if it is "yes" or "no"."""
        return self.verdict if self.verdict in (*STANCES, UNPROVEN) else None

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

    words: ClassVar[tuple[str, ...]] = ("yes", "no")

    verdicts: tuple[NumberedVerdict, ...]

    @property
    def passed_on(self) -> tuple[int, ...]:
        """The numbers that the reply defers to another judge."""
        return tuple([each.number for each in self.verdicts if each.verdict == PASSED_ON])

    def answered(self) -> Mapping[int, str]:
        """The verdicts by number."""
        return {each.number: each.verdict for each in self.verdicts}

    def with_more(self, later: Any) -> Self:
        """The verdicts of both, by number; the later one of a number counts."""
        both = {each.number: each for each in (*self.verdicts, *later.verdicts)}
        return self.model_copy(update={"verdicts": tuple([both[number] for number in sorted(both)])})

    @classmethod
    def of_value(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read the verdicts; object to numbers that have none."""
        if expected.graded and holds_decisions(value):
            return cls._of_decisions(value, expected)
        if expected.graded and holds_calibrated(value) and "yes" in cls.words:
            return cls._of_calibrated(validated(CalibratedReply, value), expected)
        if expected.graded and holds_log_probabilities(value) and "yes" in cls.words:
            return cls._of_log_probabilities(validated(LogProbabilityReply, value), expected)
        entries = value.get("verdicts")
        if not isinstance(entries, list) or len(value) != 1:
            raise NotRead('the object holds not one list, "verdicts"')
        verdicts: list[NumberedVerdict] = []
        objections: list[str] = []
        fields = frozenset(filter(expected.shows, _PLAIN_FIELDS))
        numbered, dropped = _numbered(entries, expected)
        for number, entry in numbered.items():
            try:
                verdicts.append(cls.proven(_verdict(entry, expected, fields, cls.words), expected))
            except NotRead as reason:
                objections.append(f"number {number}: {reason}")
        with_one = frozenset([each.number for each in verdicts])
        missing = [str(number) for number in expected.numbers if number not in with_one]
        if missing:
            objections.append(f"your last reply lacks a verdict on {', '.join(missing)}")
        if not expected.graded:
            objections += [
                f'number {each.number} is "{CONTRADICTED}", but its evidence is not in the contexts: '
                "copy the sentence that contradicts it"
                for each in verdicts
                if each.verdict == UNPROVEN
            ]
        answer = cls.model_construct(verdicts=tuple(verdicts))
        return Reading(answer if verdicts or not objections else None, tuple(objections), dropped=dropped)

    @classmethod
    def proven(cls, verdict: NumberedVerdict, expected: Expected) -> NumberedVerdict:
        """The verdict that counts, given its evidence."""
        return verdict

    @classmethod
    def _of_decisions(cls, value: Mapping[str, Json], expected: Expected) -> Reading[Self]:
        """Read a decision model's answers."""
        answers = cls._answers(value)
        verdicts: list[NumberedVerdict] = []
        objections: list[str] = []
        for number in expected.numbers:
            try:
                verdict = cls._decision(number, answers)
            except NotRead as reason:
                objections.append(f"number {number}: {reason}")
            else:
                verdicts.append(cls.proven(verdict, expected))
        answer = cls.model_construct(verdicts=tuple(verdicts))
        return Reading(answer if verdicts else None, tuple(objections), dropped=answers.left)

    @classmethod
    def _answers(cls, value: Mapping[str, Json]) -> Decided[Any]:
        return decided(value, PROBABILITY)

    @classmethod
    def _decision(cls, number: int, answers: Decided[Any]) -> NumberedVerdict:
        """The verdict on a number: "yes" if its probability is above 0.5.

        Raises:
            NotRead: there is no usable answer.
        """
        share: float = answers.take(str(number))
        return NumberedVerdict(
            number=number,
            reason=f"yes with probability {share:.3g}",
            verdict="yes" if share > 0.5 else "no",
            probability=share,
        )

    @classmethod
    def _of_calibrated(cls, calibrated: CalibratedReply, expected: Expected) -> Reading[Self]:
        """Read another judge's reply, and decide by the calibrated probabilities."""
        reading = cls.read(calibrated.reply, expected)
        if reading.value is None:
            return reading
        verdicts = tuple([_calibrated(each, calibrated.calibration) for each in reading.value.verdicts])
        return reading._replace(value=reading.value.model_copy(update={"verdicts": verdicts}))

    @classmethod
    def _of_log_probabilities(cls, reply: LogProbabilityReply, expected: Expected) -> Reading[Self]:
        """Read a language model's reply, and the probabilities at the places of its verdicts."""
        reading = cls.read(reply.reply, expected._replace(graded=False))
        if reading.value is None:
            return reading
        verdicts = tuple(
            [
                each.model_copy(update={"probability": reply.probability(each.number, each.verdict)})
                for each in reading.value.verdicts
            ]
        )
        return reading._replace(value=reading.value.model_copy(update={"verdicts": verdicts}))

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
                "verdict": {"type": "string", "enum": list(cls.words)},
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


class StanceList(VerdictList):
    """Verdicts in three ways: "supported", "contradicted" or "not mentioned".

    The evidence of "contradicted" is the sentence of the texts that contradicts the item. If it is not there,
    the judge is asked again about this number; if it still gives no such sentence, the verdict is `UNPROVEN`.
    """

    words = STANCES

    @classmethod
    def proven(cls, verdict: NumberedVerdict, expected: Expected) -> NumberedVerdict:
        """The verdict, `UNPROVEN` if it is "contradicted" and none of its quotes is in the texts."""
        if verdict.verdict != CONTRADICTED or any(locate(each, expected.texts) for each in verdict.quotes):
            return verdict
        return verdict.model_copy(update={"verdict": UNPROVEN})

    def answered(self) -> Mapping[int, str]:
        """The verdicts by number, without those that are not proven."""
        return {each.number: each.verdict for each in self.verdicts if each.verdict != UNPROVEN}

    @classmethod
    def misplaced_form(cls, form: str, *, is_numbered: bool) -> str | None:
        """Refuse a form without evidence."""
        if Expected(form=form).as_json and '"evidence"' in form:
            return None
        return 'its form must be JSON with "evidence", for the sentence that contradicts a statement'

    @classmethod
    def _answers(cls, value: Mapping[str, Json]) -> Decided[Any]:
        return decided_as(value, chosen)

    @classmethod
    def _decision(cls, number: int, answers: Decided[Any]) -> NumberedVerdict:
        """The verdict on a number: supported if that is more probable than not, else the likelier other one.

        Raises:
            NotRead: there is no usable answer.
        """
        answer: Chosen = answers.take(str(number))
        if set(answer.shares) != set(STANCES):
            raise NotRead(f"its values are not {', '.join(STANCES)}")
        share, against, without = (answer.shares[stance] for stance in STANCES)
        verdict: Literal["supported", "contradicted", "not mentioned"] = NOT_MENTIONED
        if share > 0.5:
            verdict = SUPPORTED
        elif against > without:
            verdict = CONTRADICTED
        return NumberedVerdict(
            number=number,
            reason=f"supported with probability {share:.3g}, contradicted with {against:.3g}",
            evidence=_chosen_sentence(number, answers),
            verdict=verdict,
            probability=share,
        )


def sentence_question(number: int, block: int) -> str:
    """Name of the question which sentence of a block of sentences contradicts an item."""
    return f"{number} sentence {block}"


def _chosen_sentence(number: int, answers: Decided[Any]) -> str:
    """The sentence that a decision model named with the highest probability; "" if it named none."""
    named: dict[str, float] = {}
    for block in count(1):
        name = sentence_question(number, block)
        if name not in answers.found and name not in answers.objections:
            break
        with suppress(NotRead):
            answer: Chosen = answers.take(name)
            named[answer.value] = answer.shares[answer.value]
    named.pop(NONE_OF_THESE, None)
    return max(named, key=named.__getitem__, default="")


class DecliningVerdict(VerdictList):
    """The verdict on the single remark that the answer declines."""

    def abstention(self) -> Declined | None:
        """The first verdict; None if it is missing."""
        if not self.verdicts:
            return None
        first = self.verdicts[0]
        return Declined(declined=first.supported, reason=first.reason.strip() or None)


def _calibrated(verdict: NumberedVerdict, calibration: ProbabilityMap) -> NumberedVerdict:
    """The verdict by its calibrated probability; unchanged if it has none or is left open."""
    before = verdict.probability
    if before is None or verdict.verdict in (PASSED_ON, UNKNOWN):
        return verdict
    share = calibration.calibrated(before)
    told = f"probability {before:.3g}, calibrated {share:.3g}"
    return verdict.model_copy(
        update={
            "reason": f"{verdict.reason}; {told}" if verdict.reason else told,
            "verdict": "yes" if share > 0.5 else "no",
            "probability": share,
        }
    )


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


def _verdict(
    entry: Mapping[str, Json], expected: Expected, fields: Set[str], words: tuple[str, ...]
) -> NumberedVerdict:
    """The verdict of an entry.

    Raises:
        NotRead: the entry has no verdict, or has unknown fields.
    """
    if not expected.graded:
        if not entry.keys() <= fields:
            raise NotRead(f'"{min(entry.keys() - fields)[:80]}" was not asked for')
        if "verdict" not in entry:
            raise NotRead('it has no "verdict"')
        if entry["verdict"] not in words:
            raise NotRead(f"its verdict is {_none_of(words)}, but {_quoted(entry['verdict'])}")
    verdict = validated(NumberedVerdict, entry)
    if verdict.verdict not in (*words, PASSED_ON, UNKNOWN):
        raise NotRead(f"its verdict is {_none_of(words)}, but {_quoted(verdict.verdict)}")
    return verdict


def _none_of(words: tuple[str, ...]) -> str:
    """Two or more words in negative form: 'neither "yes" nor "no"'."""
    return "neither " + " nor ".join([f'"{word}"' for word in words])


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
