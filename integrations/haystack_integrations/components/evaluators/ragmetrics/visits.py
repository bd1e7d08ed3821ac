"""The role of a span in a run, and its outputs."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from haystack.dataclasses import ChatMessage, GeneratedAnswer
from ragmetrics_core.adapting import Call, Chunk, Kind, documents_anywhere
from ragmetrics_core.boundary import is_mapping, is_series

from haystack_integrations.components.evaluators.ragmetrics.dialect import HAYSTACK, parsed
from haystack_integrations.components.evaluators.ragmetrics.watching import AGENT, GENERATORS, PIPELINES, TOOL, Visit

__all__ = ["has", "holds_documents", "invoked", "is_written", "kind_of", "passed_on", "reaches"]

# What a tool made of a generator, an agent or a whole RAG pipeline puts out: texts that a model wrote.
_WRITTEN = frozenset({"replies", "last_message", "messages", "answers"})


def kind_of(visit: Visit, prompts: Collection[str] = ()) -> Kind:
    """The kind of a component, from its inputs and outputs."""
    if visit.operation == TOOL:
        return "model" if is_written(visit.outputs) else "tool"
    if visit.operation in GENERATORS:
        return "model"
    named = HAYSTACK.fields(visit.outputs)
    if any(child.operation in PIPELINES or child.operation == AGENT for child in visit.children):
        return "chain"
    if "replies" in named and "replies" not in HAYSTACK.fields(visit.inputs):  # which hands them on
        return "model"
    if any(has(value, GeneratedAnswer) for value in named.values()):
        return "answer"
    if "prompt" in named:
        return "prompt"
    is_typed = any("Document" in visit.types.get(socket, "") for socket in named)
    if is_typed or holds_documents(named) or _passages(visit, prompts):
        return "postprocessor" if holds_documents(visit.inputs) else "retriever"
    return "chain"


def passed_on(visit: Visit, prompts: Collection[str]) -> Any:
    """A component's outputs to others; passages that a prompt takes as plain texts are chunks."""
    if visit.operation == TOOL:
        return _returned(visit.outputs)
    named = HAYSTACK.fields(visit.outputs)
    if kind_of(visit) == "model":
        replies = named.get("replies")
        return replies[0] if is_series(replies) and len(replies) == 1 else replies
    taken = {socket: value for socket, value in named.items() if visit.receivers.get(socket)}
    passages = _passages(visit, prompts)
    return {socket: _chunks(value) if socket in passages else value for socket, value in (taken or named).items()}


def _passages(visit: Visit, prompts: Collection[str]) -> list[str]:
    """Outputs that are lists of texts and go into a prompt."""
    texts = [socket for socket in HAYSTACK.fields(visit.outputs) if visit.types.get(socket) == "list[str]"]
    return [socket for socket in texts if not set(prompts).isdisjoint(visit.receivers[socket])]


def _returned(value: Any) -> Any:
    """A tool's result: documents, or the text that the model gets."""
    if isinstance(value, str):
        return value if value.strip() else []
    if is_written(value) or not (is_mapping(value) or is_series(value)) or not value or holds_documents(value):
        return value
    if is_series(value) and all(isinstance(each, str) for each in value):
        return _chunks(value)
    # a mapping of lists with nothing in them says that there is nothing
    is_empty = is_mapping(value) and not any(value.values())
    return value if is_empty else json.dumps(value, ensure_ascii=False, default=str)


def _chunks(texts: Any) -> Any:
    return [Chunk(text) for text in texts if isinstance(text, str)] if is_series(texts) else texts


def invoked(visit: Visit, sources: Sequence[Call]) -> Iterable[Call]:
    """The tools that a component called: before Haystack 3 they had no spans."""
    for message in HAYSTACK.fields(visit.outputs).get("tool_messages") or ():
        for result in message.tool_call_results:
            yield Call(
                kind="tool",
                name=result.origin.tool_name,
                inputs=result.origin.arguments,
                outputs=_returned(parsed(result)),
                sources=sources,
                began=visit.began,
                ended=None if result.error else visit.ended,
            )


def reaches(visit: Visit, receiver: str) -> bool:
    """Whether a component passed anything to a given other one."""
    return any(receiver in visit.receivers.get(socket, ()) for socket in HAYSTACK.fields(visit.outputs))


def holds_documents(value: Any) -> bool:
    """Whether the value contains documents."""
    return bool(documents_anywhere(value, HAYSTACK))


def has(value: object, kind: type) -> bool:
    """Whether the value is a list that begins with an instance of a class."""
    return is_series(value) and bool(value) and isinstance(value[0], kind)


def is_written(value: object) -> bool:
    """Whether a tool's result was written by a model."""
    return isinstance(value, ChatMessage) or (is_mapping(value) and bool(_WRITTEN & set(value)))
