"""How LangChain's objects are read: documents, texts of messages, conversations, fields of whatever has some."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from ragmetrics_core.adapting import Chunk, Dialect, Message
from ragmetrics_core.shapes import is_mapping, is_series

__all__ = ["DIALECT", "conversation", "documents_in", "fields_of", "request_of", "result_of"]

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
# Where rerankers put the score that they gave.
_SCORE = "relevance_score"


def fields_of(value: object) -> Mapping[str, Any]:
    """The fields of a mapping, a model or a dataclass, as a state may be; of a `Command` those it updates."""
    if is_mapping(value):
        return value
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage | Document | PromptValue):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if type(value).__name__ == "Command" and hasattr(value, "update"):
        update = value.update
        return dict(cast("list[tuple[str, Any]]", update)) if isinstance(update, list) else fields_of(update)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return {}


def conversation(value: object) -> list[BaseMessage]:
    """The messages of a list in any form that LangChain takes; empty when it is no list of messages."""
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


def _is_message(value: object) -> bool:
    match value:
        case BaseMessage():
            return True
        case {"content": _, "role": str()} | {"content": _, "type": str()}:
            return True
        case (str() as role, str() | list()):
            return role in ("human", "user", "ai", "assistant", "system", "tool")
        case _:
            return False


def request_of(messages: Sequence[BaseMessage | str]) -> list[Message]:
    """What a model is sent, held as it is now: texts, not the application's messages."""
    return [Message("user", each) if isinstance(each, str) else _message(each) for each in messages]


def _message(message: BaseMessage) -> Message:
    content = message.content
    return Message(
        _ROLES.get(message.type, message.type),
        content if isinstance(content, str) else str(message.text),
        calls_tools=isinstance(message, AIMessage) and bool(message.tool_calls),
        has_failed=isinstance(message, ToolMessage) and message.status == "error",
    )


def _messages(value: object) -> Sequence[Message]:
    if isinstance(value, list) and value and isinstance(value[0], Message):
        return cast("list[Message]", value)
    return request_of(conversation(value))


def _document(value: object) -> Chunk | None:
    if not isinstance(value, Document):
        return None
    score = value.metadata.get(_SCORE)
    return Chunk(value.page_content, value.id, score if isinstance(score, float) else None)


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return str(value)
    return str(value.text) if isinstance(value, BaseMessage) else None


def documents_in(value: object) -> list[Document]:
    """The documents of a list, or of the first list in a mapping that has some."""
    if isinstance(value, Document):
        return [value]
    if is_series(value):
        documents = [each for each in value if isinstance(each, Document)]
        return documents if len(documents) == len(value) else []
    lists = (documents_in(each) for each in fields_of(value).values() if is_series(each))
    return next((documents for documents in lists if documents), [])


def result_of(output: object) -> object:
    """What a tool found: the documents of its message, else its text."""
    if not isinstance(output, ToolMessage):
        return output
    artifact = output.artifact
    if documents_in(artifact) or (is_series(artifact) and not artifact):
        return artifact
    return str(output.text)


DIALECT = Dialect(document=_document, text=_text, messages=_messages, fields=fields_of)
