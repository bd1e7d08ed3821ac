"""Values from records of the first reader, as today's answer types.

The first reader accepted replies in many forms. Its records keep the values that it read; they are recomputed
from these values, and their replies are not read again.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._answer import Answer, Expected, Reading
from ragmetrics_core.parsers._facts import FactLists
from ragmetrics_core.parsers._questions import QuestionList
from ragmetrics_core.parsers._ratings import Rating
from ragmetrics_core.parsers._relevance import INSUFFICIENT, ExtractedSentences, RelevantSentences
from ragmetrics_core.parsers._statements import StatementList
from ragmetrics_core.parsers._verdicts import PASSED_ON, VerdictList

__all__ = ["of_earlier"]

A = TypeVar("A", bound=Answer)
Fields = Mapping[str, Any]


def of_earlier(kind: type[A], value: Fields, expected: Expected) -> Reading[A]:
    """The value that the first reader took from a reply, from its record, without uncounted parts.

    Raises:
        ValueError: the value does not have this type.
    """
    form = next((form for known, form in _FORMS.items() if issubclass(kind, known)), None)
    answer = kind.checked(value if form is None else form(value, expected))
    numbers = {each.number for each in answer.verdicts} if isinstance(answer, VerdictList) else set[int]()
    if isinstance(answer, VerdictList) and not numbers.issuperset(expected.numbers):
        return Reading(answer, ("not every number has a verdict",))
    if isinstance(answer, Rating) and list(answer.objections(expected)):
        return Reading(None, ("it is off the scale",))
    return Reading(answer)


def _verdicts(value: Fields, expected: Expected) -> dict[str, Json]:
    """The first verdict for each number in question, unless a later one contradicts it."""
    first: dict[int, Fields] = {}
    contrary: set[int] = set()
    for each in value["verdicts"]:
        if first.setdefault(each["number"], each)["supported"] != each["supported"]:
            contrary.add(each["number"])
    asked = expected.numbers or tuple(first)
    verdicts: list[Json] = [
        {
            "number": each["number"],
            "reason": each.get("reason") or "",
            "evidence": each.get("evidence") or [],
            "verdict": "yes" if each["supported"] else "no",
            "probability": each.get("confidence"),
            "unsupported": each.get("unsupported"),
        }
        for each in first.values()
        if each["number"] in asked and each["number"] not in contrary
    ]
    passed_on = [number for number in value.get("passed_on") or () if number in asked]
    return {"verdicts": [*verdicts, *({"number": number, "verdict": PASSED_ON} for number in passed_on)]}


def _statements(value: Fields, expected: Expected) -> dict[str, Json]:
    return {
        "statements": value["statements"],
        "declined": value.get("declined"),
        "reason": value.get("declined_reason"),
    }


def _relevant(value: Fields, expected: Expected) -> dict[str, Json]:
    numbers = [number for number in value["numbers"] if number in (expected.numbers or value["numbers"])]
    return {"relevant": INSUFFICIENT if value["insufficient"] and not numbers else numbers}


def _extracted(value: Fields, expected: Expected) -> dict[str, Json]:
    exact = value.get("insufficient_exactly")
    phrase = f"{INSUFFICIENT}." if exact else INSUFFICIENT if value["insufficient"] else None
    return {"sentences": value["sentences"], "phrase": phrase}


def _questions(value: Fields, expected: Expected) -> dict[str, Json]:
    flagged = value.get("flagged")
    questions: list[Json] = [
        {"question": each["question"], "noncommittal": each["noncommittal"] if flagged else None}
        for each in value["questions"][: expected.size]
    ]
    return {"questions": questions}


def _facts(value: Fields, expected: Expected) -> dict[str, Json]:
    return {name.upper(): value[name] for name in ("tp", "fp", "fn")}


_FORMS: Final[Mapping[type[Answer], Callable[[Fields, Expected], dict[str, Json]]]] = {
    VerdictList: _verdicts,
    StatementList: _statements,
    RelevantSentences: _relevant,
    ExtractedSentences: _extracted,
    QuestionList: _questions,
    FactLists: _facts,
}
