"""Runs: reading samples, evaluating them, and the folder that keeps the result."""

from typing import TYPE_CHECKING

from ragmetrics_core.package.lazy import loaded_when_asked

# These two now: each has a function of its own name, which must not be taken for the module later on.
from ragmetrics_core.runs._evaluate import OnError, aevaluate, evaluate
from ragmetrics_core.runs._plan import Plan, aplan, plan
from ragmetrics_core.runs.progress_bar import Progress

if TYPE_CHECKING:
    from ragmetrics_core.runs._diagnosis import Finding, diagnose
    from ragmetrics_core.runs._folder import Folder
    from ragmetrics_core.runs._listing import ListedRun, list_runs
    from ragmetrics_core.runs._loading import BadRow, Source, aread_samples, read_rows, read_samples
    from ragmetrics_core.runs._manifest import LiveCounts, Manifest, MetricEntry, manifest_in
    from ragmetrics_core.runs._merging import merge
    from ragmetrics_core.runs._run import Run
    from ragmetrics_core.runs._settings import EVALUATION_DEFAULTS, EvaluationArgs
    from ragmetrics_core.runs._stored_lines import Key
    from ragmetrics_core.runs._summary import Declines, Mean, Outcome
    from ragmetrics_core.runs._waves import Imported, Wave, export_wave, import_replies
    from ragmetrics_core.runs.preparation import Metrics, with_prompts
    from ragmetrics_core.runs.prices import read_prices

__all__ = [
    "EVALUATION_DEFAULTS",
    "BadRow",
    "Declines",
    "EvaluationArgs",
    "Finding",
    "Folder",
    "Imported",
    "Key",
    "ListedRun",
    "LiveCounts",
    "Manifest",
    "Mean",
    "MetricEntry",
    "Metrics",
    "OnError",
    "Outcome",
    "Plan",
    "Progress",
    "Run",
    "Source",
    "Wave",
    "aevaluate",
    "aplan",
    "aread_samples",
    "diagnose",
    "evaluate",
    "export_wave",
    "import_replies",
    "list_runs",
    "manifest_in",
    "merge",
    "plan",
    "read_prices",
    "read_rows",
    "read_samples",
    "with_prompts",
]

# Loaded when they are asked for: an evaluation needs no waves and no other runs.
_NAMES = {
    "_diagnosis": ("Finding", "diagnose"),
    "_folder": ("Folder",),
    "_listing": ("ListedRun", "list_runs"),
    "_loading": ("BadRow", "Source", "aread_samples", "read_rows", "read_samples"),
    "_manifest": ("LiveCounts", "Manifest", "MetricEntry", "manifest_in"),
    "_merging": ("merge",),
    "preparation": ("Metrics", "with_prompts"),
    "prices": ("read_prices",),
    "_run": ("Run",),
    "_settings": ("EVALUATION_DEFAULTS", "EvaluationArgs"),
    "_stored_lines": ("Key",),
    "_summary": ("Declines", "Mean", "Outcome"),
    "_waves": ("Imported", "Wave", "export_wave", "import_replies"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
