"""Verdicts as JSON lists them: in the form that prompts ask for, and in the many others that judges use."""

from collections.abc import Sequence
from typing import NamedTuple

from ragmetrics_core.parsers._json_text import MISSING, Missing, fold, pick
from ragmetrics_core.parsers._numbered_verdict import LARGEST_NUMBER, NumberedVerdict, number_of
from ragmetrics_core.parsers._reading import Hints, exactly
from ragmetrics_core.parsers._reply_text import has_content, plain
from ragmetrics_core.parsers._verdict_digits import may_be_numbers
from ragmetrics_core.parsers._words import digit_word, verdict_value, verdict_word
from ragmetrics_core.shapes import Json, are_dicts

__all__ = ["PASSED_ON", "JsonVerdicts", "exact_verdicts", "verdicts_in"]

PASSED_ON = "passed on"
"""What stands at the place of a verdict that a reply leaves to another judge."""

_LIST_NAMES = (
    "verdicts", "answers", "results", "statements", "judgements", "judgments", "evaluations",
    "claims", "final verdicts",
    "urteile", "veredictos", "verdetti", "判断", "結論",
)  # fmt: skip
_STATEMENT_NAMES = ("statements", "claims")
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
# The names of one verdict in the form that the prompts ask for.
_ASKED = frozenset({"number", "reason", "evidence", "verdict"})


class _Entry(NamedTuple):
    """One verdict as JSON has it: its number if any, and the value or object that says it."""

    number: int | None
    item: Json


class JsonVerdicts(NamedTuple):
    """What a JSON value says: verdicts, numbers that it leaves to another judge, and what does not count."""

    verdicts: tuple[NumberedVerdict, ...]
    passed_on: tuple[int, ...] = ()
    dropped: tuple[str, ...] = ()


def exact_verdicts(value: dict[str, Json]) -> tuple[NumberedVerdict, ...] | None:
    """The verdicts of an object in the very form that the prompts ask for; anything else is None."""
    items = value.get("verdicts")
    if len(value) != 1 or not isinstance(items, list):
        return None
    verdicts: list[NumberedVerdict] = []
    for item in items:
        if not isinstance(item, dict) or not item.keys() <= _ASKED:
            return None
        number, said = item.get("number"), item.get("verdict")
        reason, quote = item.get("reason", ""), item.get("evidence", "")
        if type(number) is not int or abs(number) > LARGEST_NUMBER or said not in ("yes", "no"):
            return None
        if type(reason) is not str or type(quote) is not str:
            return None
        verdicts.append(
            exactly(
                NumberedVerdict,
                number=number,
                supported=said == "yes",
                reason=plain(reason) or None,
                evidence=_quotes(quote),
                confidence=None,
                unsupported=None,
            )
        )
    return tuple(verdicts)


def verdicts_in(value: Json, hints: Hints, *, cut: bool = False) -> JsonVerdicts | None:
    """The verdicts that a JSON value lists; None when it lists something else.

    Args:
        value: the value.
        hints: the numbers that were asked about, in order, and the prompt's own text.
        cut: it was cut, and only those verdicts count that are sure to be complete.
    """
    numbers = hints.numbers
    entries = _entries(value, numbers)
    if entries is None:
        return None
    dropped: list[str] = []
    numbered = any(entry.number is not None for entry in entries)
    if cut and not numbered:
        return None
    if cut and not _is_listed(value):
        entries = entries[:-1]  # a list has left out what was cut, a mapping has not
    if entries and not numbered:
        if len(entries) != len(numbers):
            why = f"{len(entries)} verdicts without numbers for {len(numbers)} statements: no sure place"
            return JsonVerdicts((), (), (why,)) if _is_list_of_objects(entries) else None
        digits = [digit for entry in entries if (digit := _digit(entry.item)) is not None]
        if len(digits) == len(entries) and not _is_named(value) and may_be_numbers(digits, hints):
            return None
        entries = [_Entry(number, entry.item) for number, entry in zip(numbers, entries, strict=True)]
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
    return JsonVerdicts(tuple(verdicts), tuple(passed_on), tuple(dropped))


def _entries(value: Json, numbers: Sequence[int]) -> list[_Entry] | None:
    """The entries of a JSON value that lists verdicts; None when it lists something else."""
    if isinstance(value, dict):
        if (inner := pick(value, *_LIST_NAMES)) is not MISSING and isinstance(inner, (dict, list)):
            if inner == []:
                return []
            return _entries(inner, numbers)
        if pick(value, *_VERDICT_NAMES) is not MISSING and not isinstance(
            pick(value, *_VERDICT_NAMES), (dict, list)
        ):
            number = number_of(pick(value, *_NUMBER_NAMES))
            return [_Entry(number, value)] if number is not None or len(numbers) == 1 else None
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


def _digit(item: Json) -> int | None:
    """The 1 or 0 that an entry is."""
    if isinstance(item, str):
        return digit_word(item)
    return item if type(item) is int and item in {0, 1} else None


def _is_named(value: Json) -> bool:
    """Whether a list is named as one of verdicts; `{"statements": [1]}` lists the numbers of statements."""
    return isinstance(value, dict) and pick(value, *_LIST_NAMES) is not pick(value, *_STATEMENT_NAMES)


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
    if isinstance(item, str):
        return len(item) < 40 and fold(item) in _OPEN and verdict_word(item) is None
    return item is None


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
    held: list[str] = []
    for quote in quotes:
        words = plain(quote) if isinstance(quote, str) else ""
        if words and has_content(words) and not _is_open(quote):
            held.append(words)
    return tuple(held)


def _shown(said: object) -> str:
    return "nothing" if said is MISSING else repr(said)[:60].encode("utf-8", "replace").decode()
