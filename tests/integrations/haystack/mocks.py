"""Haystack's own mocks; the same by hand for a haystack-ai that has none yet."""

from collections.abc import Callable
from itertools import cycle
from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage
from haystack.utils import deserialize_callable, serialize_callable

__all__ = ["MockChatGenerator", "MockTextEmbedder"]

try:
    from haystack.components.embedders import MockTextEmbedder
    from haystack.components.generators.chat import MockChatGenerator
except ImportError:

    @component
    class MockChatGenerator:  # type: ignore[no-redef]
        """Replies with what it was given, in turn, or with what a function makes of the messages."""

        def __init__(
            self,
            responses: Any = None,
            *,
            response_fn: Callable[..., Any] | None = None,
            model: str = "mock-model",
            meta: dict[str, Any] | None = None,
        ) -> None:
            self.responses = responses
            self.response_fn = response_fn
            self.model = model
            self.meta = meta
            self._next = cycle(responses if isinstance(responses, list) else [responses])

        def to_dict(self) -> dict[str, Any]:
            function = self.response_fn and serialize_callable(self.response_fn)
            return default_to_dict(
                self, responses=self.responses, response_fn=function, model=self.model, meta=self.meta
            )

        @classmethod
        def from_dict(cls, data: dict[str, Any]) -> Any:
            parameters = data["init_parameters"]
            if parameters.get("response_fn"):
                parameters["response_fn"] = deserialize_callable(parameters["response_fn"])
            return default_from_dict(cls, data)

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], streaming_callback: Any = None, tools: Any = None) -> dict[str, Any]:
            reply = self.response_fn(messages) if self.response_fn else next(self._next)
            if isinstance(reply, ChatMessage):
                return {"replies": [reply]}
            tokens = {
                "prompt_tokens": sum(len((each.text or "").split()) for each in messages),
                "completion_tokens": len(reply.split()),
            }
            meta = {"model": self.model, "finish_reason": "stop", "usage": tokens} | (self.meta or {})
            return {"replies": [ChatMessage.from_assistant(reply, meta=meta)]}

        @component.output_types(replies=list[ChatMessage])
        async def run_async(
            self, messages: list[ChatMessage], streaming_callback: Any = None, tools: Any = None
        ) -> dict[str, Any]:
            return self.run(messages)

    @component
    class MockTextEmbedder:  # type: ignore[no-redef]
        """A fixed vector, or the one that a function makes of the text."""

        def __init__(
            self,
            embedding: list[float] | None = None,
            *,
            embedding_fn: Callable[[str], list[float]] | None = None,
            dimension: int = 768,
        ) -> None:
            self.embedding = embedding
            self.embedding_fn = embedding_fn
            self.dimension = dimension

        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            made = self.embedding_fn(text) if self.embedding_fn else self.embedding
            return {"embedding": made or [float(ord(text[n % len(text)])) for n in range(self.dimension)]}
