"""A rubric of the user's own: which of several described levels does the answer reach?"""

from dataclasses import dataclass

from ragmetrics_core import prompts
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement
from ragmetrics_core.metrics._metric import Metric
from ragmetrics_core.metrics._steps.ratings import rated
from ragmetrics_core.parsers import Rating, Scale
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered

__all__ = ["Rubric"]


@dataclass(frozen=True, kw_only=True)
class Rubric(Metric[Answered]):
    """The level that describes the answer best, as a share of the way from the lowest to the highest level.

    Range [0, 1], higher is better; never undefined. `Rubric(levels=("wrong", "partly right", "right"))`.

    Attributes:
        levels: what an answer of each level is like, the lowest first.
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
        """There must be two levels or more, all described."""
        if len(self.levels) < 2 or not all(level.strip() for level in self.levels):
            raise ConfigError(
                f"rubric: levels must be two texts or more, none of them blank, not {self.levels}"
            )

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Have the level chosen."""
        scale = Scale(1, len(self.levels))
        variables = {
            "question": sample.question,
            "answer": sample.answer,
            "count": len(self.levels),
            "items": tuple(Item(number, text) for number, text in enumerate(self.levels, start=1)),
        }
        return (yield from rated((self.rate, variables), scale=scale))
