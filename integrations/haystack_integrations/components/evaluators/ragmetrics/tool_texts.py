"""What an agent's tools found: the documents that they returned, or else their texts; never what a model wrote."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haystack.dataclasses import ChatMessage, Document, TextContent, ToolCallResult
from ragmetrics_core.shapes import is_mapping, is_series

from haystack_integrations.components.evaluators.ragmetrics.texts import Passages, joined, passages_of

__all__ = ["documents_in", "found_by_tools", "is_written"]

# What a document is written down with; a mapping without these is not one of Haystack's.
_DOCUMENT = frozenset({"id", "content", "blob", "score"})
# What a tool made of a generator, an agent or a whole RAG pipeline puts out: texts that a model wrote.
_WRITTEN = frozenset({"replies", "last_message", "messages", "answers"})
_DEPTH = 20


def found_by_tools(
    messages: Sequence[ChatMessage], known: Mapping[str, Sequence[Document]], writers: frozenset[str]
) -> tuple[Passages, str] | None:
    """
    Take what the tools of one turn returned, in the order of their messages; a failed call returned nothing.

    :param messages: Those of the turn.
    :param known: The documents themselves, by the name of the tool, where they were seen.
    :param writers: Names of the tools whose texts a model wrote.
    :returns: The passages and the rule that found them; None when there are none.
    """
    found: list[Passages] = []
    rules: dict[str, None] = {}
    for result in (each for message in messages for each in message.tool_call_results if not each.error):
        name = result.origin.tool_name
        documents = passages_of(list(known[name])) if known.get(name) else _written_documents(result)
        if documents is not None and documents.texts:
            found.append(documents)
            rules["tool_documents"] = None
        elif name not in writers and (texts := _texts(result)):
            found.append(Passages(texts, None))
            rules["tool_results"] = None
    return (joined(found), ", ".join(rules)) if found else None


def documents_in(value: object, depth: int = _DEPTH) -> Iterator[Document]:
    """
    Find the documents in what a tool returned.

    :param value: The value.
    :param depth: How far to look into it.
    :returns: The documents, in their order.
    """
    if isinstance(value, Document):
        yield value
    elif depth and (is_mapping(value) or is_series(value)):
        for each in value.values() if is_mapping(value) else value:
            yield from documents_in(each, depth - 1)
    elif depth and (documents := getattr(value, "documents", None)) and is_series(documents):  # an answer's
        yield from documents_in(documents, depth - 1)


def is_written(value: object) -> bool:
    """
    Say whether what a tool returned is text that a model wrote.

    :param value: The value.
    :returns: Whether it is.
    """
    if isinstance(value, ChatMessage):
        return True
    return (
        any(is_written(each) for each in value)
        if is_series(value)
        else is_mapping(value) and bool(_WRITTEN & set(value))
    )


def _written_documents(result: ToolCallResult) -> Passages | None:
    """The documents that Haystack wrote into the message as JSON."""
    value = _parsed(result.result)
    documents = [Document(id=each["id"], content=each["content"]) for each in _mappings(value, _DEPTH)]
    return passages_of(documents) if documents else None


def _mappings(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if is_mapping(value) and set(value) >= _DOCUMENT and isinstance(value["content"], str):
        yield value
    elif depth and (is_mapping(value) or is_series(value)):
        for each in value.values() if is_mapping(value) else value:
            # several outputs of one tool are each written down by themselves
            yield from _mappings(_parsed(each) if isinstance(each, str) else each, depth - 1)


def _texts(result: ToolCallResult) -> tuple[str, ...]:
    parts = [result.result] if isinstance(result.result, str) else result.result
    texts = [each.text if isinstance(each, TextContent) else each for each in parts or ()]
    return tuple(each for each in texts if isinstance(each, str) and each and not is_written(_parsed(each)))


def _parsed(text: object) -> Any:
    if not isinstance(text, str) or text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # text that only begins like JSON
        return None
