"""Contents of LlamaIndex objects: the text of an answer, nodes and their texts, a question."""

import asyncio
from collections import deque
from typing import Any, cast

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.schema import BaseNode, NodeWithScore

from ragmetrics_core.adapting import in_thread
from ragmetrics_core.boundary import field_of, is_mapping, is_series
from ragmetrics_core.errors import ConfigError

__all__ = ["answer_in", "entry_in", "nodes_in", "read_whole", "text_of_node"]

# Where responses, agents' outputs, events and mappings keep the text, in the order in which it is looked for.
_ANSWERS = ("response", "answer", "result", "output")


async def read_whole(response: Any) -> Any:
    """The response with its complete text: an unread stream is read to its end.

    Raises:
        ConfigError: a different event loop writes the chat's stream; it may be blocked meanwhile.
    """
    if isinstance(response, AsyncStreamingResponse):
        return await response.get_response()
    if isinstance(response, StreamingResponse):
        return response.get_response()
    if isinstance(response, StreamingAgentChatResponse):
        await _read_chat(response)
    return response


async def _read_chat(response: StreamingAgentChatResponse) -> None:
    """Read a chat engine's stream, unless it was read before."""
    if response.achat_stream is not None:
        writing = cast("asyncio.Task[object] | None", vars(response)["awrite_response_to_history_task"])
        is_elsewhere = writing is not None and writing.get_loop() is not asyncio.get_running_loop()
        if is_elsewhere and not response.is_done:
            raise ConfigError(
                "the chat's stream is written by another event loop: await aevaluate_response there, "
                "or read the stream before"
            )
        async for _ in response.async_response_gen():
            pass
    elif response.chat_stream is not None:
        await in_thread(lambda: deque(response.response_gen, maxlen=0))


def answer_in(value: Any) -> str | None:
    """The text of an answer from a query engine, a chat engine, an agent or a workflow.

    None if there is no text, including streams that are not read yet. Structured output becomes JSON.
    """
    match value:
        case None | str():
            return value
        case ChatMessage():
            return value.content or ""
        case PydanticResponse():
            return str(value) if value.response is not None else None
        case StreamingResponse() | AsyncStreamingResponse():
            return value.response_txt
        case _:
            fields = (field_of(value, name) for name in _ANSWERS)
            held = next((field for field in fields if field is not None), None)
    if held is not None:
        return answer_in(held)
    return value.model_dump_json() if isinstance(value, BaseModel) else None


def entry_in(value: Any, name: str) -> str | None:
    """An entry of a response's metadata as text, or None."""
    metadata = field_of(value, "metadata")
    entry = metadata.get(name) if is_mapping(metadata) else None
    return None if entry is None else str(entry)


def nodes_in(value: Any) -> list[Any] | None:
    """The source nodes of an answer as a new list; None if it has no such field."""
    nodes = field_of(value, "source_nodes")
    return list(nodes) if is_series(nodes) else None


def text_of_node(node: Any) -> str:
    """A node's text, as LlamaIndex's evaluators use it."""
    return node.get_content() if isinstance(node, NodeWithScore | BaseNode) else str(node)
