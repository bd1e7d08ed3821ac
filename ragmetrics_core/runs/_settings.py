"""How an evaluation asks and what it may spend: as objects, as keywords, or as both."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragmetrics_core.keywords import names_in, refuse_unknown
from ragmetrics_core.models import Budget, BudgetArgs, Traffic, TrafficArgs

__all__ = ["EVALUATION_DEFAULTS", "EvaluationArgs", "Outlay", "settled"]


class EvaluationArgs(TrafficArgs, BudgetArgs, total=False):
    """What `evaluate` and `plan` take as keywords: the settings of `Traffic` and of `Budget`."""


EVALUATION_DEFAULTS: Mapping[str, Any] = {**Traffic().keywords, **Budget().keywords}
"""What these settings are when they are not given."""


class Outlay(NamedTuple):
    """How the models of an evaluation are asked, and what it may spend."""

    traffic: Traffic
    budget: Budget


def settled(traffic: Traffic | None, budget: Budget | None, keywords: EvaluationArgs) -> Outlay:
    """The settings of the objects; a keyword beside an object stands in place of what that says.

    Raises:
        ConfigError: a setting cannot be used.
        TypeError: there is no such keyword.
    """
    of_traffic, of_budget = names_in(TrafficArgs), names_in(BudgetArgs)
    refuse_unknown(keywords, *of_traffic, *of_budget)
    given = dict(keywords)
    how: TrafficArgs = {name: given[name] for name in of_traffic if name in given}  # type: ignore[assignment]
    limits: BudgetArgs = {name: given[name] for name in of_budget if name in given}  # type: ignore[assignment]
    return Outlay((traffic or Traffic()).but(**how), (budget or Budget()).but(**limits))
