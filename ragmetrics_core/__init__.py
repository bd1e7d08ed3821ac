"""RAG evaluation in which you can open and check every score."""

from typing import TYPE_CHECKING

from ragmetrics_core.package.lazy import NOTEBOOK_PAGES, loaded_when_asked, loaded_when_called
from ragmetrics_core.package.version import VERSION

if TYPE_CHECKING:
    from ragmetrics_core.drivers import recompute, rescore
    from ragmetrics_core.errors import ConfigError, RagMetricsError
    from ragmetrics_core.live import LiveScorer
    from ragmetrics_core.metrics import Metric
    from ragmetrics_core.models import Budget, OpenAIEmbedder, OpenAIJudge, Traffic, as_judge
    from ragmetrics_core.protocol import Embedder, Judge, Scorer
    from ragmetrics_core.records import Record
    from ragmetrics_core.records.comparison import diff
    from ragmetrics_core.report.html import write_report
    from ragmetrics_core.runs import Run, aevaluate, evaluate
    from ragmetrics_core.samples import Sample
    from ragmetrics_core.testing import ScriptedJudge

__all__ = [
    "Budget",
    "ConfigError",
    "Embedder",
    "Judge",
    "LiveScorer",
    "Metric",
    "OpenAIEmbedder",
    "OpenAIJudge",
    "RagMetricsError",
    "Record",
    "Run",
    "Sample",
    "Scorer",
    "ScriptedJudge",
    "Traffic",
    "aevaluate",
    "as_judge",
    "diff",
    "evaluate",
    "recompute",
    "rescore",
    "write_report",
]

__version__ = VERSION

# Loaded when they are asked for: the package itself costs nothing to import.
_NAMES = {
    "drivers": ("recompute", "rescore"),
    "errors": ("ConfigError", "RagMetricsError"),
    "live": ("LiveScorer",),
    "metrics": ("Metric",),
    "models": ("Budget", "OpenAIEmbedder", "OpenAIJudge", "Traffic", "as_judge"),
    "protocol": ("Embedder", "Judge", "Scorer"),
    "records": ("Record",),
    "records.comparison": ("diff",),
    "report.html": ("write_report",),
    "runs": ("Run", "aevaluate", "evaluate"),
    "samples": ("Sample",),
    "testing": ("ScriptedJudge",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__getattr__ = loaded_when_asked(__name__, _MODULES)

NOTEBOOK_PAGES["record"] = loaded_when_called("ragmetrics_core.report.html", "notebook_proof")
NOTEBOOK_PAGES["run"] = loaded_when_called("ragmetrics_core.report.html", "notebook_table")
NOTEBOOK_PAGES["study"] = loaded_when_called("ragmetrics_core.report.html", "notebook_study")


__dir__ = __all__.copy
