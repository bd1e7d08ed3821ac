"""Functions that read Haystack's objects."""

import json
from ast import literal_eval
from collections.abc import Iterator
from typing import Any

from haystack.dataclasses import ChatMessage, Document, GeneratedAnswer, TextContent, ToolCallResult
from ragmetrics_core.adapting import CalledTool, CapturedMessage, Chunk, Dialect, Fields
from ragmetrics_core.boundary import is_mapping, is_series

__all__ = ["HAYSTACK", "parsed", "text_in"]

# What a document is written down with in a tool's result.
_DOCUMENT = frozenset({"id", "content", "blob", "score"})


def _document(value: object) -> Chunk | None:
    if isinstance(value, Chunk):
        return value
    if isinstance(value, Document):
        return Chunk(value.content or "", value.id, value.score)
    if is_mapping(value) and set(value) >= _DOCUMENT and isinstance(value["content"], str):
        score = value["score"]
        return Chunk(value["content"], str(value["id"]), score if isinstance(score, float) else None)
    return None


def _answer_text(value: object) -> str | None:
    if isinstance(value, GeneratedAnswer):
        return str(value.data)
    if isinstance(value, ChatMessage):
        return value.text
    return value if isinstance(value, str) else None


def _messages(value: Any) -> list[CapturedMessage]:
    """The messages of a generator's inputs or outputs, or of a list; a text is a user's message."""
    if named := _fields(value):
        held = [named[name] for name in ("messages", "prompt", "replies") if named.get(name)]
        return _messages(held[0]) if held else []
    if isinstance(value, str):
        return [CapturedMessage("user", value)]
    listed: list[Any] = [*value] if is_series(value) else [value]
    said = [_message(each) for each in listed if isinstance(each, ChatMessage)]
    # of a generator of texts
    return said or [CapturedMessage("assistant", each) for each in listed if isinstance(each, str)]


def _message(message: ChatMessage) -> CapturedMessage:
    results = message.tool_call_results
    texts = [*message.texts, *(text for each in results for text in _parts(each))]
    return CapturedMessage(
        message.role.value,
        "\n".join(texts),
        tool_calls=[CalledTool(call.tool_name, call.arguments, call.id) for call in message.tool_calls],
        has_failed=any(each.error for each in results),
        others=[
            *(call.arguments for call in message.tool_calls),
            getattr(getattr(message, "reasoning", None), "reasoning_text", None),
        ],
        tool=results[0].origin.tool_name if results else "",
    )


def _parts(result: ToolCallResult) -> Iterator[str]:
    for each in [result.result] if isinstance(result.result, str) else result.result:
        if isinstance(each, str | TextContent):
            yield each if isinstance(each, str) else each.text


def _fields(value: object) -> Fields:
    if isinstance(value, GeneratedAnswer):
        return {"documents": value.documents}
    return value if is_mapping(value) else {}


HAYSTACK = Dialect(document=_document, text=_answer_text, messages=_messages, fields=_fields)


def text_in(value: object) -> str | None:
    """
    The text of an answer, a message or a text, or of the first one in a list.

    :param value: A component's output.
    :returns: The text, or None.
    """
    if is_series(value):
        return text_in(value[0]) if value else None
    return _answer_text(value)


def parsed(result: ToolCallResult) -> Any:
    """
    Parse a tool's result from the message that reports it, if the call itself was not observed.

    :param result: The result in the message.
    :returns: Its lists and mappings, in JSON or Python syntax; otherwise its text, or [] if empty.
    """
    text = "\n".join(_parts(result))
    for read in (json.loads, literal_eval):
        try:
            value: Any = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if is_mapping(value) or is_series(value):
            return value
    return text if text.strip() else []
