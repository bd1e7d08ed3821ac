"""Two judges, the cheap one first: the dear one decides what the cheap one is not sure of."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._wrapper import PromptChecker, unwrapped
from ragmetrics_core.parsers import PASSED_ON, NumberedVerdict, VerdictList
from ragmetrics_core.protocol import Completion, Generate, Judge, Narrow

__all__ = ["Cascade", "Decider", "decider", "decider_of"]

Decider = Callable[[Generate[Any]], str | None]

UNSURE: Final = (0.2, 0.8)


@dataclass(frozen=True)
class Cascade:
    """Asks a cheap judge for verdicts first, and a dear one for those that the cheap one is unsure of.

    A verdict is the cheap judge's when its probability lies outside of `unsure`, and on the verdict's side of
    it: below for a "no", above for a "yes". All others of a call, also those without a probability or that
    the cheap judge left out, go to the dear judge in one call. What is no list of verdicts on numbered items,
    and what the cheap judge cannot answer, is the dear judge's from the start. The step of a record, and the
    verdict, name the judge that decided.

    Attributes:
        cheap: gives verdicts with a probability: "embedded", an entailment model, a grounded judge.
        dear: decides the rest, and answers all other prompts.
        unsure: from which probability to which the cheap judge does not decide.

    Raises:
        ConfigError: the band lies not within 0 and 1, or a judge is none.
    """

    cheap: Judge
    dear: Judge
    unsure: tuple[float, float] = UNSURE

    def __post_init__(self) -> None:
        from ragmetrics_core.models._wrapping import as_judge

        object.__setattr__(self, "cheap", as_judge(self.cheap))
        object.__setattr__(self, "dear", as_judge(self.dear))
        low, high = self.unsure
        if not 0 <= low <= high <= 1:
            raise ConfigError(f"unsure is a band from 0 to 1, such as (0.2, 0.8), not {self.unsure}")

    @property
    def identity(self) -> str:
        """Both judges and the band."""
        return f"cascade({self.cheap_identity} | {self.dear.identity})"

    @property
    def model(self) -> str:
        """The dear judge's model, whose price counts."""
        return str(getattr(self.dear, "model", ""))

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept for later runs."""
        return all(getattr(judge, "cacheable", True) for judge in (self.cheap, self.dear))

    @property
    def draws_at_once(self) -> bool:
        """Whether one call gives several draws."""
        return all(getattr(judge, "draws_at_once", False) for judge in (self.cheap, self.dear))

    @property
    def concurrency(self) -> int:
        """How many calls the narrower of the two works on at a time."""
        widths = [judge.concurrency for judge in (self.cheap, self.dear) if isinstance(judge, Narrow)]
        return min(widths, default=sys.maxsize)

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when the dear judge cannot answer one of the prompts."""
        if isinstance(self.dear, PromptChecker):
            self.dear.check_prompts(names)

    @property
    def cheap_identity(self) -> str:
        """How records name the cheap judge: with the band, as another band makes another decision."""
        low, high = self.unsure
        return f"{self.cheap.identity}, unsure from {low:g} to {high:g}"

    def decider(self, request: Generate[Any]) -> str:
        """Who answers the request: the dear judge's identity, or the cheap one's with the band."""
        return self.cheap_identity if self.is_first(request) else self.dear.identity

    def is_first(self, request: Generate[Any]) -> bool:
        """Whether the cheap judge is asked: for verdicts on numbered items, the first time."""
        if request.passed_on or request.again or not issubclass(request.prompt.answer, VerdictList):
            return False
        if not request.expected.numbers:
            return False
        try:
            if isinstance(self.cheap, PromptChecker):
                self.cheap.check_prompts([request.prompt.name])
        except ConfigError:
            return False
        return True

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The replies of the judge whose turn it is; of the cheap one with what it is sure of.

        Raises:
            ModelError: the judge did not answer.
        """
        if not self.is_first(request):
            return await self.dear.agenerate(request._replace(passed_on=False))
        return [self.sure(request, reply) for reply in await self.cheap.agenerate(request)]

    def sure(self, request: Generate[Any], reply: Completion) -> Completion:
        """A reply of the cheap judge with all that it is not sure of marked as passed on."""
        expected = request.expected._replace(graded=reply.held_to == "graded")
        reading = request.prompt.answer.read(reply.text, expected)
        read = reading.value.verdicts if isinstance(reading.value, VerdictList) else ()
        known = {verdict.number: self._verdict(verdict) for verdict in read}
        unknown = {"verdict": PASSED_ON}
        verdicts = [{"number": number, **known.get(number, unknown)} for number in expected.numbers]
        text = json.dumps({"verdicts": verdicts})
        return replace(reply, text=text, finish_reason="stop", held_to="graded")

    def _verdict(self, verdict: NumberedVerdict) -> dict[str, object]:
        low, high = self.unsure
        share = verdict.probability
        is_sure = share is not None and (share > high if verdict.supported else share < low)
        return {
            "reason": verdict.reason,
            "evidence": verdict.evidence,
            **({"unsupported": list(verdict.unsupported)} if verdict.unsupported else {}),
            **({} if share is None else {"probability": share}),
            "verdict": ("yes" if verdict.supported else "no") if is_sure else PASSED_ON,
        }


def decider_of(judge: object) -> Decider | None:
    """What says who of a judge that is made of several answers a request; None for any other judge."""
    found: Decider | None = getattr(unwrapped(judge), "decider", None)
    return found


def decider(judge: object, request: Generate[Any]) -> str | None:
    """Who of a judge that is made of several answers a request, by identity; None for any other judge."""
    of = decider_of(judge)
    return of and of(request)
