"""Review of a test set: decisions of people, quotes in place, and coverage of the corpus; needs scipy."""

from ragmetrics_core.questions._decisions import (
    DECISIONS,
    REVIEWED,
    REVIEWED_FILE,
    DecisionFile,
    QuestionReview,
    SheetDecision,
    StoredDecision,
    digest_of_shown,
    draw_questions,
    read_decisions,
)
from ragmetrics_core.questions._places import QuotePlace, places_of
from ragmetrics_core.questions._reviewing import (
    Coverage,
    DocumentCoverage,
    ReviewShare,
    coverage_of,
    coverage_tables,
    review_notes,
    review_tables,
    shares_of,
)

__all__ = [
    "DECISIONS",
    "REVIEWED",
    "REVIEWED_FILE",
    "Coverage",
    "DecisionFile",
    "DocumentCoverage",
    "QuestionReview",
    "QuotePlace",
    "ReviewShare",
    "SheetDecision",
    "StoredDecision",
    "coverage_of",
    "coverage_tables",
    "digest_of_shown",
    "draw_questions",
    "places_of",
    "read_decisions",
    "review_notes",
    "review_tables",
    "shares_of",
]
