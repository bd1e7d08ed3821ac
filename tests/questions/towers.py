"""Documents of one sentence each, and a judge that knows which sentence answers which question."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

__all__ = ["PLACES", "Towers", "documents"]

PLACES = {"Norway": ("Oslo", "Bergen", "Bodo"), "Chile": ("Santiago", "Arica", "Iquique")}
_TOWER = re.compile(r"[Tt]he tower of (\w+)")


def sentence_of(place: str) -> str:
    return f"The tower of {place} was built by the {place} guild in the year {1800 + len(place)}."


def documents(places: Any = PLACES) -> list[dict[str, Any]]:
    """One document for each place, with the label `country`."""
    return [
        {"id": place, "text": sentence_of(place), "country": country}
        for country, names in places.items()
        for place in names
    ]


class Towers:
    """A judge that writes a question on each tower, and answers honestly about its own.

    Args:
        written: the reply to a writing task, from the place and the request. Default: a good question.
        known: places whose towers the judge knows without a document.
        faults: for a place, what the checks find: "insufficient", "unfaithful", "unclear", "several",
            "elsewhere" (any passage answers it), "unread" (a check is not JSON).
    """

    def __init__(
        self,
        *,
        written: Callable[[str, Generate[Any]], Any] | None = None,
        known: Iterable[str] = (),
        **faults: str,
    ) -> None:
        self._written = written or self.good
        self._known = set(known)
        self._faults = faults
        self.judge = ScriptedJudge(self._reply, identity="towers")

    @staticmethod
    def good(place: str, request: Generate[Any] | None = None, **changed: Any) -> dict[str, Any]:
        question = {
            "quotes": [sentence_of(place)],
            "question": f"Who built the tower of {place}?",
            "answer": f"The tower of {place} was built by the {place} guild.",
        }
        return {"questions": [{**question, **changed}]}

    def _reply(self, request: Generate[Any]) -> Any:
        name, variables = request.prompt.name, request.variables
        if name.startswith("write_"):
            contexts: Any = variables["contexts"]
            return self._written(_TOWER.search(contexts[0])[1], request)  # type: ignore[index]
        place = _TOWER.search(str(variables.get("question", variables.get("items"))))[1]  # type: ignore[index]
        fault = self._faults.get(place)
        if fault == "unread" and name == "sufficiency":
            return "I would rather not say."
        if name == "statements":
            return {"statements": [variables["answer"]]}
        if name == "closed_book":
            return {"answer": "The guild." if place in self._known else "", "known": place in self._known}
        if name == "sufficiency":
            answers = any(sentence_of(place) in text for text in variables["contexts"])  # type: ignore[attr-defined]
            verdicts = [fault == "elsewhere" or (answers and fault != "insufficient")]
        elif name == "question_quality":
            verdicts = [fault != "unclear", fault != "several"]
        else:
            verdicts = [{"verdicts": fault != "unfaithful", "answer_verdicts": place in self._known}[name]]
        return {
            "verdicts": [
                {"number": number, "reason": "so", "evidence": "", "verdict": "yes" if each else "no"}
                for number, each in enumerate(verdicts, start=1)
            ]
        }
