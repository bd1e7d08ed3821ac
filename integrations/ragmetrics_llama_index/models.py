"""LlamaIndex models as the judge and the embedder of ragmetrics."""

# LlamaIndex leaves the fields of what a provider sends open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.llms.llm import LLM
from numpy.typing import NDArray

from ragmetrics_core import Embedder, Judge, Metric, as_judge
from ragmetrics_core.errors import ModelError, ModelOverloaded, ModelRefused, TransientModelError
from ragmetrics_core.metrics import get
from ragmetrics_core.models import as_embedder, keyless, settings_for_names
from ragmetrics_core.protocol import Completion, Generate, TextFunction, Usage
from ragmetrics_core.shapes import is_mapping, is_sequence
from ragmetrics_llama_index.threads import defining_class, in_thread

__all__ = [
    "AnyEmbedder",
    "AnyLLM",
    "LlamaIndexEmbedder",
    "LlamaIndexJudge",
    "embedder_of",
    "judge_of",
    "needed",
]

AnyLLM = LLM | Judge | TextFunction | str
AnyEmbedder = BaseEmbedding | Embedder | str

_TOKENS = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))
# What a model says of itself that does not change its replies.
_NO_SETTINGS = frozenset(LLMMetadata.model_fields) | {"class_name", "embed_batch_size"}
_OVERLOADED = frozenset({429, 503, 529})
_REFUSED = frozenset({400, 401, 403, 404, 413, 422})


@dataclass(frozen=True, repr=False)
class LlamaIndexJudge:
    """A LlamaIndex language model as a judge.

    A chat model gets system and user message, a completion model the text that its own `messages_to_prompt`
    makes of them. A model that is synchronous inside (a `CustomLLM`, `MockLLM`) is called in a thread, so
    that it does not hold up the event loop. Sampling settings are the model's; several draws are several
    calls.

    Attributes:
        llm: the model.
        name: names it in records; by default its class, its model's name and its settings.
    """

    llm: LLM
    name: str | None = None

    @property
    def identity(self) -> str:
        """The name, or class, model and settings; never a key (`LLM.to_payload` leaves them out)."""
        return self.name or _identity("llm", self.llm)

    def __repr__(self) -> str:
        """Its identity: a model may show its key."""
        return f"{type(self).__name__}({self.identity!r})"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Ask the model, once for each draw.

        Raises:
            ModelError: it did not answer, and the error says whether it may when asked again.
        """
        messages = [ChatMessage(role=each.role, content=each.content) for each in request.messages]
        draws = (self._reply(messages) for _ in range(request.draws))
        return await asyncio.gather(*draws)

    async def _reply(self, messages: Sequence[ChatMessage]) -> Completion:
        try:
            response = await self._ask(messages)
        except Exception as error:  # the boundary to foreign code: a model may raise anything
            failure = _as_model_error(error, self.llm)
        else:
            return self._completion(response)
        # outside the handler: the provider's error may hold the request, and with it the key
        raise failure

    def _completion(self, response: ChatResponse | CompletionResponse) -> Completion:
        text = response.text if isinstance(response, CompletionResponse) else response.message.content
        return Completion(
            text=text or "",
            model=str(_field(response.raw, "model") or self.llm.metadata.model_name),
            usage=_usage(response),
            finish_reason=_finish_reason(response),
        )

    async def _ask(self, messages: Sequence[ChatMessage]) -> ChatResponse | CompletionResponse:
        llm = self.llm
        if llm.metadata.is_chat_model:
            if defining_class(llm, "achat") is CustomLLM:
                return await in_thread(llm.chat, messages)
            return await llm.achat(messages)
        assert llm.messages_to_prompt is not None, "every model has one once it is made"
        prompt = llm.messages_to_prompt(messages)
        if defining_class(llm, "acomplete") is CustomLLM:
            return await in_thread(llm.complete, prompt, formatted=True)
        return await llm.acomplete(prompt, formatted=True)


@dataclass(frozen=True, repr=False)
class LlamaIndexEmbedder:
    """A LlamaIndex embedding model as an embedder; all texts are embedded as texts, none as a query.

    A model that has no asynchronous body of its own is called in a thread.

    Attributes:
        embed_model: the model.
        name: names it in records; by default its class and its model's name.
    """

    embed_model: BaseEmbedding
    name: str | None = None

    @property
    def identity(self) -> str:
        """The name, or class and model."""
        return self.name or _identity("embedding", self.embed_model)

    def __repr__(self) -> str:
        """Its identity: a model may show its key."""
        return f"{type(self).__name__}({self.identity!r})"

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """One row for each text.

        Raises:
            ModelError: the model did not answer.
        """
        model = self.embed_model
        try:
            if _embeds_synchronously(model):
                vectors = await in_thread(model.get_text_embedding_batch, list(texts))
            else:
                vectors = await model.aget_text_embedding_batch(list(texts))
        except Exception as error:  # the boundary to foreign code: a model may raise anything
            failure = _as_model_error(error, model)
        else:
            return np.asarray(vectors, dtype=np.float64)
        # outside the handler: the provider's error may hold the request, and with it the key
        raise failure


def judge_of(llm: AnyLLM) -> Judge:
    """A judge from a LlamaIndex model, or from whatever `ragmetrics_core.as_judge` takes.

    Raises:
        ConfigError: neither.
    """
    return LlamaIndexJudge(llm) if isinstance(llm, LLM) else as_judge(llm)


def embedder_of(embed_model: AnyEmbedder) -> Embedder:
    """An embedder from a LlamaIndex model, an embedder or a name.

    Raises:
        ConfigError: none of these.
    """
    if isinstance(embed_model, BaseEmbedding):
        return LlamaIndexEmbedder(embed_model)
    return as_embedder(embed_model)


def needed(metrics: Iterable[Metric[Any]], model: Literal["judge", "embedder"]) -> bool:
    """Whether metrics with these settings use a judge or an embedder; a composite asks what its parts ask."""
    return any(
        needed((get(part.metric, variant=part.variant, **part.settings) for part in metric.parts_used), model)
        if metric.parts_used
        else model in metric.needs
        for metric in metrics
    )


def _identity(kind: str, model: LLM | BaseEmbedding) -> str:
    """Class and settings: those that the model publishes, and sampling settings, which it may not."""
    published = model.to_payload()
    sampling = {name: getattr(model, name, None) for name in ("temperature", "max_tokens", "seed", "top_p")}
    settings = settings_for_names(
        {
            name: value
            for name, value in (sampling | published).items()
            if name not in _NO_SETTINGS and value is not None
        }
    )
    shown = json.dumps(settings, sort_keys=True, default=str, separators=(",", ":")) if settings else ""
    made_by = f"{type(model).__module__}.{type(model).__qualname__}"
    return f"llama_index:{kind}:{made_by}:{published.get('model_name') or 'unknown'}{shown}"


def _embeds_synchronously(model: BaseEmbedding) -> bool:
    names = ("_aget_text_embedding", "_aget_text_embeddings")
    return all(defining_class(model, name) is BaseEmbedding for name in names)


def _usage(response: ChatResponse | CompletionResponse) -> Usage | None:
    """Token counts, where the provider's package passes them on."""
    sources: tuple[Any, Any] = (response.additional_kwargs, _field(response.raw, "usage"))
    for source in sources:
        for names in _TOKENS:
            prompt, completion = (_field(source, name) for name in names)
            if isinstance(prompt, int) and isinstance(completion, int):
                return Usage(prompt, completion)
    return None


