"""Read replies as typed values, or object to them; split sentences and locate quotes."""

from ragmetrics_core.parsers._answer import ANYTHING, READER, Answer, Declined, Expected, Reading, Scale
from ragmetrics_core.parsers._calibrated import IsotonicMap, PlattMap, ProbabilityMap
from ragmetrics_core.parsers._claims import stating_sentences
from ragmetrics_core.parsers._closed_book import ClosedBookAnswer
from ragmetrics_core.parsers._decisions import RATED
from ragmetrics_core.parsers._earlier import of_earlier
from ragmetrics_core.parsers._entities import EntityList
from ragmetrics_core.parsers._evidence import ELLIPSIS, Span, at_words, comparable, locate
from ragmetrics_core.parsers._facts import FactLists
from ragmetrics_core.parsers._log_probabilities import AlternativeTokens, plain_reply, yes_or_no_in
from ragmetrics_core.parsers._questions import GeneratedQuestion, QuestionList
from ragmetrics_core.parsers._ratings import Rating
from ragmetrics_core.parsers._relevance import INSUFFICIENT, ExtractedSentences, RelevantSentences
from ragmetrics_core.parsers._reply import LONGEST, without_reasoning
from ragmetrics_core.parsers._sentences import split_sentences
from ragmetrics_core.parsers._standalone import StandaloneQuestion
from ragmetrics_core.parsers._statements import END, WITH_CLAIM, StatementList
from ragmetrics_core.parsers._verdicts import (
    CONTRADICTED,
    NONE_OF_THESE,
    NOT_MENTIONED,
    PASSED_ON,
    STANCES,
    SUPPORTED,
    UNKNOWN,
    UNPROVEN,
    DecliningVerdict,
    ExplainedVerdicts,
    NumberedVerdict,
    StanceList,
    VerdictList,
    sentence_question,
)
from ragmetrics_core.parsers._written_questions import WrittenQuestion, WrittenQuestions

__all__ = [
    "ANYTHING",
    "CONTRADICTED",
    "ELLIPSIS",
    "END",
    "INSUFFICIENT",
    "LONGEST",
    "NONE_OF_THESE",
    "NOT_MENTIONED",
    "PASSED_ON",
    "RATED",
    "READER",
    "STANCES",
    "SUPPORTED",
    "UNKNOWN",
    "UNPROVEN",
    "WITH_CLAIM",
    "AlternativeTokens",
    "Answer",
    "ClosedBookAnswer",
    "Declined",
    "DecliningVerdict",
    "EntityList",
    "Expected",
    "ExplainedVerdicts",
    "ExtractedSentences",
    "FactLists",
    "GeneratedQuestion",
    "IsotonicMap",
    "NumberedVerdict",
    "PlattMap",
    "ProbabilityMap",
    "QuestionList",
    "Rating",
    "Reading",
    "RelevantSentences",
    "Scale",
    "Span",
    "StanceList",
    "StandaloneQuestion",
    "StatementList",
    "VerdictList",
    "WrittenQuestion",
    "WrittenQuestions",
    "at_words",
    "comparable",
    "locate",
    "of_earlier",
    "plain_reply",
    "sentence_question",
    "split_sentences",
    "stating_sentences",
    "without_reasoning",
    "yes_or_no_in",
]
