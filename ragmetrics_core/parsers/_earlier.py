"""What records of the first reader hold of a reply, as the answer types of today have it.

The first reader took replies in many forms. What it read is kept in its records, and is all that is known of
what it understood: such a record is recomputed from there, and its replies are not read a second time.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from ragmetrics_core.parsers._answer import Answer
from ragmetrics_core.parsers._facts import FactLists
from ragmetrics_core.parsers._questions import QuestionList
from ragmetrics_core.parsers._relevance import INSUFFICIENT, ExtractedSentences, RelevantSentences
from ragmetrics_core.parsers._statements import StatementList
from ragmetrics_core.parsers._verdicts import PASSED_ON, VerdictList
from ragmetrics_core.shapes import Json

__all__ = ["of_earlier"]

A = TypeVar("A", bound=Answer)
Fields = Mapping[str, Any]


def of_earlier(kind: type[A], value: Fields) -> A:
    """The answer that the first reader read, from what its record holds.

    Raises:
        ValueError: the value is none of this type.
    """
    for known, form in _FORMS.items():
        if issubclass(kind, known):
            return kind.checked(form(value))
    return kind.checked(value)


def _verdicts(value: Fields) -> dict[str, Json]:
    verdicts: list[Json] = [
        {
            "number": each["number"],
            "reason": each.get("reason") or "",
            "evidence": each.get("evidence") or [],
            "verdict": "yes" if each["supported"] else "no",
            "probability": each.get("confidence"),
            "unsupported": each.get("unsupported"),
        }
        for each in value["verdicts"]
    ]
    passed_on = value.get("passed_on") or ()
    return {"verdicts": [*verdicts, *({"number": number, "verdict": PASSED_ON} for number in passed_on)]}


def _statements(value: Fields) -> dict[str, Json]:
    declined = value.get("declined")
    why = (value.get("declined_reason") or "it gives no reason") if declined else declined
    return {"statements": value["statements"], "declined": why}


def _relevant(value: Fields) -> dict[str, Json]:
    return {"relevant": INSUFFICIENT if value["insufficient"] else value["numbers"]}


def _extracted(value: Fields) -> dict[str, Json]:
    exact = value.get("insufficient_exactly")
    phrase = f"{INSUFFICIENT}." if exact else INSUFFICIENT if value["insufficient"] else None
    return {"sentences": value["sentences"], "phrase": phrase}


def _questions(value: Fields) -> dict[str, Json]:
    flagged = value.get("flagged")
    questions: list[Json] = [
        {"question": each["question"], "noncommittal": each["noncommittal"] if flagged else None}
        for each in value["questions"]
    ]
    return {"questions": questions}


def _facts(value: Fields) -> dict[str, Json]:
    return {name.upper(): value[name] for name in ("tp", "fp", "fn")}


_FORMS: Final[Mapping[type[Answer], Callable[[Fields], dict[str, Json]]]] = {
    VerdictList: _verdicts,
    StatementList: _statements,
    RelevantSentences: _relevant,
    ExtractedSentences: _extracted,
    QuestionList: _questions,
    FactLists: _facts,
}
