"""All metrics of the catalogue, in listing order.

To add a metric, add a module to this folder and a line here.
"""

# isort: skip_file
from ragmetrics_core.metrics._faithfulness import Faithfulness as Faithfulness
from ragmetrics_core.metrics._answer_relevance import AnswerRelevance as AnswerRelevance
from ragmetrics_core.metrics._context_relevance import ContextRelevance as ContextRelevance
from ragmetrics_core.metrics._answer_similarity import AnswerSimilarity as AnswerSimilarity
from ragmetrics_core.metrics._factual_correctness import FactualCorrectness as FactualCorrectness
from ragmetrics_core.metrics._answer_correctness import AnswerCorrectness as AnswerCorrectness
from ragmetrics_core.metrics._context_precision import ContextPrecision as ContextPrecision
from ragmetrics_core.metrics._context_recall import ContextRecall as ContextRecall
from ragmetrics_core.metrics._context_entity_recall import ContextEntityRecall as ContextEntityRecall
from ragmetrics_core.metrics._ragas_score import RagasScore as RagasScore
from ragmetrics_core.metrics._context_relevance_rating import ContextRelevanceRating as ContextRelevanceRating
from ragmetrics_core.metrics._relevance_grade import RelevanceGrade as RelevanceGrade
from ragmetrics_core.metrics._groundedness_rating import GroundednessRating as GroundednessRating
from ragmetrics_core.metrics._answer_relevance_rating import AnswerRelevanceRating as AnswerRelevanceRating
from ragmetrics_core.metrics._answer_accuracy import AnswerAccuracy as AnswerAccuracy
from ragmetrics_core.metrics._rubric import Rubric as Rubric
from ragmetrics_core.metrics._criterion import Criterion as Criterion
from ragmetrics_core.metrics._claim_recall import ClaimRecall as ClaimRecall
from ragmetrics_core.metrics._nugget_recall import NuggetRecall as NuggetRecall
from ragmetrics_core.metrics._useful_chunks import UsefulChunks as UsefulChunks
from ragmetrics_core.metrics._context_utilization import ContextUtilization as ContextUtilization
from ragmetrics_core.metrics._noise_sensitivity import NoiseSensitivity as NoiseSensitivity
from ragmetrics_core.metrics._hallucination import Hallucination as Hallucination
from ragmetrics_core.metrics._self_knowledge import SelfKnowledge as SelfKnowledge
from ragmetrics_core.metrics._chunk_faithfulness import ChunkFaithfulness as ChunkFaithfulness
from ragmetrics_core.metrics._citation_support import CitationSupport as CitationSupport
from ragmetrics_core.metrics._citation_precision import CitationPrecision as CitationPrecision
from ragmetrics_core.metrics._citation_recall import CitationRecall as CitationRecall
from ragmetrics_core.metrics._abstention import Abstention as Abstention
from ragmetrics_core.metrics._sufficiency import Sufficiency as Sufficiency
from ragmetrics_core.metrics._retrieval_precision import RetrievalPrecision as RetrievalPrecision
from ragmetrics_core.metrics._retrieval_recall import RetrievalRecall as RetrievalRecall
from ragmetrics_core.metrics._hit_rate import HitRate as HitRate
from ragmetrics_core.metrics._average_precision import AveragePrecision as AveragePrecision
from ragmetrics_core.metrics._reciprocal_rank import ReciprocalRank as ReciprocalRank
from ragmetrics_core.metrics._ndcg import Ndcg as Ndcg
from ragmetrics_core.metrics._exact_match import ExactMatch as ExactMatch
from ragmetrics_core.metrics._token_f1 import TokenF1 as TokenF1
from ragmetrics_core.metrics._bleu import Bleu as Bleu
from ragmetrics_core.metrics._chrf import Chrf as Chrf
from ragmetrics_core.metrics._rouge import Rouge as Rouge
from ragmetrics_core.metrics._meteor import Meteor as Meteor
from ragmetrics_core.metrics._bert_score import BertScore as BertScore
from ragmetrics_core.metrics._answer_equivalence import AnswerEquivalence as AnswerEquivalence
from ragmetrics_core.metrics._semantic_answer_similarity import (
    SemanticAnswerSimilarity as SemanticAnswerSimilarity,
)
from ragmetrics_core.metrics._question_writing import QuestionWriting as QuestionWriting
from ragmetrics_core.metrics._question_quality import QuestionQuality as QuestionQuality
from ragmetrics_core.metrics._closed_book_accuracy import ClosedBookAccuracy as ClosedBookAccuracy
