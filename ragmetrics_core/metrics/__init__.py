"""The metrics: one module each, and the catalogue that knows them by name."""

from ragmetrics_core.metrics.abstention import Abstention
from ragmetrics_core.metrics.answer_accuracy import AnswerAccuracy
from ragmetrics_core.metrics.answer_correctness import AnswerCorrectness
from ragmetrics_core.metrics.answer_equivalence import AnswerEquivalence
from ragmetrics_core.metrics.answer_relevance import AnswerRelevance
from ragmetrics_core.metrics.answer_relevance_rating import AnswerRelevanceRating
from ragmetrics_core.metrics.answer_similarity import AnswerSimilarity
from ragmetrics_core.metrics.average_precision import AveragePrecision
from ragmetrics_core.metrics.bert_score import BertScore
from ragmetrics_core.metrics.bleu import Bleu
from ragmetrics_core.metrics.catalogue import (
    ALIASES,
    METRICS,
    RECOMMENDED,
    get,
    models_needed,
    names_of,
    of_part,
    resolve,
)
from ragmetrics_core.metrics.chrf import Chrf
from ragmetrics_core.metrics.chunk_faithfulness import ChunkFaithfulness
from ragmetrics_core.metrics.citation_support import CitationSupport
from ragmetrics_core.metrics.claim_recall import ClaimRecall
from ragmetrics_core.metrics.context_entity_recall import ContextEntityRecall
from ragmetrics_core.metrics.context_precision import ContextPrecision
from ragmetrics_core.metrics.context_recall import ContextRecall
from ragmetrics_core.metrics.context_relevance import ContextRelevance
from ragmetrics_core.metrics.context_relevance_rating import ContextRelevanceRating
from ragmetrics_core.metrics.context_utilization import ContextUtilization
from ragmetrics_core.metrics.criterion import Criterion
from ragmetrics_core.metrics.exact_match import ExactMatch
from ragmetrics_core.metrics.factual_correctness import FactualCorrectness
from ragmetrics_core.metrics.faithfulness import Faithfulness
from ragmetrics_core.metrics.groundedness_rating import GroundednessRating
from ragmetrics_core.metrics.hallucination import Hallucination
from ragmetrics_core.metrics.hit_rate import HitRate
from ragmetrics_core.metrics.meteor import Meteor
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.metrics.ndcg import Ndcg
from ragmetrics_core.metrics.noise_sensitivity import NoiseSensitivity
from ragmetrics_core.metrics.ragas_score import RagasScore
from ragmetrics_core.metrics.reciprocal_rank import ReciprocalRank
from ragmetrics_core.metrics.retrieval_precision import RetrievalPrecision
from ragmetrics_core.metrics.retrieval_recall import RetrievalRecall
from ragmetrics_core.metrics.rouge import Rouge
from ragmetrics_core.metrics.rubric import Rubric
from ragmetrics_core.metrics.self_knowledge import SelfKnowledge
from ragmetrics_core.metrics.semantic_answer_similarity import SemanticAnswerSimilarity
from ragmetrics_core.metrics.token_f1 import TokenF1
from ragmetrics_core.metrics.useful_chunks import UsefulChunks
from ragmetrics_core.protocol import Part

__all__ = [
    "ALIASES",
    "METRICS",
    "RECOMMENDED",
    "Abstention",
    "AnswerAccuracy",
    "AnswerCorrectness",
    "AnswerEquivalence",
    "AnswerRelevance",
    "AnswerRelevanceRating",
    "AnswerSimilarity",
    "AveragePrecision",
    "BertScore",
    "Bleu",
    "Chrf",
    "ChunkFaithfulness",
    "CitationSupport",
    "ClaimRecall",
    "ContextEntityRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "ContextRelevanceRating",
    "ContextUtilization",
    "Criterion",
    "ExactMatch",
    "FactualCorrectness",
    "Faithfulness",
    "GroundednessRating",
    "Hallucination",
    "HitRate",
    "Meteor",
    "Metric",
    "Ndcg",
    "NoiseSensitivity",
    "Part",
    "RagasScore",
    "ReciprocalRank",
    "RetrievalPrecision",
    "RetrievalRecall",
    "Rouge",
    "Rubric",
    "SelfKnowledge",
    "SemanticAnswerSimilarity",
    "TokenF1",
    "UsefulChunks",
    "get",
    "models_needed",
    "names_of",
    "of_part",
    "resolve",
]
