"""Verdicts on numbered statements, and their place beside the statements that were asked about."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal, NamedTuple, NotRequired, Self, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from ragmetrics_core.parsers.echoes import is_form
from ragmetrics_core.parsers.json_text import MISSING, Fit, Missing, fits, fold, outside_json, pick, read_json
from ragmetrics_core.parsers.own_text import own_text
from ragmetrics_core.parsers.quoting import may_be_quoted
from ragmetrics_core.parsers.reading import Abstention, Answer, Hints, Reading
from ragmetrics_core.parsers.reply_text import has_content, plain, unfinished
from ragmetrics_core.parsers.verdict_text import TextVerdict, read_verdict_text
from ragmetrics_core.parsers.words import verdict_value, verdict_word
from ragmetrics_core.shapes import Json, are_dicts

__all__ = ["PASSED_ON", "Aligned", "DecliningVerdict", "NumberedVerdict", "VerdictList", "align", "number_of"]

PASSED_ON = "passed on"
"""What stands at the place of a verdict that a reply leaves to another judge."""

_LIST_NAMES = (
    "verdicts", "answers", "results", "statements", "judgements", "judgments", "evaluations",
    "claims", "final verdicts",
    "urteile", "veredictos", "verdetti", "判断", "結論",
)  # fmt: skip
_VERDICT_NAMES = (
    "verdict", "final verdict", "answer", "supported", "is supported", "attributed", "label",
    "judgement", "judgment", "decision",
    "relevant", "covered", "present", "urteil", "veredicto", "verdetto", "veredito",
    "oordeel", "结论", "判断", "判定", "निर्णय",
)  # fmt: skip
_NUMBER_NAMES = (
    "number",
    "index",
    "id",
    "no",
    "no.",
    "n",
    "nr",
    "statement number",
    "statement index",
    "statement id",
    "nummer",
    "编号",
)
_REASON_NAMES = (
    "reason",
    "explanation",
    "rationale",
    "reasoning",
    "justification",
    "begründung",
    "grund",
    "raison",
    "razón",
    "motivo",
    "理由",
    "原因",
)
_EVIDENCE_NAMES = (
    "evidence",
    "quote",
    "quotes",
    "evidences",
    "citation",
    "citations",
    "quoted evidence",
    "source",
    "beleg",
    "zitat",
)
_LARGEST_NUMBER = 1_000_000


V = TypeVar("V", bound="VerdictList")


class NumberedVerdict(BaseModel):
    """What the judge says on one statement.

    Attributes:
        number: the statement's number.
        supported: whether it is supported; partly supported is not.
        reason: in the judge's words, when it gives one.
        evidence: words that the judge copied from the contexts; not checked here.
        confidence: the probability that it is supported, where the judge gives one.
        unsupported: the words of the statement that nothing supports, where the judge marks them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    number: int
    supported: bool
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    unsupported: tuple[str, ...] | None = None


class VerdictList(Answer):
    """The verdicts of one reply, in its order; numbers may repeat, miss or be out of range (see `align`).

    Attributes:
        verdicts: the verdicts.
        passed_on: numbers that the reply leaves to another judge; None for none.
    """

    verdicts: tuple[NumberedVerdict, ...]
    passed_on: tuple[int, ...] | None = None

    @classmethod
    def read(cls, text: str, hints: Hints) -> Reading[Self]:
        """Read JSON, else a final list, "Verdict:" lines, a table, numbered lines, or one bare verdict.

        A verdict without a number counts only where its place is certain: no verdict of the reply has a
        number, and there are as many as were asked for.
        """
        if (exact := _exact(text)) is not None and not may_be_quoted(hints) and not is_form(text, hints):
            return Reading(cls.model_validate({"verdicts": exact}), "json")
        reply = own_text(text, hints)
        reading = read_json(
            reply,
            lambda value: _shape(cls, value, hints),
            cls,
            hints=hints,
            cut_shape=lambda value: _shape(cls, value, hints, cut=True),
        )
        if reading is not None:
            return (
                reading if reading.value is None or reading.rule == "json" else _agreed(reading, reply, hints)
            )
        found = read_verdict_text(reply, hints)
        if found is None:
            return Reading(None, "unread")
        if hints.stopped is not False and not unfinished(reply, hints):
            return Reading(cls(verdicts=tuple(map(_of_text, found.verdicts))), found.rule, found.dropped)
        # the last one may have ended otherwise; its number is asked about again
        last = found.verdicts[-1].number
        verdicts = tuple([_of_text(one) for one in found.verdicts if one.number != last])
        notes = (*found.dropped, f"verdict {last}: the reply ends in the middle of it")
        return Reading(cls(verdicts=verdicts), found.rule, notes, cut=True)


