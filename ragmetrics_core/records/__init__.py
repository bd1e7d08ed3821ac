"""Records: the proof of one score, its stored form, and comparison of two records."""

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
from ragmetrics_core.records._record import COVERAGE, FAILED, SCHEMA, Record, Status
from ragmetrics_core.records.outgoing import SentScore, sent_score

__all__ = [
    "COVERAGE",
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
    "SentScore",
    "Status",
    "Step",
    "sent_score",
]
