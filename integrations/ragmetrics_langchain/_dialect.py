"""Functions that read LangChain's objects: documents, messages, conversations and fields."""

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from ragmetrics_core.adapting import CalledTool, CapturedMessage, Chunk, Dialect, Fields
from ragmetrics_core.boundary import is_mapping, is_series

__all__ = [
    "DIALECT",
    "MESSAGES",
    "asks_with_media",
    "conversation",
    "documents_in",
    "fields_of",
    "request_of",
]

MESSAGES = "messages"

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
# Where rerankers put the score that they gave.
_SCORE = "relevance_score"


def fields_of(value: Any) -> Fields:
    """The fields of a mapping, a model or a dataclass, such as a state; for a `Command`, its updates.

    For a tool's message, the fields other than its text.
    """
    if is_mapping(value):
        return value
    if isinstance(value, ToolMessage):
        return {} if value.artifact is None else {"artifact": value.artifact}
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage | Document | PromptValue):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if type(value).__name__ == "Command":
        update = cast("Any", value).update
        is_pairs = isinstance(update, list)
        return dict(cast("list[tuple[str, Any]]", update)) if is_pairs else fields_of(update)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return {}


def conversation(value: Any) -> list[BaseMessage]:
    """The messages of a list in any of LangChain's forms; empty for anything else."""
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, PromptValue):
        return value.to_messages()
    if not is_series(value) or not value or not all(map(_is_message, value)):
        return []
    try:
        return convert_to_messages(list(cast("Sequence[Any]", value)))
    except (ValueError, NotImplementedError, KeyError, TypeError):
        return []


def _is_message(value: Any) -> bool:
    match value:
        case BaseMessage():
            return True
        case {"content": _, "role": str()} | {"content": _, "type": str()}:
            return True
        case (str() as role, str() | list()):
            return role in ("human", "user", "ai", "assistant", "system", "tool")
        case _:
            return False


def request_of(messages: Sequence[BaseMessage | str]) -> list[CapturedMessage]:
    """A copy of a model's request: texts, not the application's messages."""
    return [CapturedMessage("user", sent) if isinstance(sent, str) else _message(sent) for sent in messages]


def _message(message: BaseMessage) -> CapturedMessage:
    return CapturedMessage(
        _ROLES.get(message.type, message.type),
        _said(message),
        tool_calls=[CalledTool(call["name"], call["args"], call["id"]) for call in _calls(message)],
        has_failed=isinstance(message, ToolMessage) and message.status == "error",
        tool=(message.name or "") if isinstance(message, ToolMessage) else "",
    )


def _calls(message: BaseMessage) -> Sequence[ToolCall]:
    return message.tool_calls if isinstance(message, AIMessage) else ()


def _said(message: BaseMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    if isinstance(message, ToolMessage) and all(isinstance(part, str) for part in content):
        return json.dumps(content, ensure_ascii=False)  # as LangGraph writes it for the model
    return str(message.text)


def _messages(value: Any) -> Sequence[CapturedMessage]:
    if isinstance(value, list) and value and isinstance(value[0], CapturedMessage):
        return cast("list[CapturedMessage]", value)
    return [_message(sent)._replace(others=_others(sent)) for sent in conversation(value)]


def _others(message: BaseMessage) -> list[Any]:
    if not isinstance(message, AIMessage):
        return []
    reasoning = [block.get("reasoning") for block in message.content_blocks]
    return [*(call["args"] for call in message.tool_calls), *reasoning]


def _document(value: Any) -> Chunk | None:
    if not isinstance(value, Document):
        return None
    score = value.metadata.get(_SCORE)
    return Chunk(value.page_content, value.id, score if isinstance(score, float) else None)


def _message_text(value: Any) -> str | None:
    return value if isinstance(value, str) else _said(value) if isinstance(value, BaseMessage) else None


def documents_in(value: Any) -> list[Document]:
    """The documents of a list, or of the first list of documents in a mapping."""
    if isinstance(value, Document):
        return [value]
    if is_series(value):
        documents = [document for document in value if isinstance(document, Document)]
        return documents if len(documents) == len(value) else []
    for part in fields_of(value).values():
        if is_series(part) and (documents := documents_in(part)):
            return documents
    return []


def asks_with_media(inputs: Any) -> bool:
    """Whether the question in these inputs contains more than text: an image, a recording, a file."""
    for value in (inputs, *fields_of(inputs).values()):
        last = conversation(value)[-1:]
        if last and last[0].type == "human" and not isinstance(last[0].content, str):
            return any(block["type"] != "text" for block in last[0].content_blocks)
    return False


DIALECT = Dialect(document=_document, text=_message_text, messages=_messages, fields=fields_of)
