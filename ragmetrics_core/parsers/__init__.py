"""Reply texts to typed values: every parser says which rule read the text and what it left out."""

from ragmetrics_core.parsers.entities import EntityList
from ragmetrics_core.parsers.evidence import Span, locate
from ragmetrics_core.parsers.facts import FactLists
from ragmetrics_core.parsers.form import Wanted
from ragmetrics_core.parsers.numbered_verdict import Aligned, NumberedVerdict, align
from ragmetrics_core.parsers.questions import GeneratedQuestion, QuestionList
from ragmetrics_core.parsers.ratings import Rating
from ragmetrics_core.parsers.reading import NO_HINTS, Answer, Declined, Hints, Reading
from ragmetrics_core.parsers.relevance import ExtractedSentences, RelevantSentences
from ragmetrics_core.parsers.reply_text import is_refusal
from ragmetrics_core.parsers.sentences import split_sentences
from ragmetrics_core.parsers.statements import StatementList
from ragmetrics_core.parsers.thoughts import without_leading_thoughts
from ragmetrics_core.parsers.verdict_json import PASSED_ON
from ragmetrics_core.parsers.verdicts import DecliningVerdict, VerdictList
from ragmetrics_core.parsers.words import verdict_value, verdict_word

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
