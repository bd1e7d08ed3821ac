"""Prompts: texts as data in `library/`, bound here to the type of their answer."""

from ragmetrics_core.parsers import (
    EntityList,
    ExtractedSentences,
    FactLists,
    QuestionList,
    RelevantSentences,
    StatementList,
    VerdictList,
)
from ragmetrics_core.prompts.library import PromptText, load, read_folder
from ragmetrics_core.prompts.prompt import Item, Message, Prompt, Split, digest_of, numbered_sentences

__all__ = [
    "ANSWER_VERDICTS",
    "CHUNK_VERDICTS",
    "CONTEXT_ENTITIES",
    "ENTITIES",
    "PAPER_FACTS",
    "PAPER_QUESTION",
    "PAPER_SENTENCES",
    "PAPER_STATEMENTS",
    "PAPER_VERDICTS",
    "QUESTIONS",
    "REFERENCE_STATEMENTS",
    "REFERENCE_VERDICTS",
    "RELEVANT_SENTENCES",
    "STATEMENTS",
    "VERDICTS",
    "Item",
    "Message",
    "Prompt",
    "PromptText",
    "Split",
    "digest_of",
    "load",
    "numbered_sentences",
    "read_folder",
]

STATEMENTS = load("statements", version=1, answer=StatementList)
REFERENCE_STATEMENTS = load("reference_statements", version=1, answer=StatementList)
VERDICTS = load("verdicts", version=1, answer=VerdictList)
REFERENCE_VERDICTS = load("reference_verdicts", version=1, answer=VerdictList)
ANSWER_VERDICTS = load("answer_verdicts", version=1, answer=VerdictList)
CHUNK_VERDICTS = load("chunk_verdicts", version=1, answer=VerdictList)
RELEVANT_SENTENCES = load("relevant_sentences", version=1, answer=RelevantSentences)
QUESTIONS = load("questions", version=1, answer=QuestionList)
ENTITIES = load("entities", version=1, answer=EntityList)
CONTEXT_ENTITIES = load("context_entities", version=1, answer=EntityList)

PAPER_STATEMENTS = load("paper_statements", version=1, answer=StatementList)
PAPER_VERDICTS = load("paper_verdicts", version=1, answer=VerdictList)
PAPER_QUESTION = load("paper_question", version=1, answer=QuestionList)
PAPER_SENTENCES = load("paper_sentences", version=1, answer=ExtractedSentences)
PAPER_FACTS = load("paper_facts", version=1, answer=FactLists)
