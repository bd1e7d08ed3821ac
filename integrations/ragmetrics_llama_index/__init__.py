"""ragmetrics in LlamaIndex: drop-in evaluators, retrieval metrics, and live scores."""

from ragmetrics_llama_index._captured import RootSpan
from ragmetrics_llama_index._datasets import read_labelled_dataset, write_labelled_dataset
from ragmetrics_llama_index._evaluator import RagMetricsEvaluator
from ragmetrics_llama_index._evaluators import (
    AnswerRelevancyEvaluator,
    ContextEntityRecallEvaluator,
    ContextPrecisionEvaluator,
    ContextRecallEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    FactualCorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    QueryResponseEvaluator,
    RelevancyEvaluator,
    ResponseEvaluator,
    SemanticSimilarityEvaluator,
)
from ragmetrics_llama_index._instrumentation import Instrumentation, instrument
from ragmetrics_llama_index._models import LlamaIndexEmbedder, LlamaIndexJudge
from ragmetrics_llama_index._results import EvaluationFailed, TracedEvaluationResult
from ragmetrics_llama_index._retrieval import (
    MRR,
    NDCG,
    AveragePrecision,
    ContextPrecision,
    ContextRecall,
    HitRate,
    Precision,
    Recall,
    register_retrieval_metrics,
)

__all__ = [
    "MRR",
    "NDCG",
    "AnswerRelevancyEvaluator",
    "AveragePrecision",
    "ContextEntityRecallEvaluator",
    "ContextPrecision",
    "ContextPrecisionEvaluator",
    "ContextRecall",
    "ContextRecallEvaluator",
    "ContextRelevancyEvaluator",
    "CorrectnessEvaluator",
    "EvaluationFailed",
    "FactualCorrectnessEvaluator",
    "FaithfulnessEvaluator",
    "GuidelineEvaluator",
    "HitRate",
    "Instrumentation",
    "LlamaIndexEmbedder",
    "LlamaIndexJudge",
    "Precision",
    "QueryResponseEvaluator",
    "RagMetricsEvaluator",
    "Recall",
    "RelevancyEvaluator",
    "ResponseEvaluator",
    "RootSpan",
    "SemanticSimilarityEvaluator",
    "TracedEvaluationResult",
    "instrument",
    "read_labelled_dataset",
    "register_retrieval_metrics",
    "write_labelled_dataset",
]
