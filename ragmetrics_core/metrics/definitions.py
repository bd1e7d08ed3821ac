"""Every metric of the catalogue, a line each, in the order in which they are listed.

A new metric is a module beside this one, and its line here.
"""

# isort: skip_file
from ragmetrics_core.metrics.faithfulness import Faithfulness as Faithfulness
from ragmetrics_core.metrics.answer_relevance import AnswerRelevance as AnswerRelevance
from ragmetrics_core.metrics.context_relevance import ContextRelevance as ContextRelevance
from ragmetrics_core.metrics.answer_similarity import AnswerSimilarity as AnswerSimilarity
from ragmetrics_core.metrics.factual_correctness import FactualCorrectness as FactualCorrectness
from ragmetrics_core.metrics.answer_correctness import AnswerCorrectness as AnswerCorrectness
from ragmetrics_core.metrics.context_precision import ContextPrecision as ContextPrecision
from ragmetrics_core.metrics.context_recall import ContextRecall as ContextRecall
from ragmetrics_core.metrics.context_entity_recall import ContextEntityRecall as ContextEntityRecall
from ragmetrics_core.metrics.ragas_score import RagasScore as RagasScore
from ragmetrics_core.metrics.context_relevance_rating import ContextRelevanceRating as ContextRelevanceRating
from ragmetrics_core.metrics.groundedness_rating import GroundednessRating as GroundednessRating
from ragmetrics_core.metrics.answer_relevance_rating import AnswerRelevanceRating as AnswerRelevanceRating
from ragmetrics_core.metrics.answer_accuracy import AnswerAccuracy as AnswerAccuracy
from ragmetrics_core.metrics.rubric import Rubric as Rubric
from ragmetrics_core.metrics.criterion import Criterion as Criterion
from ragmetrics_core.metrics.claim_recall import ClaimRecall as ClaimRecall
from ragmetrics_core.metrics.useful_chunks import UsefulChunks as UsefulChunks
from ragmetrics_core.metrics.context_utilization import ContextUtilization as ContextUtilization
from ragmetrics_core.metrics.noise_sensitivity import NoiseSensitivity as NoiseSensitivity
from ragmetrics_core.metrics.hallucination import Hallucination as Hallucination
from ragmetrics_core.metrics.self_knowledge import SelfKnowledge as SelfKnowledge
from ragmetrics_core.metrics.chunk_faithfulness import ChunkFaithfulness as ChunkFaithfulness
from ragmetrics_core.metrics.citation_support import CitationSupport as CitationSupport
from ragmetrics_core.metrics.abstention import Abstention as Abstention
from ragmetrics_core.metrics.retrieval_precision import RetrievalPrecision as RetrievalPrecision
from ragmetrics_core.metrics.retrieval_recall import RetrievalRecall as RetrievalRecall
from ragmetrics_core.metrics.hit_rate import HitRate as HitRate
from ragmetrics_core.metrics.average_precision import AveragePrecision as AveragePrecision
from ragmetrics_core.metrics.reciprocal_rank import ReciprocalRank as ReciprocalRank
from ragmetrics_core.metrics.ndcg import Ndcg as Ndcg
from ragmetrics_core.metrics.exact_match import ExactMatch as ExactMatch
from ragmetrics_core.metrics.token_f1 import TokenF1 as TokenF1
from ragmetrics_core.metrics.bleu import Bleu as Bleu
from ragmetrics_core.metrics.chrf import Chrf as Chrf
from ragmetrics_core.metrics.rouge import Rouge as Rouge
from ragmetrics_core.metrics.meteor import Meteor as Meteor
from ragmetrics_core.metrics.bert_score import BertScore as BertScore
from ragmetrics_core.metrics.answer_equivalence import AnswerEquivalence as AnswerEquivalence
from ragmetrics_core.metrics.semantic_answer_similarity import (
    SemanticAnswerSimilarity as SemanticAnswerSimilarity,
)
