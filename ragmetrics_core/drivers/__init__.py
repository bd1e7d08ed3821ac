"""Drivers: they answer the requests of metrics by asking models or from a record."""

from typing import TYPE_CHECKING

from ragmetrics_core._lazy import loaded_when_asked

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
_MODULES = {
    "Calls": "_asynchronous",
    "Difference": "_auditing",
    "MetricEstimate": "_plan",
    "Models": "_asynchronous",
    "audit": "_auditing",
    "by_vote": "_derived",
    "correct": "_derived",
    "is_reproduced": "_auditing",
    "measure_sample": "_asynchronous",
    "plan_sample": "_plan",
    "recompute": "_derived",
    "rendered": "_derived",
    "rescore": "_derived",
    "self_contained": "_derived",
    "useless_replies": "_derived",
    "wired": "_traffic",
}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
