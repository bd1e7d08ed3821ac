"""Questions as rows of questions.jsonl: columns of a sample, labels, quotes and digests of records."""

from collections.abc import Mapping
from typing import Any

from ragmetrics_core.prompts import digest_of
from ragmetrics_core.questions._model import Persona, Question, Quote
from ragmetrics_core.samples import Label, Sample

__all__ = ["OWN_LABELS", "question_id", "question_of", "row_of", "sample_of", "without_own_names"]

OWN_LABELS = frozenset({
    "kind", "style", "length", "persona", "persona_role", "quotes", "records", "known_without_documents",
    "answered_by_first_hit", "reviewed",
})  # fmt: skip
"""Labels that a test set gives its questions."""


def question_id(question: str, answer: str | None, quotes: tuple[Quote, ...]) -> str:
    """The id of a question: "q-" and 16 digits of a hash of question, answer and places of the quotes."""
    places = [f"{quote.start} {quote.end} {quote.document}" for quote in quotes]
    return f"q-{digest_of(question, answer or '', *places)[:16]}"


def without_own_names(labels: Mapping[str, Label]) -> dict[str, Label]:
    """Labels of a document; one with a name in `OWN_LABELS` gets the prefix "document_"."""
    return {f"document_{name}" if name in OWN_LABELS else name: value for name, value in labels.items()}


def row_of(question: Question, records: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The row of a question; what is unknown or empty is left out.

    `evaluate` reads it as a sample: quotes become `reference_contexts`, the ids of their documents
    `reference_context_ids`, and what samples have no field for becomes labels.
    """
    persona = question.persona
    row: dict[str, Any] = {
        "id": question.id,
        "question": question.question,
        "reference": question.answer,
        "reference_contexts": [quote.text for quote in question.quotes],
        "reference_context_ids": list(dict.fromkeys(quote.document for quote in question.quotes)),
        "history": [turn.model_dump() for turn in question.history],
        "language": question.language,
        "kind": question.kind,
        "style": question.style,
        "length": question.length,
        "persona": persona.name if persona else None,
        "persona_role": persona.role_description if persona else None,
        "labels": dict(question.labels),
        "quotes": [quote.model_dump() for quote in question.quotes],
        "records": dict(records or {}),
    }
    if question.kind == "unanswerable":
        # its quotes are near the question, and no text is relevant to it
        row["reference_contexts"] = row["reference_context_ids"] = None
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}


def question_of(row: Mapping[str, Any]) -> Question:
    """The question of a row.

    Raises:
        ValidationError: the row is not one of `row_of`.
        KeyError: it has no id.
    """
    persona = row.get("persona")
    return Question.model_validate({
        "id": row["id"],
        "question": row.get("question", ""),
        "answer": row.get("reference"),
        "kind": row.get("kind"),
        "quotes": row.get("quotes", ()),
        "history": row.get("history", ()),
        "style": row.get("style"),
        "length": row.get("length"),
        "persona": None if persona is None else Persona(
            name=persona, role_description=row.get("persona_role", "")
        ),
        "language": row.get("language"),
        "labels": row.get("labels", {}),
    })  # fmt: skip


def sample_of(question: Question, records: Mapping[str, str] | None = None) -> Sample:
    """The sample of a question, as `evaluate` reads its row."""
    return Sample.from_mapping(row_of(question, records))
