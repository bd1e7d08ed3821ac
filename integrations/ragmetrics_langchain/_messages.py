"""Reading LangChain's values: fields of whatever holds fields, texts of messages, conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from ragmetrics_core.sample import Turn as SampleTurn
from ragmetrics_core.shapes import is_iterable, is_mapping, is_series

__all__ = ["answered", "asked", "conversation", "fields_of", "history_of", "text_of", "texts_of"]

_ROLES = {"human": "user", "ai": "assistant", "system": "system"}


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a mapping, a model or a dataclass, as a state may be; empty for anything else."""
    if is_mapping(value):
        return value
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage | Document | PromptValue):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return {}


def conversation(value: Any) -> list[BaseMessage]:
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


def asked(messages: Sequence[BaseMessage]) -> BaseMessage | None:
    """The last message of a person."""
    return next((each for each in reversed(messages) if each.type == "human"), None)


def answered(messages: Sequence[BaseMessage]) -> BaseMessage | None:
    """The answer: the last message of all, of the model or of a tool that returns directly.

    None when it calls tools, reports a tool's error, or is a person's.
    """
    last = messages[-1] if messages else None
    if isinstance(last, ToolMessage):
        return None if last.status == "error" else last
    return last if last is not None and last.type in ("ai", "AIMessageChunk") and not _calls(last) else None


def _calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls)


def text_of(value: Any) -> str | None:
    """The text of a text, a message, or the last message of a person in a conversation; else None."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, Document):
        return value.page_content
    message = asked(conversation(value))
    return None if message is None else str(message.text)


def texts_of(value: object) -> tuple[str, ...] | None:
    """The texts of documents, texts or messages, in order; None when something else is among them."""
    if isinstance(value, str | Document | BaseMessage):
        value = [value]
    if not is_iterable(value) or isinstance(value, Mapping):
        return None
    texts: list[str] = []
    for each in value:
        inner = each.get("page_content", each.get("content")) if is_mapping(each) else each
        text = text_of(inner) if isinstance(inner, str | Document | BaseMessage) else None
        if text is None:
            return None
        texts.append(text)
    return tuple(texts)


def history_of(messages: Sequence[BaseMessage]) -> tuple[SampleTurn, ...]:
    """What was said, without calls of tools and their results."""
    return tuple(
        SampleTurn(role=_ROLES[each.type], content=str(each.text))
        for each in messages
        if each.type in _ROLES and not _calls(each)
    )
