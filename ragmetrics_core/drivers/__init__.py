"""Drivers: they answer the requests of metrics by asking models or from a record."""

from typing import TYPE_CHECKING

from ragmetrics_core.lazy import loaded_when_asked

if TYPE_CHECKING:
    from ragmetrics_core.drivers.asynchronous import Calls, Models, measure_sample
    from ragmetrics_core.drivers.auditing import Difference, audit
    from ragmetrics_core.drivers.derived import (
        by_vote,
        correct,
        recompute,
        rendered,
        rescore,
        self_contained,
        useless_replies,
    )
    from ragmetrics_core.drivers.plan import MetricEstimate, plan_sample
    from ragmetrics_core.drivers.traffic import wired

__all__ = [
    "Calls",
    "Difference",
    "MetricEstimate",
    "Models",
    "audit",
    "by_vote",
    "correct",
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
_MODULES = {
    "Calls": "asynchronous",
    "Difference": "auditing",
    "MetricEstimate": "plan",
    "Models": "asynchronous",
    "audit": "auditing",
    "by_vote": "derived",
    "correct": "derived",
    "measure_sample": "asynchronous",
    "plan_sample": "plan",
    "recompute": "derived",
    "rendered": "derived",
    "rescore": "derived",
    "self_contained": "derived",
    "useless_replies": "derived",
    "wired": "traffic",
}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
