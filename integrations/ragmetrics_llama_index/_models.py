"""LlamaIndex models as judges and embedders."""

# LlamaIndex leaves the fields of what a provider sends open.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.generic_utils import messages_to_prompt as generic_format
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms.llm import LLM
from llama_index.core.settings import Settings
from numpy.typing import NDArray

from ragmetrics_core import Embedder, Judge, Metric, as_judge
from ragmetrics_core.adapting import (
    ForeignJudge,
    ForeignModel,
    ForeignName,
    Way,
    can_only_raise,
    finish_reason,
    in_thread,
    said,
    said_in,
    sampling_of,
    usage_of,
)
from ragmetrics_core.boundary import checked, field_of, is_series
from ragmetrics_core.errors import ConfigError, ModelError, ModelRefused
from ragmetrics_core.metrics import models_needed
from ragmetrics_core.models import (
    as_embedder,
    foreign_answer,
    foreign_name,
    function_identity,
    is_unnamed,
    missing_model,
    model_error,
    settings_digest,
)
from ragmetrics_core.protocol import Completion, Generate, TextFunction

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

# What a model says of itself that does not change its replies.
_NO_SETTINGS = frozenset(LLMMetadata.model_fields) | {"class_name", "embed_batch_size"}
_SAMPLING = ("temperature", "max_tokens", "seed", "top_p")
_ADDRESSES = ("api_base", "base_url", "azure_endpoint")
# What LlamaIndex calls a model that does not name itself.
_UNKNOWN = "unknown"
# The parameter of `chat` that takes the form of a reply, by the class that the provider's own derives from.
_OPENAI = "response_format"
_FORMS = {"OpenAI": _OPENAI, "Ollama": "format"}


@checked
@dataclass(frozen=True, repr=False)
class LlamaIndexJudge(ForeignJudge, Judge):
    """A LlamaIndex language model as a judge.

    A chat model gets system and user messages, a completion model the text that its `messages_to_prompt`
    makes from them. The model is called through its synchronous interface, in threads, because its
    asynchronous client belongs to the application's event loop. Sampling settings are the model's; each draw
    is a call.

    A chat model of the OpenAI protocol or of Ollama gets the schema of each reply; see
    `ragmetrics_core.adapting.ForeignJudge`. A format in its `additional_kwargs` takes precedence.

    Attributes:
        llm: the model.
        name: the model's name in records. Default: its class, model name, server and settings.
    """

    without_form: ClassVar[str] = "pass additional_kwargs={'response_format': {'type': 'text'}}"

    llm: LLM
    name: str | None = None

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model, server and settings."""
        return _name_of(self.llm, {"response_format": "json_schema"} if self.takes_schema else {})

    @cached_property
    def takes_schema(self) -> bool:
        """Whether its `chat` has a parameter for a reply format that its user has not set."""
        chosen = getattr(self.llm, "additional_kwargs", {})
        return self._form is not None and self.llm.metadata.is_chat_model and self._form not in chosen

    @cached_property
    def _form(self) -> str | None:
        """The model's parameter for a reply format."""
        return next((form for kind in type(self.llm).__mro__ if (form := _FORMS.get(kind.__name__))), None)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Call the model once for each draw.

        Raises:
            ModelError: the model failed; the class says whether a retry may help.
        """
        return await self.held(request, partial(self._draw, request))

    @property
    def settings(self) -> frozenset[str]:
        """The sampling settings that an OpenAI-compatible server gets."""
        if self._form != _OPENAI:
            return frozenset()
        return frozenset(self._sampling)

    @property
    def _sampling(self) -> dict[str, Any]:
        return sampling_of(self.llm) | getattr(self.llm, "additional_kwargs", {})

    async def _draw(self, request: Generate[Any], way: Way) -> list[Completion]:
        messages = [ChatMessage(role=role, content=content) for role, content in way.messages(request)]
        form: dict[str, Any] = {}
        if way.form != "text" and self._form:
            schema = way.schema(request) or "json"
            form[self._form] = way.response_format(request) if self._form == _OPENAI else schema
        kept = way.settings(self._sampling)
        llm = self.llm if kept == self._sampling else self._with(kept)
        return await asyncio.gather(*[self._reply(llm, messages, form) for _ in range(request.draws)])

    def _with(self, settings: Mapping[str, Any]) -> LLM:
        """The model with these sampling settings and no others."""
        from openai import NOT_GIVEN

        left_out = dict.fromkeys(self._sampling.keys() - settings.keys(), NOT_GIVEN)
        return self.llm.model_copy(update={"additional_kwargs": {**settings, **left_out}})

    async def _reply(self, llm: LLM, messages: Sequence[ChatMessage], form: Mapping[str, Any]) -> Completion:
        response = await foreign_answer(_asked(llm, messages, form), lambda error: _failure(error, self.llm))
        reason = finish_reason(response.raw, response.additional_kwargs)
        if isinstance(response, CompletionResponse):
            reply = said(response.text, finish_reason=reason)
        else:
            choices = field_of(response.raw, "choices")
            raw = field_of(choices[0] if is_series(choices) and choices else response.raw, "message")
            reply = said_in(raw, finish_reason=reason)
            if not reply.text:
                reply = said(response.message.content, finish_reason=reason)
        return Completion(
            text=reply.text,
            model=str(field_of(response.raw, "model") or self.llm.metadata.model_name),
            usage=usage_of(response.additional_kwargs, field_of(response.raw, "usage")),
            finish_reason=reply.finish_reason,
        )


async def _asked(
    llm: LLM, messages: Sequence[ChatMessage], form: Mapping[str, Any]
) -> ChatResponse | CompletionResponse:
    if llm.metadata.is_chat_model:
        return await in_thread(llm.chat, messages, **form)
    assert llm.messages_to_prompt is not None, "every model has one once it is made"
    prompt = llm.messages_to_prompt(messages)
    return await in_thread(llm.complete, prompt, formatted=True)


@checked
@dataclass(frozen=True, repr=False)
class LlamaIndexEmbedder(ForeignModel, Embedder):
    """A LlamaIndex embedding model as an embedder; all texts are embedded as texts, not as queries.

    The model is called through its synchronous interface, in threads.

    Attributes:
        embed_model: the model.
        name: the model's name in records. Default: its class, model name, server and settings.
    """

    embed_model: BaseEmbedding
    name: str | None = None

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model, server and settings."""
        return _name_of(self.embed_model)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """One row per text.

        Raises:
            ModelError: the model failed.
        """
        vectors = await foreign_answer(
            self._embed(list(texts)), lambda error: _failure(error, self.embed_model)
        )
        return np.asarray(vectors, dtype=np.float64)

    async def _embed(self, texts: list[str]) -> list[list[float]]:
        return await in_thread(self.embed_model.get_text_embedding_batch, texts)


