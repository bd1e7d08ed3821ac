"""Test sets: questions on a corpus, with gold answers, the quotes that prove them, and their checks."""

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

__all__ = ["KINDS", "LENGTHS", "STYLES", "Document", "Passage", "Persona", "Question", "Quote"]
