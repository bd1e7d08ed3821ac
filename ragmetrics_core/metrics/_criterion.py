"""Criterion: does the answer meet a criterion that the user states?"""

from dataclasses import dataclass, field
from typing import Self

from ragmetrics_core import prompts, scoring
from ragmetrics_core.asking import ask_each
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Labels, Measurement, score
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered

__all__ = ["Criterion"]

MET = Labels("met", "not met")


@dataclass(frozen=True)
class Criterion(Metric[Answered]):
    """1 when the answer meets a criterion that you state in words, else 0: `Criterion("names the release")`.

    Range [0, 1], higher is better; never undefined. The verdict has a reason and quotes the deciding words of
    the answer; a person can overrule it. With several criteria, which are judged in one call, it is the share
    that the answer meets.

    Attributes:
        text: the criterion, as a phrase about an answer that meets it: "names the release".
        others: further criteria.
        verify: asks whether the answer meets them.
    """

    name = "criterion"
    inputs = Answered

    text: str = field(default="answers the question that was asked", kw_only=False)
    others: tuple[str, ...] = field(default=(), kw_only=True)
    verify: Prompt[VerdictList] = field(default=prompts.CRITERION, kw_only=True)

    def __new__(cls, *text: str, **settings: object) -> Self:
        """Accept the criterion by position as well as by name."""
        return super().__new__(cls, **(dict.fromkeys(("text",), text) if text else {}), **settings)

    def check(self) -> None:
        """Reject blank criteria."""
        if not all(text.strip() for text in (self.text, *self.others)):
            raise ConfigError(
                "criterion: say what the answer must do, such as Criterion('names the release')"
            )

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Ask in one call whether the answer meets the criteria."""
        judged = yield from ask_each(
            self.verify,
            [self.text, *self.others],
            about="criterion",
            labels=MET,
            source="answer",
            question=sample.question,
            answer=sample.answer,
        )
        counts = {"met": judged.supported, "criteria": len(judged)}
        return score(scoring.supported_share, judged, counts=counts, spelled="{met} of {criteria} met")
