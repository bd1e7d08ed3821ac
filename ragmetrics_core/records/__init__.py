"""Records: the proof of one score, the form in which it is stored, and what differs between two of them."""

from ragmetrics_core.records._parts import (
    Abstained,
    CompareStep,
    Correction,
    CountStep,
    GenerateStep,
    PartResult,
    RateStep,
    Step,
)
from ragmetrics_core.records._record import FAILED, SCHEMA, Record, Status

__all__ = [
    "FAILED",
    "SCHEMA",
    "Abstained",
    "CompareStep",
    "Correction",
    "CountStep",
    "GenerateStep",
    "PartResult",
    "RateStep",
    "Record",
    "Status",
    "Step",
]
