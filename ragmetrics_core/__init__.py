"""RAG evaluation whose every score can be opened and proved."""

from ragmetrics_core.comparison import diff
from ragmetrics_core.drivers import recompute, rescore
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import as_judge
from ragmetrics_core.protocol import Embedder, Judge
from ragmetrics_core.record import Record
from ragmetrics_core.runs import Run, aevaluate, evaluate
from ragmetrics_core.sample import Sample
from ragmetrics_core.score import Score

__all__ = [
    "Embedder",
    "Judge",
    "Metric",
    "Record",
    "Run",
    "Sample",
    "Score",
    "aevaluate",
    "as_judge",
    "diff",
    "evaluate",
    "recompute",
    "rescore",
]
