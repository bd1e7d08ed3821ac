"""Test sets: questions on a corpus, with gold answers, the quotes that prove them, and their checks."""

from ragmetrics_core.questions._bm25 import BM25
from ragmetrics_core.questions._checking import acheck_questions, check_questions
from ragmetrics_core.questions._checks import METRICS, Stage
from ragmetrics_core.questions._documents import Corpus, CorpusSource, Skipped, read_corpus
from ragmetrics_core.questions._filters import CODES, Reason
from ragmetrics_core.questions._foreign_sets import ForeignSet, read_questions
from ragmetrics_core.questions._generating import (
    GENERATION_DEFAULTS,
    GenerationArgs,
    QuestionPlan,
    agenerate_questions,
    aplan_questions,
    generate_questions,
    plan_questions,
)
from ragmetrics_core.questions._model import (
    KINDS,
    LENGTHS,
    STYLES,
    Document,
    Passage,
    Persona,
    Question,
    Quote,
)
from ragmetrics_core.questions._pairs import PassagePair, rare_pairs
from ragmetrics_core.questions._quotes import (
    Located,
    chunks_with,
    find_quote,
    find_quotes,
    located,
    uncovered,
)
from ragmetrics_core.questions._set_files import CellCount, SetSummary
from ragmetrics_core.questions._settings import CheckSettings, TrafficSettings
from ragmetrics_core.questions._test_set import DroppedQuestion, QuestionSet
from ragmetrics_core.questions._traffic import ChosenQuestions, questions_of_run
from ragmetrics_core.questions._written import written_in

__all__ = [
    "BM25",
    "CODES",
    "GENERATION_DEFAULTS",
    "KINDS",
    "LENGTHS",
    "METRICS",
    "STYLES",
    "CellCount",
    "CheckSettings",
    "ChosenQuestions",
    "Corpus",
    "CorpusSource",
    "Document",
    "DroppedQuestion",
    "ForeignSet",
    "GenerationArgs",
    "Located",
    "Passage",
    "PassagePair",
    "Persona",
    "Question",
    "QuestionPlan",
    "QuestionSet",
    "Quote",
    "Reason",
    "SetSummary",
    "Skipped",
    "Stage",
    "TrafficSettings",
    "acheck_questions",
    "agenerate_questions",
    "aplan_questions",
    "check_questions",
    "chunks_with",
    "find_quote",
    "find_quotes",
    "generate_questions",
    "located",
    "plan_questions",
    "questions_of_run",
    "rare_pairs",
    "read_corpus",
    "read_questions",
    "uncovered",
    "written_in",
]
