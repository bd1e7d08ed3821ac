"""The metrics: one module each, and the catalogue that knows them by name."""

from ragmetrics_core.metrics.answer_correctness import AnswerCorrectness
from ragmetrics_core.metrics.answer_relevance import AnswerRelevance
from ragmetrics_core.metrics.answer_similarity import AnswerSimilarity
from ragmetrics_core.metrics.catalogue import ALIASES, METRICS, RECOMMENDED, get, resolve
from ragmetrics_core.metrics.context_entity_recall import ContextEntityRecall
from ragmetrics_core.metrics.context_precision import ContextPrecision
from ragmetrics_core.metrics.context_recall import ContextRecall
from ragmetrics_core.metrics.context_relevance import ContextRelevance
from ragmetrics_core.metrics.factual_correctness import FactualCorrectness
from ragmetrics_core.metrics.faithfulness import Faithfulness
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.ragas_score import RagasScore
from ragmetrics_core.protocol import Part

__all__ = [
    "ALIASES",
    "METRICS",
    "RECOMMENDED",
    "AnswerCorrectness",
    "AnswerRelevance",
    "AnswerSimilarity",
    "ContextEntityRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "FactualCorrectness",
    "Faithfulness",
    "Metric",
    "Part",
    "RagasScore",
    "get",
    "resolve",
]
