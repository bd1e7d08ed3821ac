"""Documents, passages, quotes and questions: the parts of a test set."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.samples import Label, Turn

__all__ = [
    "KINDS",
    "LENGTHS",
    "STYLES",
    "Document",
    "Kind",
    "Length",
    "Passage",
    "Persona",
    "Question",
    "Quote",
    "Style",
]

Kind: TypeAlias = Literal[
    "single_hop_specific",
    "multi_hop_specific",
    "multi_hop_abstract",
    "unanswerable",
    "wrong_premise",
    "follow_up",
]
"""Kinds of questions; the first three are the names of ragas."""
Style: TypeAlias = Literal["perfect_grammar", "poor_grammar", "misspelled", "web_search_like"]
"""Styles of questions, as ragas has them."""
Length: TypeAlias = Literal["short", "medium", "long"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STYLES: tuple[Style, ...] = get_args(Style)
LENGTHS: tuple[Length, ...] = get_args(Length)


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Document(_Data):
    """A text of the corpus.

    Attributes:
        id: path in the folder, the row's id, or the framework's id of the document.
        text: the whole text.
        labels: further data on it, such as its country.
    """

    id: str
    text: str
    labels: Mapping[str, Label] = {}


class Passage(_Data):
    """A stretch of a document.

    Attributes:
        document: id of the document.
        start: offset of its first character in the document's text.
        end: offset behind its last character.
        text: the document's text from `start` to `end`.
    """

    document: str
    start: int
    end: int
    text: str


class Quote(Passage):
    """A passage that answers a question, word for word."""


class Persona(_Data):
    """Somebody who asks."""

    name: str
    role_description: str = ""


class Question(_Data):
    """A question with its gold answer and the quotes that prove it.

    Attributes:
        id: "q-" and 16 digits of a hash of question, answer and quotes.
        question: the question as a user types it.
        answer: the gold answer; None if the documents do not answer the question.
        kind: kind of the question; None if unknown, as in test sets of other libraries.
        quotes: the places that answer it, in the order of the answer.
        history: earlier turns, for a follow-up question.
        style, length, persona, language: labels; None if unknown.
        labels: labels of its documents and of its source.
    """

    id: str
    question: str
    answer: str | None = None
    kind: Kind | None = None
    quotes: tuple[Quote, ...] = ()
    history: tuple[Turn, ...] = ()
    style: Style | None = None
    length: Length | None = None
    persona: Persona | None = None
    language: str | None = None
    labels: Mapping[str, Label] = {}
