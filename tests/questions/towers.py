"""Documents of one sentence each, and a judge that knows which sentence answers which question."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ragmetrics_core.testing import ScriptedJudge
from tests.servers import Answer, Seen, chat

__all__ = ["PLACES", "Towers", "documents", "good", "sentence_of"]

PLACES = {"Norway": ("Oslo", "Bergen", "Bodo"), "Chile": ("Santiago", "Arica", "Iquique")}
_TOWER = re.compile(r"[Tt]he tower of (\w+)")
_ITEMS = re.compile(r"<items>\n(.*)\n</items>", re.DOTALL)


def sentence_of(place: str) -> str:
    return f"The tower of {place} was built by the {place} guild in the year {1800 + len(place)}."


def documents(places: Mapping[str, Sequence[str]] = PLACES) -> list[dict[str, Any]]:
    """One document for each place, with the label `country`."""
    return [
        {"id": place, "text": sentence_of(place), "country": country}
        for country, names in places.items()
        for place in names
    ]


def good(place: str, **changed: Any) -> dict[str, Any]:
    """A reply with a good question on the tower of a place."""
    question = {
        "quotes": [sentence_of(place)],
        "question": f"Who built the tower of {place}?",
        "answer": f"The tower of {place} was built by the {place} guild.",
    }
    return {"questions": [{**question, **changed}]}


class Towers:
    """A judge that writes a question on each tower, and is right about its own questions.

    Args:
        written: the reply to a writing task on a place. Default: a good question.
        known: places whose towers the judge knows without a document.
        faults: for a place, what the checks find: "insufficient", "unfaithful", "unclear", "several",
            "vague" (both insufficient and unclear), "elsewhere" (any passage answers it), "unread" (a check
            is not JSON).
    """

    def __init__(
        self, *, written: Callable[[str], Any] = good, known: Iterable[str] = (), **faults: str
    ) -> None:
        self._written = written
        self._known = frozenset(known)
        self._faults = faults
        self.judge = ScriptedJudge(
            lambda request: self.reply_to(request.messages[-1].content), identity="towers"
        )

    def answer(self, request: Seen) -> Answer:
        """The same as an answer of a server."""
        return chat(self.reply_to(request.body["messages"][-1]["content"]))

    def reply_to(self, prompt: str) -> str:
        """The reply to a prompt."""
        reply = self._reply_to(prompt)
        return reply if isinstance(reply, str) else json.dumps(reply)

    def _reply_to(self, prompt: str) -> Any:
        # the question comes after the contexts
        place = _TOWER.findall(prompt)[-1]
        fault = self._faults.get(place)
        if '"quotes"' in prompt:
            return self._written(_TOWER.findall(prompt)[0])
        if '"sentences"' in prompt:
            statement = f"The tower of {place} was built by the {place} guild."
            return {"sentences": [{"sentence": 1, "kind": "claim", "statements": [statement]}]}
        if '"known"' in prompt:
            return {"answer": "A guild." if place in self._known else "", "known": place in self._known}
        if "contexts are sufficient" in prompt:
            if fault == "unread":
                return "I would rather not say."
            verdicts = [
                fault == "elsewhere"
                or (sentence_of(place) in prompt and fault not in ("insufficient", "vague"))
            ]
        elif "Criteria:" in prompt:
            verdicts = [fault not in ("unclear", "vague"), fault != "several"]
        else:
            verdicts = [fault != "unfaithful"] * len(_ITEMS.findall(prompt))
        return {
            "verdicts": [
                {"number": number, "reason": "so", "evidence": "", "verdict": "yes" if each else "no"}
                for number, each in enumerate(verdicts, start=1)
            ]
        }
