"""Agents of LlamaIndex for tests, and models that call tools in every version of it."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool, QueryEngineTool
from pydantic import PrivateAttr

from tests.integrations.llama_index.scored import ANSWER

Reply = Callable[[Sequence[ChatMessage]], ChatMessage]


class ToolCallingLLM(FunctionCallingLLM):
    """A chat model that calls tools as OpenAI's do."""

    model_name: str = "tool-calling"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            model_name=self.model_name,
            is_chat_model=True,
            is_function_calling_model=True,
            context_window=4000,
        )

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        raise NotImplementedError

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        raise NotImplementedError

    def _prepare_chat_with_tools(
        self,
        tools: Any,
        user_msg: Any = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        asked = [ChatMessage(content=user_msg)] if isinstance(user_msg, str) else [user_msg]
        specs = [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]
        return {"messages": [*(chat_history or []), *filter(None, asked)], "tools": specs, **kwargs}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=call["id"],
                tool_name=call["function"]["name"],
                tool_kwargs=json.loads(call["function"]["arguments"]),
            )
            for call in response.message.additional_kwargs.get("tool_calls", [])
        ]


class RepliesLLM(ToolCallingLLM):
    """A chat model that is a function from messages to a message."""

    _reply: Reply = PrivateAttr()

    def __init__(self, reply: Reply, **settings: Any) -> None:
        super().__init__(**settings)
        self._reply = reply

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._reply(messages))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self._reply(messages))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        def tokens() -> ChatResponseGen:
            message = self._reply(messages)
            yield ChatResponse(message=message, delta=message.content)

        return tokens()

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        async def tokens() -> ChatResponseAsyncGen:
            message = self._reply(messages)
            yield ChatResponse(message=message, delta=message.content)

        return tokens()


def calling(*names: str, **arguments: str) -> ChatMessage:
    """A reply that calls tools."""
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name in names
    ]
    return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": calls})


def agent(*tools: Any, answer: str = ANSWER) -> FunctionAgent:
    """Calls each tool once with a question of its own, then answers."""

    def reply(messages: Sequence[ChatMessage]) -> ChatMessage:
        if messages[-1].role.value == "tool":
            return ChatMessage(role="assistant", content=answer)
        return calling(*(tool.metadata.name for tool in tools), input="tower height")

    llm = RepliesLLM(reply)
    return FunctionAgent(name="guide", description="knows towers", tools=list(tools), llm=llm)


def ran(workflow: Any, **start: Any) -> str:
    """What a workflow comes to."""

    async def run() -> str:
        return str(await workflow.run(**start))

    return asyncio.run(run())


def tool_of(engine: Any, name: str = "towers") -> QueryEngineTool:
    """A query engine as a tool."""
    return QueryEngineTool.from_defaults(engine, name=name, description=f"knows {name}")


def search(function: Callable[[str], Any]) -> FunctionTool:
    """A function as a tool."""

    def run(input: str) -> Any:
        return function(input)

    return FunctionTool.from_defaults(run, name="search", description="looks things up")
