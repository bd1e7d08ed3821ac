"""Limits of means on the command line, and how a gate's verdict is told."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from rich.text import Text

from ragmetrics_core.cli._grouped import OUTPUT
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import RECOMMENDED, Metric, resolve
from ragmetrics_core.report._terminal import plain
from ragmetrics_core.study import GateVerdict, Limit, Scores, limit_of

__all__ = ["Maximum", "Minimum", "check_limits", "limits_of", "tell"]

Minimum = Annotated[
    list[str] | None,
    typer.Option(
        "--min",
        help="Exit with 1 if the mean is lower: faithfulness=0.8. Several times.",
        rich_help_panel=OUTPUT,
    ),
]
Maximum = Annotated[
    list[str] | None,
    typer.Option(
        "--max",
        help="Exit with 1 if the mean is higher: hallucination=0.1. Several times.",
        rich_help_panel=OUTPUT,
    ),
]


def limits_of(scores: Scores, minimum: Iterable[str] | None, maximum: Iterable[str] | None) -> list[Limit]:
    """The limits that a command line names.

    Raises:
        ConfigError: one is none, or the run has no such metric.
    """
    return [
        *(limit_of(text, scores, "min") for text in minimum or ()),
        *(limit_of(text, scores, "max") for text in maximum or ()),
    ]


def check_limits(
    metrics: Sequence[Metric[Any]] | None, minimum: Iterable[str] | None, maximum: Iterable[str] | None
) -> None:
    """Refuse limits that no run of these metrics can be held to, before anything is asked.

    Args:
        metrics: what is going to be measured; None for the recommended metrics, which the samples decide.
        minimum: limits that means must reach.
        maximum: limits that they must not exceed.

    Raises:
        ConfigError: as `limits_of`, or scipy is not installed, which the intervals need.
    """
    if not minimum and not maximum:
        return
    if find_spec("scipy") is None:
        raise ConfigError("--min and --max need the scipy package: pip install 'ragmetrics[study]'")
    measured = resolve(RECOMMENDED) if metrics is None else metrics
    planned = Scores(
        name="this evaluation",
        values={metric.signature: {} for metric in measured},
        ranges={metric.signature: (metric.low, metric.high) for metric in measured},
        exceeds=frozenset(metric.signature for metric in measured if metric.exceeds),
    )
    limits_of(planned, minimum, maximum)


def tell(gate: GateVerdict) -> None:
    """Say on standard error what failed, and of what it cannot be told."""
    for failure in gate.failures:
        remarks().print(Text.assemble(("failed: ", "bold red"), plain(failure)), soft_wrap=True)
    for unsure in gate.unsure:
        remarks().print(Text.assemble(("cannot tell: ", "bold yellow"), plain(unsure)), soft_wrap=True)
