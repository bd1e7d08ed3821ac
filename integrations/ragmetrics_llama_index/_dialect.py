"""Functions that read LlamaIndex's objects: nodes, texts of responses and messages, fields of events."""

from typing import cast

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import Event

from ragmetrics_core.adapting import CalledTool, CapturedMessage, Chunk, Dialect, Fields
from ragmetrics_core.boundary import field_of, is_mapping, is_series
from ragmetrics_llama_index._instructions import Instructions
from ragmetrics_llama_index._responses import answer_in

__all__ = ["DIALECT", "chunks_in", "documents_by_field", "request_of"]

_ROLES = {"chatbot": "assistant", "model": "assistant", "function": "tool", "developer": "system"}


def chunks_in(nodes: object) -> list[Chunk]:
    """Copies of the nodes in a list, not affected by later changes."""
    return [chunk for node in nodes if (chunk := _document(node)) is not None] if is_series(nodes) else []


def documents_by_field(event: object) -> dict[str, list[Chunk]]:
    """The lists of nodes in a workflow's event; an empty list may be one."""
    lists = {name: value for name, value in _fields(event).items() if is_series(value)}
    return {name: chunks for name, value in lists.items() if len(chunks := chunks_in(value)) == len(value)}


def request_of(value: object) -> str | list[CapturedMessage]:
    """A copy of a model's request: the text of a prompt, or messages."""
    return value if isinstance(value, str) else _messages(value)


def _document(value: object) -> Chunk | None:
    if isinstance(value, Chunk):
        return value
    node = value.node if isinstance(value, NodeWithScore) else value
    if not isinstance(node, BaseNode):
        return None
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    return Chunk(text, node.node_id or None, value.score if isinstance(value, NodeWithScore) else None)


def _text(value: object) -> str | None:
    match value:
        case str():
            return str(value)
        case QueryBundle():
            return value.query_str
        case ToolOutput():
            return value.content
        case CompletionResponse():
            return value.text
        case ChatResponse():
            return value.message.content or ""
        case BaseNode() | NodeWithScore():
            return None
        case _:
            return None if is_mapping(value) or is_series(value) else answer_in(value)


def _messages(value: object) -> list[CapturedMessage]:
    if isinstance(value, Instructions):
        return [CapturedMessage("user", piece) for piece in value.pieces()]
    messages = list(value) if is_series(value) else [getattr(value, "message", value)]
    if all(isinstance(message, CapturedMessage) for message in messages):
        return cast("list[CapturedMessage]", messages)
    is_chat = all(isinstance(message, ChatMessage) for message in messages)
    return [_message(message) for message in cast("list[ChatMessage]", messages)] if is_chat else []


def _message(message: ChatMessage) -> CapturedMessage:
    role = message.role.value
    kinds = {"tool_call": "tool_kwargs", "thinking": "content"}
    others = [getattr(block, kinds.get(block.block_type, ""), None) for block in message.blocks]
    return CapturedMessage(
        _ROLES.get(role, role),
        message.content or "",
        tool_calls=_calls(message),
        others=list(filter(None, others)),
        tool=str(
            message.additional_kwargs.get("name") or message.additional_kwargs.get("tool_call_id") or ""
        ),
    )


def _calls(message: ChatMessage) -> list[CalledTool]:
    """The tool calls in the blocks, or in the form of the provider: its objects or mappings."""
    calls = [
        CalledTool(block.tool_name, block.tool_kwargs, block.tool_call_id)
        for block in message.blocks
        if block.block_type == "tool_call"
    ]
    for call in () if calls else message.additional_kwargs.get("tool_calls") or ():
        function = field_of(call, "function") or call
        name, arguments = field_of(function, "name"), field_of(function, "arguments")
        calls.append(CalledTool(str(name or ""), arguments, field_of(call, "id")))
    return calls


def _fields(value: object) -> Fields:
    if is_mapping(value):
        return value
    if isinstance(value, ToolOutput):
        return {"artifact": value.raw_output}
    if isinstance(value, BaseModel) and not isinstance(
        value, ChatMessage | ChatResponse | BaseNode | NodeWithScore
    ):
        # an event has the fields that its class names, and any others beside
        return {**vars(value), **(dict(value.items()) if isinstance(value, Event) else {})}
    return {}


DIALECT = Dialect(document=_document, text=_text, messages=_messages, fields=_fields)
