"""Drivers: they answer the requests of metrics by asking models or from a record."""

from ragmetrics_core.drivers.asynchronous import Calls, Models, Tally, measure_sample
from ragmetrics_core.drivers.replay import (
    Difference,
    audit,
    correct,
    recompute,
    rendered,
    rescore,
    self_contained,
)

__all__ = [
    "Calls",
    "Difference",
    "Models",
    "Tally",
    "audit",
    "correct",
    "measure_sample",
    "recompute",
    "rendered",
    "rescore",
    "self_contained",
]
