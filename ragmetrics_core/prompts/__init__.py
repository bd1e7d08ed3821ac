"""Prompts: texts in `library/`, bound here to their answer types."""

from ragmetrics_core.parsers import (
    ClosedBookAnswer,
    DecliningVerdict,
    EntityList,
    ExplainedVerdicts,
    ExtractedSentences,
    FactLists,
    QuestionList,
    Rating,
    RelevantSentences,
    StanceList,
    StandaloneQuestion,
    StatementList,
    VerdictList,
    WrittenQuestions,
)
from ragmetrics_core.prompts._library import (
    PromptText,
    library_names,
    load,
    load_file,
    load_version,
    read_folder,
)
from ragmetrics_core.prompts._prompt import (
    Item,
    Message,
    Prompt,
    Split,
    digest_of,
    digest_of_bytes,
    marked_sentences,
    numbered_sentences,
)

__all__ = [
    "ACCURACY_GRADE",
    "ANSWER_RATING",
    "ANSWER_RATING_WITH_CONTEXTS",
    "ANSWER_VERDICTS",
    "CHUNK_RATING",
    "CHUNK_VERDICTS",
    "CLOSED_BOOK",
    "CONTEXT_ENTITIES",
    "CONTEXT_GRADE",
    "CONTEXT_GRADE_AGAIN",
    "CRITERION",
    "DECLINING",
    "ENTITIES",
    "GROUNDING_GRADE",
    "GROUNDING_GRADE_AGAIN",
    "NUGGET_IMPORTANCE",
    "NUGGET_PARTS",
    "PAPER_FACTS",
    "PAPER_QUESTION",
    "PAPER_SENTENCES",
    "PAPER_STATEMENTS",
    "PAPER_VERDICTS",
    "QUESTIONS",
    "QUESTION_QUALITY",
    "REFERENCE_STATEMENTS",
    "REFERENCE_VERDICTS",
    "RELEVANCE_GRADE",
    "RELEVANT_SENTENCES",
    "RUBRIC",
    "SENTENCE_RATING",
    "STANCES",
    "STANDALONE",
    "STATEMENTS",
    "SUFFICIENCY",
    "VERDICTS",
    "WRITE_FOLLOW_UP",
    "WRITE_MULTI_HOP_ABSTRACT",
    "WRITE_MULTI_HOP_SPECIFIC",
    "WRITE_SINGLE_HOP",
    "WRITE_UNANSWERABLE",
    "WRITE_WRONG_PREMISE",
    "Item",
    "Message",
    "Prompt",
    "PromptText",
    "Split",
    "digest_of",
    "digest_of_bytes",
    "library_names",
    "load",
    "load_file",
    "load_version",
    "marked_sentences",
    "numbered_sentences",
    "read_folder",
]

STATEMENTS = load("statements", version=5, answer=StatementList)
REFERENCE_STATEMENTS = load("reference_statements", version=4, answer=StatementList)
VERDICTS = load("verdicts", version=5, answer=VerdictList)
STANCES = load("stances", version=1, answer=StanceList)
REFERENCE_VERDICTS = load("reference_verdicts", version=4, answer=VerdictList)
ANSWER_VERDICTS = load("answer_verdicts", version=4, answer=VerdictList)
CHUNK_VERDICTS = load("chunk_verdicts", version=3, answer=VerdictList)
RELEVANT_SENTENCES = load("relevant_sentences", version=2, answer=RelevantSentences)
QUESTIONS = load("questions", version=2, answer=QuestionList)
ENTITIES = load("entities", version=2, answer=EntityList)
CONTEXT_ENTITIES = load("context_entities", version=2, answer=EntityList)

CHUNK_RATING = load("chunk_rating", version=3, answer=Rating)
SENTENCE_RATING = load("sentence_rating", version=3, answer=Rating)
ANSWER_RATING = load("answer_rating", version=3, answer=Rating)
ANSWER_RATING_WITH_CONTEXTS = load("answer_rating_with_contexts", version=1, answer=Rating)
CONTEXT_GRADE = load("context_grade", version=3, answer=Rating)
CONTEXT_GRADE_AGAIN = load("context_grade_again", version=3, answer=Rating)
GROUNDING_GRADE = load("grounding_grade", version=3, answer=Rating)
GROUNDING_GRADE_AGAIN = load("grounding_grade_again", version=3, answer=Rating)
ACCURACY_GRADE = load("accuracy_grade", version=3, answer=Rating)
RUBRIC = load("rubric", version=2, answer=Rating)
CRITERION = load("criterion", version=3, answer=VerdictList)
DECLINING = load("declining", version=3, answer=DecliningVerdict)
SUFFICIENCY = load("sufficiency", version=3, answer=VerdictList)
NUGGET_IMPORTANCE = load("nugget_importance", version=1, answer=VerdictList)
NUGGET_PARTS = load("nugget_parts", version=1, answer=VerdictList)
RELEVANCE_GRADE = load("relevance_grade", version=1, answer=Rating)

WRITE_SINGLE_HOP = load("write_single_hop", version=1, answer=WrittenQuestions)
WRITE_MULTI_HOP_SPECIFIC = load("write_multi_hop_specific", version=1, answer=WrittenQuestions)
WRITE_MULTI_HOP_ABSTRACT = load("write_multi_hop_abstract", version=1, answer=WrittenQuestions)
WRITE_UNANSWERABLE = load("write_unanswerable", version=1, answer=WrittenQuestions)
WRITE_WRONG_PREMISE = load("write_wrong_premise", version=1, answer=WrittenQuestions)
WRITE_FOLLOW_UP = load("write_follow_up", version=1, answer=WrittenQuestions)
QUESTION_QUALITY = load("question_quality", version=1, answer=VerdictList)
CLOSED_BOOK = load("closed_book", version=1, answer=ClosedBookAnswer)
STANDALONE = load("standalone", version=1, answer=StandaloneQuestion)

PAPER_STATEMENTS = load("paper_statements", version=2, answer=StatementList)
PAPER_VERDICTS = load("paper_verdicts", version=2, answer=ExplainedVerdicts)
PAPER_QUESTION = load("paper_question", version=2, answer=QuestionList)
PAPER_SENTENCES = load("paper_sentences", version=2, answer=ExtractedSentences)
PAPER_FACTS = load("paper_facts", version=2, answer=FactLists)
