"""Runs: reading samples, evaluating them, and the folder that keeps the result."""

from ragmetrics_core.runs.diagnosis import Finding, diagnose
from ragmetrics_core.runs.evaluate import Progress, aevaluate, evaluate
from ragmetrics_core.runs.folder import Folder, Key, Manifest, MetricEntry
from ragmetrics_core.runs.listing import Listed, list_runs
from ragmetrics_core.runs.loading import BadRow, aread_samples, read_samples
from ragmetrics_core.runs.merging import merge
from ragmetrics_core.runs.plan import Plan, aplan, plan
from ragmetrics_core.runs.prices import read_prices
from ragmetrics_core.runs.run import Run
from ragmetrics_core.runs.summary import Mean, Outcome
from ragmetrics_core.runs.waves import Imported, Wave, export_wave, import_replies

__all__ = [
    "BadRow",
    "Finding",
    "Folder",
    "Imported",
    "Key",
    "Listed",
    "Manifest",
    "Mean",
    "MetricEntry",
    "Outcome",
    "Plan",
    "Progress",
    "Run",
    "Wave",
    "aevaluate",
    "aplan",
    "aread_samples",
    "diagnose",
    "evaluate",
    "export_wave",
    "import_replies",
    "list_runs",
    "merge",
    "plan",
    "read_prices",
    "read_samples",
]
