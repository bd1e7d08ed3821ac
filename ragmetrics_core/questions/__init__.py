"""Test sets: questions on a corpus, with gold answers, the quotes that prove them, and their checks."""

from ragmetrics_core.questions._bm25 import BM25
from ragmetrics_core.questions._documents import Corpus, CorpusSource, Skipped, read_corpus
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
from ragmetrics_core.questions._pairs import Pair, rare_pairs
from ragmetrics_core.questions._quotes import (
    Located,
    chunks_with,
    find_quote,
    find_quotes,
    located,
    uncovered,
)
from ragmetrics_core.questions._written import written_in

__all__ = [
    "BM25",
    "KINDS",
    "LENGTHS",
    "STYLES",
    "Corpus",
    "CorpusSource",
    "Document",
    "Located",
    "Pair",
    "Passage",
    "Persona",
    "Question",
    "Quote",
    "Skipped",
    "chunks_with",
    "find_quote",
    "find_quotes",
    "located",
    "rare_pairs",
    "read_corpus",
    "uncovered",
    "written_in",
]
