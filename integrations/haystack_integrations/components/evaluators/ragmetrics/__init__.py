"""RAG evaluation for Haystack with scores that can be opened and recomputed from their records."""

from haystack_integrations.components.evaluators.ragmetrics.agent_hook import RagMetricsAgentHook
from haystack_integrations.components.evaluators.ragmetrics.connector import RagMetricsConnector
from haystack_integrations.components.evaluators.ragmetrics.embedder import HaystackEmbedder
from haystack_integrations.components.evaluators.ragmetrics.evaluator import RagMetricsEvaluator
from haystack_integrations.components.evaluators.ragmetrics.failures import EvaluationFailed, InputError
from haystack_integrations.components.evaluators.ragmetrics.judge import HaystackJudge
from haystack_integrations.components.evaluators.ragmetrics.live_evaluator import RagMetricsLiveEvaluator
from haystack_integrations.components.evaluators.ragmetrics.metric_evaluators import (
    AnswerCorrectnessEvaluator,
    AnswerRelevanceEvaluator,
    AnswerSimilarityEvaluator,
    ContextEntityRecallEvaluator,
    ContextPrecisionEvaluator,
    ContextRecallEvaluator,
    ContextRelevanceEvaluator,
    FactualCorrectnessEvaluator,
    FaithfulnessEvaluator,
    RagasScoreEvaluator,
)
from haystack_integrations.components.evaluators.ragmetrics.tracer import RagMetricsTracer

__all__ = [
    "AnswerCorrectnessEvaluator",
    "AnswerRelevanceEvaluator",
    "AnswerSimilarityEvaluator",
    "ContextEntityRecallEvaluator",
    "ContextPrecisionEvaluator",
    "ContextRecallEvaluator",
    "ContextRelevanceEvaluator",
    "EvaluationFailed",
    "FactualCorrectnessEvaluator",
    "FaithfulnessEvaluator",
    "HaystackEmbedder",
    "HaystackJudge",
    "InputError",
    "RagMetricsAgentHook",
    "RagMetricsConnector",
    "RagMetricsEvaluator",
    "RagMetricsLiveEvaluator",
    "RagMetricsTracer",
    "RagasScoreEvaluator",
]
