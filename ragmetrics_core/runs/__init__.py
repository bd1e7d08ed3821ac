"""Runs: reading samples, evaluating them, and the folder that keeps the result."""

from typing import TYPE_CHECKING

from ragmetrics_core.lazy import loaded_when_asked

# These two now: each has a function of its own name, which must not be taken for the module later on.
from ragmetrics_core.runs.evaluate import OnError, Progress, aevaluate, evaluate
from ragmetrics_core.runs.plan import Plan, aplan, plan

if TYPE_CHECKING:
    from ragmetrics_core.runs.diagnosis import Finding, diagnose
    from ragmetrics_core.runs.folder import Folder, Key
    from ragmetrics_core.runs.listing import ListedRun, list_runs
    from ragmetrics_core.runs.loading import BadRow, aread_samples, read_samples
    from ragmetrics_core.runs.manifest import Manifest, MetricEntry
    from ragmetrics_core.runs.merging import merge
    from ragmetrics_core.runs.preparation import with_prompts
    from ragmetrics_core.runs.prices import read_prices
    from ragmetrics_core.runs.run import Run
    from ragmetrics_core.runs.settings import EvaluationArgs
    from ragmetrics_core.runs.summary import Mean, Outcome
    from ragmetrics_core.runs.waves import Imported, Wave, export_wave, import_replies

__all__ = [
    "BadRow",
    "EvaluationArgs",
    "Finding",
    "Folder",
    "Imported",
    "Key",
    "ListedRun",
    "Manifest",
    "Mean",
    "MetricEntry",
    "OnError",
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
    "with_prompts",
]

# Loaded when they are asked for: an evaluation needs no waves and no other runs.
_MODULES = {
    "BadRow": "loading",
    "EvaluationArgs": "settings",
    "Finding": "diagnosis",
    "Folder": "folder",
    "Imported": "waves",
    "Key": "folder",
    "ListedRun": "listing",
    "Manifest": "manifest",
    "Mean": "summary",
    "MetricEntry": "manifest",
    "Outcome": "summary",
    "Run": "run",
    "Wave": "waves",
    "aread_samples": "loading",
    "diagnose": "diagnosis",
    "export_wave": "waves",
    "import_replies": "waves",
    "list_runs": "listing",
    "merge": "merging",
    "read_prices": "prices",
    "read_samples": "loading",
    "with_prompts": "preparation",
}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
