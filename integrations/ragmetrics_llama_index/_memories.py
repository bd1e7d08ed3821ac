"""Memories of chat engines and agents: the conversation's id, and what was said before a question."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.memory.types import DEFAULT_CHAT_STORE_KEY
from llama_index.core.storage.chat_store import SimpleChatStore

from ragmetrics_core.adapting import Call, CapturedMessage, Fields
from ragmetrics_core.boundary import field_of
from ragmetrics_llama_index._dialect import DIALECT

__all__ = ["Remembered", "history_before", "remembered"]

_KEEPERS = (BaseChatEngine, BaseWorkflowAgent, AgentWorkflow)
# The beginning of a message in the text of a conversation, as LlamaIndex writes it.
_SPEAKER = re.compile(r"^(system|user|assistant|tool|function|developer|chatbot|model): ", re.MULTILINE)


class Remembered(NamedTuple):
    """The memory of an engine or agent when it is asked.

    Attributes:
        session: id of the conversation in its memory.
        messages: the messages, if they can be read without waiting for a store.
        prefix: messages that it puts before each conversation.
    """

    session: str | None = None
    messages: Sequence[ChatMessage] | None = None
    prefix: Sequence[ChatMessage] = ()


def remembered(instance: object, arguments: Fields) -> Remembered | None:
    """The memory of an engine or agent; None for anything else."""
    if not isinstance(instance, _KEEPERS):
        return None
    memory = getattr(arguments.get("start_event"), "memory", None) or getattr(instance, "_memory", None)
    key = field_of(memory, "chat_store_key")
    store = field_of(memory, "chat_store")
    messages = list(store.store.get(key, ())) if isinstance(store, SimpleChatStore) else None
    session = field_of(memory, "session_id") or (key if key != DEFAULT_CHAT_STORE_KEY else None)
    return Remembered(session, messages, list(getattr(instance, "_prefix_messages", ())))


def history_before(
    question: str, memory: Remembered, calls: Iterable[Call], condensed: str | None
) -> Sequence[CapturedMessage] | None:
    """The messages before a question; None if they are unknown.

    They are those of the memory, or of the first request that ends with the question, or in the text from
    which an engine made a stand-alone question.

    Args:
        question: the question.
        memory: what the engine remembered.
        calls: the calls of the run.
        condensed: the conversation as text, if the engine's model was sent it.
    """
    if memory.messages is not None:
        return DIALECT.messages(memory.messages)
    prefix = {(each.role, each.text) for each in DIALECT.messages(memory.prefix)}
    for call in sorted(calls, key=lambda call: call.began):
        messages = DIALECT.messages(call.inputs) if call.kind == "model" else ()
        places = [n for n, each in enumerate(messages) if each.role == "user" and each.text == question]
        if places:
            before = messages[: places[-1]]
            return [m for m in before if m.role != "system" and (m.role, m.text) not in prefix]
    if condensed is None:
        return None
    _, *parts = _SPEAKER.split(condensed)
    texts = zip(parts[::2], parts[1::2], strict=True)
    return DIALECT.messages([ChatMessage(role=role, content=text.strip()) for role, text in texts])