class DecliningVerdict(VerdictList):
    """The verdict on one remark: that the answer declines to answer."""

    def abstention(self) -> Abstention | None:
        """What the first verdict says; None when there is none."""
        if not self.verdicts:
            return None
        return Abstention(declined=self.verdicts[0].supported, reason=self.verdicts[0].reason)


@with_config(ConfigDict(extra="forbid", strict=True))
class _Asked(TypedDict):
    """One verdict in the very form that the prompts ask for."""

    number: int
    reason: NotRequired[str]
    evidence: NotRequired[str]
    verdict: Literal["yes", "no"]


@with_config(ConfigDict(extra="forbid", strict=True))
class _AskedList(TypedDict):
    verdicts: list[_Asked]


@cache
def _asked_form() -> Callable[[str], _AskedList]:
    """Reads the prompts' form to the letter and nothing else; built at its first use."""
    return TypeAdapter(_AskedList).validator.validate_json


def _exact(text: str) -> list[dict[str, object]] | None:
    """The verdicts of a reply that keeps the prompts' form to the letter; anything else is None.

    The chain reads it to the same value. Most replies are of this kind, and this takes a fifth of the time.
    """
    if not text.startswith('{"verdicts"'):
        return None
    try:
        asked = _asked_form()(text)["verdicts"]
    except ValidationError:
        return None
    if text.count('"verdict"') != len(asked) or text.count('"verdicts"') != 1:
        return None  # of a key that is there twice, the later value would count
    return [
        {
            "number": item["number"],
            "supported": item["verdict"] == "yes",
            "reason": plain(item.get("reason", "")) or None,
            "evidence": _quotes(item.get("evidence", "")),
        }
        for item in asked
    ]


class Aligned(NamedTuple):
    """Verdicts at their statements' numbers, the numbers without one, and what does not count, with why."""

    verdicts: dict[int, NumberedVerdict]
    missing: tuple[int, ...]
    dropped: tuple[str, ...]


def align(numbers: Sequence[int], verdicts: Sequence[NumberedVerdict]) -> Aligned:
    """Put each verdict at its statement's number; say which numbers are missing.

    A judge that drops a statement would otherwise change the denominator of the score. The first verdict of a
    number counts; repeats and numbers that were not asked about are dropped. Two contrary verdicts on one
    number are a conflict: neither counts, and the number is missing.

    Args:
        numbers: the numbers of the statements that were asked about, in order.
        verdicts: what the judge said, in its order.

    >>> align([1, 2], [NumberedVerdict(number=2, supported=True)]).missing
    (1,)
    """
    asked = frozenset(numbers)
    by_number: dict[int, NumberedVerdict] = {}
    dropped: list[str] = []
    contrary: set[int] = set()
    for verdict in verdicts:
        if verdict.number not in asked:
            dropped.append(f"verdict {verdict.number}: this number was not asked about")
        elif verdict.number in by_number:
            same = by_number[verdict.number].supported == verdict.supported
            contrary |= set() if same else {verdict.number}
            dropped.append(f"verdict {verdict.number}: {'repeats' if same else 'contradicts'} an earlier one")
        else:
            by_number[verdict.number] = verdict
    for number in sorted(contrary):
        del by_number[number]
        dropped.append(f"verdict {number}: contradicted by a later one")
    missing = tuple(number for number in numbers if number not in by_number)
    return Aligned(dict(sorted(by_number.items())), missing, tuple(dropped))


