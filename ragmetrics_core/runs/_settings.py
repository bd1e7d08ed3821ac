"""What an evaluation is made of, how it asks and what it may spend: as objects, as keywords, or as both."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragmetrics_core.keywords import names_in, refuse_unknown
from ragmetrics_core.models import Budget, BudgetArgs, Traffic, TrafficArgs
from ragmetrics_core.runs._preparation import PREPARATION_DEFAULTS, PreparationArgs

__all__ = ["EVALUATION_DEFAULTS", "RUN_DEFAULTS", "EvaluationArgs", "RunArgs", "RunSettings", "settled"]


class EvaluationArgs(TrafficArgs, BudgetArgs, total=False):
    """What `evaluate` and `plan` take as keywords: the settings of `Traffic` and of `Budget`."""


class RunArgs(PreparationArgs, EvaluationArgs, total=False):
    """All that `evaluate` and `plan` take alike."""


EVALUATION_DEFAULTS: Mapping[str, Any] = {**Traffic().keywords, **Budget().keywords}
"""What these settings are when they are not given."""

RUN_DEFAULTS: Mapping[str, Any] = {**PREPARATION_DEFAULTS, **EVALUATION_DEFAULTS}
"""What all of these arguments are when they are not given."""


class RunSettings(NamedTuple):
    """How the models of an evaluation are asked, what it may spend, and what it is made of."""

    traffic: Traffic
    budget: Budget
    made_of: PreparationArgs


def settled(traffic: Traffic | None, budget: Budget | None, keywords: RunArgs) -> RunSettings:
    """The settings of the objects; a keyword beside an object stands in place of what that says.

    Raises:
        ConfigError: a setting cannot be used.
        TypeError: there is no such keyword.
    """
    refuse_unknown(keywords, *RUN_DEFAULTS)
    given = dict(keywords)
    kinds = (TrafficArgs, BudgetArgs, PreparationArgs)
    how, limits, made_of = ({name: given[name] for name in names_in(kind) if name in given} for kind in kinds)
    return RunSettings((traffic or Traffic()).but(**how), (budget or Budget()).but(**limits), made_of)  # type: ignore[arg-type]
