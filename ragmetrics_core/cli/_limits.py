"""Limits of means on the command line, and how a gate's verdict is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from rich.text import Text

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, resolve
from ragmetrics_core.report._terminal import plain
from ragmetrics_core.study import GateVerdict, Limit, Scores, limit_of

__all__ = ["Limits", "tell"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the means of a run are held to.

    Attributes:
        min_: Exit with 1 if the mean is lower: faithfulness=0.8. Several times.
        max_: Exit with 1 if the mean is higher: hallucination=0.1, or declined=0.1, the share of answers that
            decline. Several times.
    """

    min_: list[str] | None = None
    max_: list[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.min_ or self.max_)

    def of(self, scores: Scores) -> list[Limit]:
        """The limits for these scores.

        Raises:
            ConfigError: one is none, or the run has no such metric.
        """
        lowest = [limit_of(text, scores, "min") for text in self.min_ or ()]
        return [*lowest, *(limit_of(text, scores, "max") for text in self.max_ or ())]

    def check(self, metrics: Sequence[Metric[Any]] | None) -> None:
        """Refuse limits that no run of these metrics can be held to, before anything is asked.

        Args:
            metrics: what is going to be measured; None for the recommended metrics, which the samples decide.

        Raises:
            ConfigError: as `of`, or scipy is not installed, which the intervals need.
        """
        if self and find_spec("scipy") is None:
            raise ConfigError("--min and --max need the scipy package: pip install 'ragmetrics[study]'")
        measured = resolve(RECOMMENDED) if metrics is None else metrics
        values: dict[str, dict[str, float]] = {metric.signature: {} for metric in measured}
        ranges = {metric.signature: (metric.low, metric.high) for metric in measured}
        exceeds = frozenset(metric.signature for metric in measured if metric.exceeds)
        self.of(Scores(name="this evaluation", values=values, ranges=ranges, exceeds=exceeds))


def tell(gate: GateVerdict) -> None:
    """Say on standard error what failed, and of what it cannot be told."""
    for failure in gate.failures:
        remarks().print(Text.assemble(("failed: ", "bold red"), plain(failure)), soft_wrap=True)
    for unsure in gate.unsure:
        remarks().print(Text.assemble(("cannot tell: ", "bold yellow"), plain(unsure)), soft_wrap=True)