def number_of(value: object) -> int | None:
    """The whole number in a JSON value: 2, 2.0, "2", "Statement 2", "[2]"; None when there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        value = int(value) if value.is_integer() and abs(value) <= _LARGEST_NUMBER else None
    if isinstance(value, str):
        found = re.fullmatch(r"[\s#(\[]*(?:[^\W\d_]{1,14}[\s_.#(\[]*)?(\d{1,7})[\s.):\]]{0,3}", value)
        value = int(found[1]) if found else None
    return value if isinstance(value, int) and abs(value) <= _LARGEST_NUMBER else None


def _of_text(verdict: TextVerdict) -> NumberedVerdict:
    return NumberedVerdict(
        number=verdict.number, supported=verdict.supported, reason=verdict.reason, evidence=verdict.evidence
    )


def _agreed(reading: Reading[V], reply: str, hints: Hints) -> Reading[V]:
    """The verdicts that nothing else in the reply contradicts: no other JSON, and no text beside it."""
    value = reading.value
    assert value is not None, "only what was read can be contradicted"
    kind = type(value)
    said: list[tuple[int, bool]] = [(one.number, one.supported) for one in value.verdicts]
    for other in fits(reply, lambda value: _shape(kind, value, hints), kind, hints):
        said += [(one.number, one.supported) for one in other.verdicts]
    beside = outside_json(reply)
    if has_content(beside) and (found := read_verdict_text(beside, hints)) is not None:
        is_introduction = found.rule == "bare" and beside.strip().partition("\n")[0].rstrip(" `*_").endswith(
            ":"
        )
        said += [] if is_introduction else [(one.number, one.supported) for one in found.verdicts]
    contrary = sorted({number for number, supported in said if (number, not supported) in said})
    if not contrary:
        return reading
    verdicts = tuple([one for one in value.verdicts if one.number not in contrary])
    notes = [f"verdict {number}: the reply gives two contrary ones" for number in contrary]
    return replace(
        reading, value=value.model_copy(update={"verdicts": verdicts}), dropped=(*reading.dropped, *notes)
    )


class _Entry(NamedTuple):
    """One verdict as JSON has it: its number if any, and the value or object that says it."""

    number: int | None
    item: Json


def _shape(wanted: type[VerdictList], value: Json, hints: Hints, *, cut: bool = False) -> Fit | None:
    """The verdicts that a JSON value lists; of one that was cut only those that are sure to be complete."""
    entries = _entries(value, hints)
    if entries is None:
        return None
    dropped: list[str] = []
    numbered = any(entry.number is not None for entry in entries)
    if cut and not numbered:
        return None
    if cut and not _is_listed(value):
        entries = entries[:-1]  # a list has left out what was cut, a mapping has not
    if entries and not numbered:
        if len(entries) != len(hints.numbers):
            dropped = [
                f"{len(entries)} verdicts without numbers for {len(hints.numbers)} statements: no sure place"
            ]
            return Fit(wanted(verdicts=()), tuple(dropped)) if _is_list_of_objects(entries) else None
        entries = [_Entry(hints.numbers[place], entry.item) for place, entry in enumerate(entries)]
    verdicts: list[NumberedVerdict] = []
    passed_on: list[int] = []
    for place, entry in enumerate(entries, 1):
        said = _said(entry.item)
        supported = verdict_value(said)
        if entry.number is None:
            dropped.append(f"entry {place} has no number")
        elif said == PASSED_ON:
            passed_on.append(entry.number)
        elif supported is None:
            dropped.append(f"verdict {entry.number}: {_shown(said)} is no verdict")
        else:
            verdicts.append(_verdict(entry.number, supported, entry.item))
    return Fit(wanted(verdicts=tuple(verdicts), passed_on=tuple(passed_on) or None), tuple(dropped))


def _entries(value: Json, hints: Hints) -> list[_Entry] | None:
    """The entries of a JSON value that lists verdicts; None when it lists something else."""
    if isinstance(value, dict):
        if (inner := pick(value, *_LIST_NAMES)) is not MISSING and isinstance(inner, (dict, list)):
            if inner == []:
                return []
            return _entries(inner, hints)
        if pick(value, *_VERDICT_NAMES) is not MISSING and not isinstance(
            pick(value, *_VERDICT_NAMES), (dict, list)
        ):
            number = number_of(pick(value, *_NUMBER_NAMES))
            return [_Entry(number, value)] if number is not None or len(hints.numbers) == 1 else None
        by_key = [(number_of(key), inner) for key, inner in value.items()]
        if by_key and all(number is not None and _is_verdict_like(inner) for number, inner in by_key):
            return [_Entry(number, inner) for number, inner in by_key]
        return None
    if not isinstance(value, list) or not value:
        return None
    if are_dicts(value):
        if all(
            len(item) == 1 and number_of(key) is not None and _is_verdict_like(inner)
            for item in value
            for key, inner in item.items()
        ):
            return [_Entry(number_of(key), inner) for item in value for key, inner in item.items()]
        found = [_Entry(number_of(pick(item, *_NUMBER_NAMES, "statement", "claim")), item) for item in value]
        return found if any(_said(item) is not MISSING for item in value) else None
    if all(verdict_value(item) is not None or _is_open(item) for item in value):
        return [_Entry(None, item) for item in value]
    return None


def _is_listed(value: Json) -> bool:
    """Whether the verdicts stand in a list, and not in a mapping from numbers."""
    while isinstance(value, dict) and isinstance(inner := pick(value, *_LIST_NAMES), (dict, list)):
        value = inner
    return isinstance(value, list)


def _is_list_of_objects(entries: list[_Entry]) -> bool:
    return all(isinstance(entry.item, dict) for entry in entries)


def _said(item: Json) -> Json | Missing:
    return pick(item, *_VERDICT_NAMES) if isinstance(item, dict) else item


def _is_verdict_like(item: Json) -> bool:
    return (
        (isinstance(item, dict) and _said(item) is not MISSING)
        or verdict_value(item) is not None
        or _is_open(item)
    )


def _is_open(item: object) -> bool:
    """Whether a value stands at the place of a verdict and decides nothing."""
    return item is None or (
        isinstance(item, str) and len(item) < 40 and fold(item) in _OPEN and verdict_word(item) is None
    )


_OPEN = frozenset(
    {"", "unknown", "unclear", "maybe", "n/a", "idk", "null", "none", "unsure", "not sure", "uncertain"}
)


def _verdict(number: int, supported: bool, item: Json) -> NumberedVerdict:
    if not isinstance(item, dict):
        return NumberedVerdict(number=number, supported=supported)
    reason = pick(item, *_REASON_NAMES)
    quoted = pick(item, *_EVIDENCE_NAMES)
    quotes = quoted if isinstance(quoted, list) else [quoted]
    return NumberedVerdict(
        number=number,
        supported=supported,
        reason=(plain(reason) or None) if isinstance(reason, str) else None,
        evidence=_quotes(*quotes),
        confidence=_share(pick(item, "probability")),
        unsupported=_quotes(*marked) if isinstance(marked := pick(item, "unsupported"), list) else None,
    )


def _share(value: object) -> float | None:
    """A number from 0 to 1; anything else is none, and costs no verdict."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= 1 else None


def _quotes(*quotes: object) -> tuple[str, ...]:
    """The quotes that hold something."""
    return tuple(
        [
            words
            for quote in quotes
            if isinstance(quote, str) and has_content(words := plain(quote)) and not _is_open(quote)
        ]
    )


def _shown(said: object) -> str:
    return "nothing" if said is MISSING else repr(said)[:60].encode("utf-8", "replace").decode()
