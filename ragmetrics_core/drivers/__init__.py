"""Drivers: answer the requests of metrics from models or from a record."""

from typing import TYPE_CHECKING

from ragmetrics_core.package.lazy import loaded_when_asked

if TYPE_CHECKING:
    from ragmetrics_core.drivers._asynchronous import Calls, Models, measure_sample
    from ragmetrics_core.drivers._auditing import Difference, audit, is_reproduced
    from ragmetrics_core.drivers._derived import (
        by_vote,
        correct,
        recompute,
        rendered,
        rescore,
        self_contained,
        useless_replies,
    )
    from ragmetrics_core.drivers._plan import MetricEstimate, plan_sample
    from ragmetrics_core.drivers._traffic import wired

__all__ = [
    "Calls",
    "Difference",
    "MetricEstimate",
    "Models",
    "audit",
    "by_vote",
    "correct",
    "is_reproduced",
    "measure_sample",
    "plan_sample",
    "recompute",
    "rendered",
    "rescore",
    "self_contained",
    "useless_replies",
    "wired",
]

# Loaded when they are asked for: who replays a record needs no event loop, and an evaluation no plan.
_NAMES = {
    "_asynchronous": ("Calls", "Models", "measure_sample"),
    "_auditing": ("Difference", "audit", "is_reproduced"),
    "_derived": (
        "by_vote",
        "correct",
        "recompute",
        "rendered",
        "rescore",
        "self_contained",
        "useless_replies",
    ),
    "_plan": ("MetricEstimate", "plan_sample"),
    "_traffic": ("wired",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
