"""Reply texts to typed values: every parser says which rule read the text and what it left out."""

from ragmetrics_core.parsers._entities import EntityList
from ragmetrics_core.parsers._evidence import Span, locate
from ragmetrics_core.parsers._facts import FactLists
from ragmetrics_core.parsers._form import Wanted
from ragmetrics_core.parsers._numbered_verdict import Aligned, NumberedVerdict, align
from ragmetrics_core.parsers._questions import GeneratedQuestion, QuestionList
from ragmetrics_core.parsers._ratings import Rating
from ragmetrics_core.parsers._reading import NO_HINTS, Answer, Declined, Hints, Reading
from ragmetrics_core.parsers._relevance import ExtractedSentences, RelevantSentences
from ragmetrics_core.parsers._reply_text import is_refusal
from ragmetrics_core.parsers._sentences import split_sentences
from ragmetrics_core.parsers._statements import StatementList
from ragmetrics_core.parsers._thoughts import without_leading_thoughts
from ragmetrics_core.parsers._verdict_json import PASSED_ON
from ragmetrics_core.parsers._verdicts import DecliningVerdict, VerdictList
from ragmetrics_core.parsers._words import verdict_value, verdict_word

__all__ = [
    "NO_HINTS",
    "PASSED_ON",
    "Aligned",
    "Answer",
    "Declined",
    "DecliningVerdict",
    "EntityList",
    "ExtractedSentences",
    "FactLists",
    "GeneratedQuestion",
    "Hints",
    "NumberedVerdict",
    "QuestionList",
    "Rating",
    "Reading",
    "RelevantSentences",
    "Span",
    "StatementList",
    "VerdictList",
    "Wanted",
    "align",
    "is_refusal",
    "locate",
    "split_sentences",
    "verdict_value",
    "verdict_word",
    "without_leading_thoughts",
]
