"""Limits on means from the command line, and the output of a gate's verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from rich.text import Text

from ragmetrics_core.asking import is_three_way
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, resolve
from ragmetrics_core.report.terminal import plain
from ragmetrics_core.study import GateVerdict, Limit, Scores, limit_of

__all__ = ["Limits", "check_three_way", "tell"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the means of a run.

    Attributes:
        min_: Exit with 1 if a metric's mean is lower: faithfulness=0.8; or, with faithfulness=0.8@p90, if the
            90 % interval of its expected mean, by the verdicts' probabilities, begins lower. Can be repeated.
        max_: Exit with 1 if a metric's mean is higher: hallucination=0.1; declined=0.1 limits the share of
            answers that decline. Can be repeated.
    """

    min_: list[str] | None = None
    max_: list[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.min_ or self.max_)

    def of(self, scores: Scores) -> list[Limit]:
        """The limits for these scores.

        Raises:
            ConfigError: a limit is malformed, or the run has no such metric.
        """
        lowest = [limit_of(text, scores, "min") for text in self.min_ or ()]
        return [*lowest, *(limit_of(text, scores, "max") for text in self.max_ or ())]

    def check(self, metrics: Sequence[Metric[Any]] | None) -> None:
        """Refuse limits that do not fit these metrics, before the first call.

        Args:
            metrics: metrics to measure; None for the recommended metrics.

        Raises:
            ConfigError: as `of`, or scipy, which the intervals need, is not installed.
        """
        if self and find_spec("scipy") is None:
            raise ConfigError("--min and --max need the scipy package: pip install 'ragmetrics-core[study]'")
        measured = resolve(RECOMMENDED) if metrics is None else metrics
        values: dict[str, dict[str, float]] = {metric.signature: {} for metric in measured}
        ranges = {metric.signature: (metric.low, metric.high) for metric in measured}
        exceeds = frozenset(metric.signature for metric in measured if metric.exceeds)
        self.of(Scores(name="this evaluation", values=values, ranges=ranges, exceeds=exceeds))


def check_three_way(metrics: Sequence[Metric[Any]] | None) -> None:
    """Refuse the condition "contradicted" for metrics without verdicts in three ways, before the first call.

    Raises:
        ConfigError: no metric has them.
    """
    measured = resolve(RECOMMENDED) if metrics is None else metrics
    asked = [prompt for metric in measured for prompt in metric.prompts_asked.values()]
    if not any(is_three_way(prompt) for prompt in asked):
        raise ConfigError(
            "--fail-if contradicted needs verdicts in three ways: measure faithfulness/strict.2, "
            "hallucination/strict.2 or context_recall/strict.2"
        )


def tell(gate: GateVerdict) -> None:
    """Print the failed and the undecided limits, and the notes, to standard error."""
    for failure in gate.failures:
        remarks().print(Text.assemble(("failed: ", "bold red"), plain(failure)), soft_wrap=True)
    for unsure in gate.unsure:
        remarks().print(Text.assemble(("cannot tell: ", "bold yellow"), plain(unsure)), soft_wrap=True)
    for note in gate.notes:
        remarks().print(Text.assemble(("note: ", "dim"), plain(note)), soft_wrap=True)
