"""Rubric: which of the levels that the user describes does the answer reach?"""

from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement
from ragmetrics_core.metrics._steps.ratings import rated
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered

__all__ = ["Rubric"]


@dataclass(frozen=True, kw_only=True)
class Rubric(Metric[Answered]):
    """The level that fits the answer best, scaled from 0 (lowest level) to 1 (highest level).

    Range [0, 1], higher is better; never undefined. `Rubric(levels=("wrong", "partly right", "right"))`.

    Attributes:
        levels: description of each level, lowest first.
        rate: asks for the number of the level.
    """

    name = "rubric"
    inputs = Answered

    levels: tuple[str, ...] = (
        "The answer is about something else, or gives no answer.",
        "The answer addresses the question in part.",
        "The answer addresses the whole question.",
    )
    rate: Prompt[Rating] = prompts.RUBRIC

    def check(self) -> None:
        """Reject fewer than two levels, and blank levels."""
        if len(self.levels) < 2 or not all(level.strip() for level in self.levels):
            raise ConfigError(
                f"rubric: levels must be at least two texts that are not blank, not {self.levels}"
            )

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Ask for the level."""
        scale = Scale(1, len(self.levels))
        variables = {
            "question": sample.question,
            "answer": sample.answer,
            "count": len(self.levels),
            "items": tuple(Item(number, text) for number, text in enumerate(self.levels, start=1)),
        }
        return (yield from rated((self.rate, variables), scale=scale))
