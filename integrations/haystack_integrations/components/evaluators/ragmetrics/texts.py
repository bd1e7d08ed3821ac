"""Haystack's objects as texts."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeGuard

from haystack.dataclasses import ChatMessage, Document, GeneratedAnswer
from ragmetrics_core.sample import Turn
from ragmetrics_core.shapes import is_list, is_series

__all__ = ["Passages", "answer_text", "history_of", "is_documents", "joined", "passages_of"]

_SPEAKERS = frozenset({"user", "assistant"})


class Passages(NamedTuple):
    """What was retrieved: texts in rank order and, where all have one, the documents' ids."""

    texts: tuple[str, ...]
    ids: tuple[str, ...] | None


def is_documents(value: object) -> TypeGuard[list[Document]]:
    """
    Say whether a value is a list of documents; an empty list is one.

    :param value: The output or input of a component.
    :returns: Whether it is.
    """
    return is_list(value) and all(isinstance(each, Document) for each in value)


def passages_of(value: object) -> Passages | None:
    """
    Take the texts of documents, of answers' documents or of plain texts; what has no text is left out.

    :param value: A list of them, or a single one.
    :returns: The passages; None when it is nothing of that kind.
    """
    items: list[object] = list(value) if is_series(value) else [value]
    if any(isinstance(each, GeneratedAnswer) for each in items):
        items = [document for each in items if isinstance(each, GeneratedAnswer) for document in each.documents]
    texts: list[str] = []
    ids: list[str] = []
    for item in items:
        if isinstance(item, Document):
            if item.content:
                texts.append(item.content)
                ids.append(item.id)
        elif isinstance(item, str | ChatMessage):
            text = item if isinstance(item, str) else item.text
            texts += [text] if text else []
        else:
            return None
    return Passages(tuple(texts), tuple(ids) if len(ids) == len(texts) else None)


def joined(several: Iterable[Passages]) -> Passages:
    """
    Put what several places hold together: each passage once, where it is first.

    :param several: The passages of each place.
    :returns: All of them; with ids when all have one.
    """
    known: dict[tuple[str, str | None], None] = {}
    for each in several:
        known |= dict.fromkeys(zip(each.texts, each.ids or [None] * len(each.texts), strict=True))
    ids = [id_ for _, id_ in known]
    whole = tuple(each for each in ids if each is not None)
    return Passages(tuple(text for text, _ in known), whole if len(whole) == len(ids) else None)


def answer_text(value: object) -> str | None:
    """
    Take the text of an answer, a message or a text, or of the first one in a list.

    :param value: What a component puts out.
    :returns: The text; None when there is none.
    """
    if is_series(value):
        return answer_text(value[0]) if value else None
    if isinstance(value, GeneratedAnswer):
        return str(value.data)
    if isinstance(value, ChatMessage):
        return value.text
    return value if isinstance(value, str) else None


def history_of(messages: Sequence[Any]) -> tuple[Turn, ...] | None:
    """
    Take what user and assistant said; system messages and tool calls are no part of the conversation.

    :param messages: The messages before the question.
    :returns: The turns; None when there are none.
    """
    turns = tuple(
        Turn(role=each.role.value, content=each.text)
        for each in _messages(messages)
        if each.role.value in _SPEAKERS and each.text
    )
    return turns or None


def _messages(values: Iterable[Any]) -> Iterable[ChatMessage]:
    return (each for each in values if isinstance(each, ChatMessage))