def judge_of(llm: AnyLLM | None, asking: str = "") -> Judge:
    """A judge from a LlamaIndex model or an argument of `ragmetrics_core.as_judge`.

    Args:
        llm: the model; None for the application's `Settings.llm`.
        asking: the part that needs a judge, for messages.

    Raises:
        ConfigError: `llm` is invalid or has no synchronous interface, or `Settings.llm` is not set:
            LlamaIndex's own default is never used.
    """
    if llm is None:
        if getattr(Settings, "_llm", None) is None:
            raise missing_model("judge", asking, "llm=..., or Settings.llm = ...,")
        llm = Settings.llm
    if not isinstance(llm, LLM):
        return as_judge(llm)
    silent = [name for name in ("chat", "complete") if can_only_raise(llm, name)]
    # what a model says of itself may ask its server: it is looked at only where it matters
    if silent and ("chat" if llm.metadata.is_chat_model else "complete") in silent:
        raise ConfigError(_no_synchronous_side(llm))
    return LlamaIndexJudge(llm)


def embedder_of(embed_model: AnyEmbedder | None) -> Embedder:
    """An embedder from a LlamaIndex model, an embedder or a name; None means that of `Settings`.

    Raises:
        ConfigError: the argument is invalid, or the model has no synchronous interface.
    """
    if embed_model is None:
        embed_model = Settings.embed_model
    if isinstance(embed_model, BaseEmbedding):
        batch = "_get_text_embeddings"
        has_batch = getattr(type(embed_model), batch) is not getattr(BaseEmbedding, batch)
        if can_only_raise(embed_model, batch if has_batch else "_get_text_embedding"):
            raise ConfigError(_no_synchronous_side(embed_model))
        return LlamaIndexEmbedder(embed_model)
    return as_embedder(embed_model)


def _no_synchronous_side(model: LLM | BaseEmbedding) -> str:
    kind = "an embedder" if isinstance(model, BaseEmbedding) else "a judge"
    return (
        f"{type(model).__name__} has no synchronous interface, which {kind} is asked "
        "through: its asynchronous one belongs to the application's event loop"
    )


def needed(metrics: Iterable[Metric[Any]], model: Literal["judge", "embedder", "scorer"]) -> bool:
    """Whether metrics with these settings use a model of this kind."""
    return any(model in models_needed(metric) for metric in metrics)


def _name_of(model: LLM | BaseEmbedding, asked: Mapping[str, str] | None = None) -> ForeignName:
    """The model's name from its published settings, with a digest of the others."""
    published = _published(model)
    told = {name: getattr(model, name, None) for name in _SAMPLING} | published
    settings = {name: value for name, value in told.items() if name not in _NO_SETTINGS and value is not None}
    servers = {
        name: text for name in _ADDRESSES if isinstance(text := getattr(model, name, None), str) and text
    }
    digest = settings_digest(model, shown={*settings, *servers, *_NO_SETTINGS, "model"})
    named = published.get("model_name")
    is_sure = digest.is_complete and named not in (None, "", _UNKNOWN)
    if isinstance(model, LLM) and not published.get("is_chat_model"):
        form = _format_of(model)
        is_sure = is_sure and form is not None
        if form:
            settings["messages_to_prompt"] = form
    settings |= asked or {}
    return foreign_name(
        "llama_index",
        model,
        called=named,
        server=next(iter(servers.values()), None),
        settings={name: value for name, value in settings.items() if name not in servers},
        digest=digest._replace(is_complete=is_sure),
    )


def _published(model: LLM | BaseEmbedding) -> dict[str, Any]:
    """A model's published settings; before llama-index-core 0.14.24 there is no method for them."""
    if hasattr(model, "to_payload"):
        return model.to_payload()
    return model.metadata.model_dump() if isinstance(model, LLM) else {"model_name": model.model_name}


def _format_of(model: LLM) -> str | None:
    """The known name of the function that makes a completion model's prompt.

    Empty if the model's class or LlamaIndex determines it, None if it cannot be identified.
    """
    function = model.messages_to_prompt
    if function is None or function is generic_format or getattr(function, "__self__", None) is model:
        return ""
    name = function_identity(function)
    return None if is_unnamed(name) else name


def _failure(error: Exception, model: LLM | BaseEmbedding) -> ModelError:
    if isinstance(error, NotImplementedError):
        return ModelRefused(_no_synchronous_side(model))
    return model_error(error, model)
