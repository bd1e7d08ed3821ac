"""Two judges: the cheap one first, the expensive one if the cheap one is unsure."""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.wrapper import PromptChecker
from ragmetrics_core.parsers import PASSED_ON, NumberedVerdict, VerdictList
from ragmetrics_core.protocol import Completion, Generate, Judge, Narrow

__all__ = ["Cascade"]

UNSURE: Final = (0.2, 0.8)


@dataclass(frozen=True)
class Cascade:
    """Ask a cheap judge for verdicts, and an expensive one about those the cheap one is unsure of.

    The cheap judge decides a "no" with a probability below `unsure` and a "yes" with a probability above it.
    All other verdicts of a call, including missing ones and those without a probability, go to the expensive
    judge in one call. Prompts that do not request verdicts on numbered items, and prompts the cheap judge
    cannot answer, go to the expensive judge directly. The record's step and the verdict name the judge that
    decided.

    Attributes:
        cheap: a judge that gives verdicts with probabilities: "embedded", an entailment model, a grounded
            judge.
        dear: the expensive judge; decides the rest and answers all other prompts.
        unsure: range of probabilities in which the cheap judge does not decide.

    Raises:
        ConfigError: the range is not within 0 and 1, or a judge is invalid.
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
            raise ConfigError(f"unsure must be a range within 0 and 1, such as (0.2, 0.8), not {self.unsure}")

    @property
    def identity(self) -> str:
        """Both judges and the range."""
        return f"cascade({self.cheap_identity} | {self.dear.identity})"

    @property
    def model(self) -> str:
        """The expensive judge's model, whose price counts."""
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
        """The smaller concurrency of the two judges."""
        widths = [judge.concurrency for judge in (self.cheap, self.dear) if isinstance(judge, Narrow)]
        return min(widths, default=sys.maxsize)

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` if the expensive judge cannot answer one of the prompts."""
        if isinstance(self.dear, PromptChecker):
            self.dear.check_prompts(names)

    @property
    def cheap_identity(self) -> str:
        """The cheap judge's name in records, with the range: a different range makes different decisions."""
        low, high = self.unsure
        return f"{self.cheap.identity}, unsure from {low:g} to {high:g}"

    def decider(self, request: Generate[Any]) -> str:
        """Identity of the judge that answers the request; the cheap judge's includes the range."""
        return self.cheap_identity if self.is_first(request) else self.dear.identity

    def is_first(self, request: Generate[Any]) -> bool:
        """Whether the cheap judge is asked: only for verdicts on numbered items, and only the first time."""
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
        """The replies of the judge that is asked; the cheap judge's verdicts outside the range are final.

        Raises:
            ModelError: the judge did not answer.
        """
        if not self.is_first(request):
            return await self.dear.agenerate(request._replace(passed_on=False))
        return [self.sure(request, reply) for reply in await self.cheap.agenerate(request)]

    def sure(self, request: Generate[Any], reply: Completion) -> Completion:
        """The cheap judge's reply with all unsure verdicts marked as deferred."""
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
