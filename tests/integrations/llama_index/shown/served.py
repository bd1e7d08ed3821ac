"""A language model of LlamaIndex behind HTTP, and an index as a user builds it."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.schema import TextNode

from tests.integrations.llama_index.agents import ToolCallingLLM
from tests.integrations.llama_index.fakes import WordEmbedding

QUESTION = "How high is the tower?"
ANSWER = "It is as high as the texts say."
HIGH = "The tower is 300 m high."
OPENED = "The tower opened in 1889."
HEAVY = "The tower weighs 10,100 tonnes."
BREAD = "Bread bakes at 230 degrees."
LYNX = "Lynxes hunt by night."
CORPUS = (HIGH, OPENED, HEAVY, BREAD, LYNX)


class ServedLLM(ToolCallingLLM):
    """Asks an OpenAI-compatible server, as the integrations for such servers do."""

    url: str

    def _body(self, messages: Sequence[ChatMessage], *, stream: bool, **kwargs: Any) -> dict[str, Any]:
        sent = [{"role": each.role.value, "content": each.content, **_calls(each)} for each in messages]
        return {"model": self.model_name, "messages": sent, "stream": stream, **kwargs}

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        reply = httpx.post(self.url, json=self._body(messages, stream=False, **kwargs), verify=False)
        return _response(reply)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        async with httpx.AsyncClient(verify=False) as client:
            return _response(await client.post(self.url, json=self._body(messages, stream=False, **kwargs)))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        def tokens() -> ChatResponseGen:
            reply = httpx.post(self.url, json=self._body(messages, stream=True, **kwargs), verify=False)
            yield from _streamed(reply.text)

        return tokens()

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        async def tokens() -> ChatResponseAsyncGen:
            async with httpx.AsyncClient(verify=False) as client:
                reply = await client.post(self.url, json=self._body(messages, stream=True, **kwargs))
            for each in _streamed(reply.text):
                yield each

        return tokens()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.chat([ChatMessage(content=prompt)]).message.content or "")

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(
            text=(await self.achat([ChatMessage(content=prompt)])).message.content or ""
        )


def index(texts: Sequence[str] = CORPUS, nodes: Sequence[Any] | None = None) -> VectorStoreIndex:
    """A vector index over the corpus, without a model behind HTTP for the vectors."""
    made = [TextNode(text=text, id_=f"chunk-{place}") for place, text in enumerate(texts)]
    return VectorStoreIndex(list(nodes or made), embed_model=WordEmbedding())


def replying(*rules: tuple[Any, Any]) -> Callable[[str], Any]:
    """What the model says: the first rule whose words are in the messages, else the answer.

    A rule without words is for the first request alone.
    """
    first = iter([None])

    def reply(text: str) -> Any:
        is_first = next(first, "") is None
        fitting = (said for words, said in rules if (is_first if words is None else words in text))
        return next(fitting, ANSWER)

    return reply


def _calls(message: ChatMessage) -> dict[str, Any]:
    names = ("tool_calls", "tool_call_id")
    return {name: message.additional_kwargs[name] for name in names if name in message.additional_kwargs}


def _response(reply: httpx.Response) -> ChatResponse:
    body = reply.json()
    message = body["choices"][0]["message"]
    return ChatResponse(message=_message(message["content"], message.get("tool_calls")), raw=body)


def _message(content: str | None, calls: Any) -> ChatMessage:
    return ChatMessage(
        role="assistant", content=content or "", additional_kwargs={"tool_calls": calls} if calls else {}
    )


def _streamed(lines: str) -> ChatResponseGen:
    text, calls = "", None
    events = [line.removeprefix("data: ") for line in lines.splitlines() if line.startswith("data: {")]
    for event in events:
        delta = json.loads(event)["choices"][0]["delta"]
        token = delta.get("content") or ""
        text, calls = text + token, delta.get("tool_calls") or calls
        yield ChatResponse(message=_message(text, calls), delta=token)
