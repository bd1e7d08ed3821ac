"""RAG evaluation whose every score can be opened and proved."""

from typing import TYPE_CHECKING

from ragmetrics_core._lazy import loaded_when_asked

if TYPE_CHECKING:
    from ragmetrics_core.drivers import recompute, rescore
    from ragmetrics_core.errors import ConfigError, RagMetricsError
    from ragmetrics_core.live import LiveScorer
    from ragmetrics_core.metrics import Metric
    from ragmetrics_core.models import Budget, OpenAIEmbedder, OpenAIJudge, Traffic, as_judge
    from ragmetrics_core.protocol import Embedder, Judge, Scorer
    from ragmetrics_core.records import Record
    from ragmetrics_core.records._comparison import diff
    from ragmetrics_core.report._html import write_report
    from ragmetrics_core.runs import Run
    from ragmetrics_core.runs._evaluate import aevaluate, evaluate
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

# Loaded when they are asked for: the package itself costs nothing to import.
_MODULES = {
    "Budget": "models",
    "ConfigError": "errors",
    "Embedder": "protocol",
    "Judge": "protocol",
    "LiveScorer": "live",
    "Metric": "metrics",
    "OpenAIEmbedder": "models",
    "OpenAIJudge": "models",
    "RagMetricsError": "errors",
    "Record": "records",
    "Run": "runs",
    "Sample": "samples",
    "Scorer": "protocol",
    "ScriptedJudge": "testing",
    "Traffic": "models",
    "aevaluate": "runs._evaluate",
    "as_judge": "models",
    "diff": "records._comparison",
    "evaluate": "runs._evaluate",
    "recompute": "drivers",
    "rescore": "drivers",
    "write_report": "report._html",
}

__getattr__ = loaded_when_asked(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
