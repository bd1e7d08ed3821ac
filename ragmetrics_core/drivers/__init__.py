"""Drivers: they answer the requests of metrics by asking models or from a record."""

from ragmetrics_core.drivers.asynchronous import Calls, Models, Tally, measure_sample
from ragmetrics_core.drivers.plan import Estimate, plan_sample
from ragmetrics_core.drivers.replay import (
    Difference,
    audit,
    by_vote,
    correct,
    recompute,
    rendered,
    rescore,
    self_contained,
)
from ragmetrics_core.drivers.traffic import Meter, Price, Spending, Traffic, wired

__all__ = [
    "Calls",
    "Difference",
    "Estimate",
    "Meter",
    "Models",
    "Price",
    "Spending",
    "Tally",
    "Traffic",
    "audit",
    "by_vote",
    "correct",
    "measure_sample",
    "plan_sample",
    "recompute",
    "rendered",
    "rescore",
    "self_contained",
    "wired",
]
