"""Runs: reading samples, evaluating them, and the folder that keeps the result."""

from ragmetrics_core.runs.diagnosis import Finding, diagnose
from ragmetrics_core.runs.evaluate import Progress, aevaluate, evaluate
from ragmetrics_core.runs.folder import Folder, Manifest, MetricEntry
from ragmetrics_core.runs.loading import BadRow, aread_samples, read_samples
from ragmetrics_core.runs.run import Run
from ragmetrics_core.runs.summary import Mean

__all__ = [
    "BadRow",
    "Finding",
    "Folder",
    "Manifest",
    "Mean",
    "MetricEntry",
    "Progress",
    "Run",
    "aevaluate",
    "aread_samples",
    "diagnose",
    "evaluate",
    "read_samples",
]
