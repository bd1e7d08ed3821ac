"""Texts inside documents, nodes and messages of other libraries, recognized by their attributes."""

from collections.abc import Sequence
from typing import Final, cast

from ragmetrics_core.boundary.shapes import field_of, is_mapping, is_series
from ragmetrics_core.samples._printed import DOCUMENT_KEYS

__all__ = ["document_text", "is_document", "message_text"]

# what holds a document: a node with its score, a hit, a document that LangChain wrote as JSON
_HOLDERS: Final = ("node", "document", "kwargs")
_MESSAGE_KEYS: Final = ("content", "text", "response")


def document_text(value: object) -> str | None:
    """Text of a document, a node, or a (document, score) pair; None for anything else."""
    if isinstance(value, str):
        return value
    if is_series(value):
        if len(value) == 2 and _is_score(value[1]):
            return document_text(value[0])
        return None
    for key in DOCUMENT_KEYS:
        if isinstance(text := _part(value, key), str):
            return text
    for holder in _HOLDERS:
        inner = _part(value, holder)
        if inner is not None and not isinstance(inner, str) and not is_series(inner):
            return document_text(inner)
    content = None if is_mapping(value) else getattr(value, "get_content", None)
    text = content() if callable(content) else None
    return text if isinstance(text, str) else None


def is_document(value: object) -> bool:
    """Whether a value is one document, and not a list of them."""
    return not isinstance(value, str | Sequence) and document_text(value) is not None


def message_text(value: object) -> str | None:
    """Text of a chat message or a completion; None if it has none, or several that differ."""
    if is_mapping(value):
        return cast("str", value["content"]) if "role" in value and _has_text(value) else None
    texts = {text for key in _MESSAGE_KEYS if isinstance(text := _part(value, key), str)}
    return str(texts.pop()) if len(texts) == 1 else None


def _part(value: object, name: str) -> object:
    """A part of an object; None if it is missing or not of the right kind."""
    try:
        return cast("object", field_of(value, name))
    except (ValueError, TypeError, NotImplementedError):
        return None


def _has_text(value: object) -> bool:
    return isinstance(field_of(value, "content"), str)


def _is_score(value: object) -> bool:
    return value is None or (hasattr(value, "__float__") and not isinstance(value, str | bool))