def _finish_reason(response: ChatResponse | CompletionResponse) -> str | None:
    """Why the reply ended; "length" is what matters, because a cut reply is not read as a whole one."""
    choices = _field(response.raw, "choices")
    first = choices[0] if is_sequence(choices) and choices else response.raw
    found = next(
        (value for name in ("finish_reason", "stop_reason", "done_reason") if (value := _field(first, name))),
        None,
    )
    return "length" if found == "max_tokens" else str(found) if found is not None else None


def _field(source: Any, name: str) -> Any:
    return source.get(name) if is_mapping(source) else getattr(source, name, None)


def _as_model_error(error: Exception, model: object) -> ModelError:
    """The error in our terms, so that only what may pass is asked again; without the model's keys."""
    if isinstance(error, ModelError):
        return error
    message = keyless(f"{type(error).__name__}: {error}", model)
    status = getattr(error, "status_code", None)
    if status in _OVERLOADED:
        return ModelOverloaded(message)
    if status in _REFUSED:
        return ModelRefused(message)
    is_server_error = isinstance(status, int) and (status >= 500 or status in (408, 409))
    if is_server_error or isinstance(error, ConnectionError | TimeoutError) or _lost(error):
        return TransientModelError(message)
    return ModelError(message)


def _lost(error: Exception) -> bool:
    """Whether a client says by the error's name that the connection or the time ran out (httpx, openai)."""
    names = (each.__name__ for each in type(error).__mro__)
    return any(name in ("APIConnectionError", "TransportError", "ClientConnectionError") for name in names)
