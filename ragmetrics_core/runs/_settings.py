"""Settings of an evaluation, as objects, keywords, or both."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragmetrics_core.boundary.keywords import names_in, refuse_unknown
from ragmetrics_core.models import Budget, BudgetArgs, Traffic, TrafficArgs
from ragmetrics_core.runs.preparation import PREPARATION_DEFAULTS, PreparationArgs

__all__ = [
    "EVALUATION_DEFAULTS",
    "RUN_DEFAULTS",
    "EvaluationArgs",
    "RunArgs",
    "RunSettings",
    "merged_settings",
]


class EvaluationArgs(TrafficArgs, BudgetArgs, total=False):
    """Keywords of `evaluate` and `plan`: the settings of `Traffic` and `Budget`."""


class RunArgs(PreparationArgs, EvaluationArgs, total=False):
    """All arguments shared by `evaluate` and `plan`."""


EVALUATION_DEFAULTS: Mapping[str, Any] = {**Traffic().keywords, **Budget().keywords}
"""Defaults of these settings."""

RUN_DEFAULTS: Mapping[str, Any] = {**PREPARATION_DEFAULTS, **EVALUATION_DEFAULTS}
"""Defaults of all these arguments."""


class RunSettings(NamedTuple):
    """Traffic, budget and preparation of an evaluation."""

    traffic: Traffic
    budget: Budget
    made_of: PreparationArgs


def merged_settings(traffic: Traffic | None, budget: Budget | None, keywords: RunArgs) -> RunSettings:
    """Merge objects and keywords; a keyword overrides the object's setting.

    Raises:
        ConfigError: a setting is invalid.
        TypeError: there is no such keyword.
    """
    refuse_unknown(keywords, *RUN_DEFAULTS)
    given = dict(keywords)
    kinds = (TrafficArgs, BudgetArgs, PreparationArgs)
    how, limits, made_of = ({name: given[name] for name in names_in(kind) if name in given} for kind in kinds)
    traffic = (traffic or Traffic()).replacing(**how)  # type: ignore[arg-type]
    budget = (budget or Budget()).replacing(**limits)  # type: ignore[arg-type]
    return RunSettings(traffic, budget, made_of)  # type: ignore[arg-type]
