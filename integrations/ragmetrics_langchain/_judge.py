"""LangChain chat models as judges."""

import asyncio
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, cast

from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseChatModel, BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import BaseModel
from typing_extensions import is_typeddict

from ragmetrics_core.adapting import (
    ForeignJudge,
    ForeignName,
    Way,
    finish_reason,
    said,
    sampling_of,
    usage_of,
)
from ragmetrics_core.boundary import checked
from ragmetrics_core.errors import ConfigError, ModelError, ModelRefused
from ragmetrics_core.models import foreign_answer
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_langchain._calling import (
    JUDGE_TAG,
    ModelPerLoop,
    answered_apart,
    as_model_error,
    is_asynchronous_only,
    name_of,
)
from ragmetrics_langchain._decisions import is_decision_model

__all__ = ["LangChainJudge"]

Model = Runnable[Any, Any]

_MESSAGES = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LangChainJudge(ForeignJudge):
    """A LangChain chat model, bound or not, as a judge.

    The application's handlers and tracers do not see its calls. Sampling settings, limits and retries are the
    model's own. The model is called through its synchronous interface, in threads, so that it can be the
    application's own model: an asynchronous client belongs to the application's event loop.

    A cache would return the same reply for every draw of a prompt, so draws after the first bypass it. If the
    cache is not accessible (inside a sequence or a function), a warning is logged.

    A provider's chat model with its own structured output gets the schema of each reply; see
    `ragmetrics_core.adapting.ForeignJudge`. Bind a `response_format` to replace it, or `{"type": "text"}` to
    turn it off.

    Attributes:
        model: the model, or a function without arguments that makes one, called once per event loop. A model
            without a synchronous interface is called on the running loop.
        name: the model's name in records. Default: its class, model, server and settings.

    Raises:
        ConfigError: `model` is neither a Runnable nor a function, or is a Runnable that does not take
            messages, such as a graph.
    """

    without_form: ClassVar[str] = "bind response_format={'type': 'text'} to the model"

    model: Model | Callable[[], Model]
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _ = self._models

    @cached_property
    def is_asynchronous_only(self) -> bool:
        """Whether there is no synchronous interface, which live scoring needs."""
        return is_asynchronous_only(self._models.first)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Ask the model once for each draw, concurrently.

        Raises:
            ModelError: the model failed.
        """
        return await self.held(request, partial(self._ask, request))

    async def _ask(self, request: Generate[Any], way: Way) -> list[Completion]:
        is_bound = self.is_asynchronous_only
        model = self._models.here() if is_bound else self._models.first
        messages: list[BaseMessage] = [_MESSAGES[role](content=text) for role, text in way.messages(request)]
        config: RunnableConfig = {"tags": [JUDGE_TAG], "run_name": f"ragmetrics.{request.prompt.name}"}
        changed = _changed(model, way) if way.changed else model
        draws = [self._drawing(changed, request.draw + number) for number in range(request.draws)]
        held_to = None
        if way.form != "text":
            draws = [_held(drawing, request, way) for drawing in draws]
            if "tools" in _unbound(draws[0])[1]:  # some providers make a tool of it
                held_to = request.prompt.answer.__name__
        call = asyncio.gather(*[_asked(drawing, messages, config, is_bound=is_bound) for drawing in draws])
        replies = await foreign_answer(call, lambda error: as_model_error(error, self.identity, model))
        if len(replies) > 1 and len({getattr(reply, "id", None) for reply in replies} - {None}) == 1:
            self._warn("gave the same message for several draws")
        return [_completion(reply, self.identity, held_to) for reply in replies]

    def _drawing(self, model: Model, draw: int) -> Model:
        """The model for a draw: only the first may use a cache."""
        if draw == 0:
            return model
        fresh = _uncached(model)
        if fresh is None and get_llm_cache() is not None:
            self._warn("does not show whether it uses the global cache")
        return model if fresh is None else fresh

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned.append(why)
            warnings.warn(
                f"{self.identity} {why}: its draws of one prompt may all be one reply, so that they agree "
                "whatever the model thinks. Switch the cache off for the judge: cache=False",
                stacklevel=3,
            )

    @cached_property
    def _models(self) -> ModelPerLoop[Model]:
        return ModelPerLoop(self.model, Runnable, check=_check_takes_messages)

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model, server and settings."""
        model, bound = _unbound(self._models.first)
        return name_of(model, bound | ({"response_format": "json_schema"} if self.takes_schema else {}))

    @property
    def settings(self) -> frozenset[str]:
        """Those of the sampling settings that are set, bound or not."""
        model, bound = _unbound(self._models.first)
        own = sampling_of(cast(Any, model)) if isinstance(model, BaseLanguageModel) else {}
        return frozenset(own | bound)

    @cached_property
    def takes_schema(self) -> bool:
        """Whether it is a provider's chat model with its own structured output that is not bound yet."""
        model, bound = _unbound(self._models.first)
        own = BaseChatModel.with_structured_output
        has_own = isinstance(model, BaseChatModel) and type(model).with_structured_output is not own
        given = {**getattr(model, "model_kwargs", {}), **bound}
        return has_own and not {"response_format", "tools"} & given.keys()

    @cached_property
    def _warned(self) -> list[str]:
        return []


async def _asked(model: Model, messages: list[BaseMessage], config: RunnableConfig, *, is_bound: bool) -> Any:
    ask = None if is_bound else partial(model.invoke, messages, config)
    return await answered_apart(ask, partial(model.ainvoke, messages, config))


def _check_takes_messages(model: Model) -> None:
    if is_decision_model(model):
        raise ConfigError(
            f"{type(model).__name__} is a decision model, which gives no text: write "
            "DecisionJudge(decisions=LangChainDecisions(model)), with DecisionJudge of ragmetrics_core.models"
        )
    try:
        taken: Any = model.InputType
    except TypeError:  # it does not say
        return
    if is_typeddict(taken) or (isinstance(taken, type) and issubclass(taken, BaseModel)):
        raise ConfigError(
            f"{type(model).__name__} takes {taken.__name__}, not messages: the judge is asked in words and "
            "replies in words, which a decision model or a graph cannot. Pass a chat model, or a decision "
            "model by its name: judge='decisions:MODEL'"
        )


def _unbound(model: Model) -> tuple[object, dict[str, Any]]:
    """The innermost model and all arguments bound around it."""
    bound: dict[str, Any] = {}
    while isinstance(model, RunnableBindingBase):
        bound = {**model.kwargs, **bound}
        model = model.bound
    return model, bound


def _uncached(model: Model) -> Model | None:
    """The same model without its cache, None if unknown."""
    if isinstance(model, BaseLanguageModel):
        return model if model.cache is False else model.model_copy(update={"cache": False})
    if isinstance(model, RunnableBindingBase):
        inner = _uncached(model.bound)
        return None if inner is None else model.model_copy(update={"bound": inner})
    return None


def _changed(model: Model, way: Way) -> Model:
    """The model without the settings that its server refused, bound or not."""
    if isinstance(model, RunnableBindingBase):
        return model.model_copy(
            update={"bound": _changed(model.bound, way), "kwargs": way.settings(model.kwargs)}
        )
    chat = cast(BaseChatModel, model)
    refused = {name: value for name, value in sampling_of(chat).items() if name in way.changed}
    changed = chat.model_copy(update=dict.fromkeys(refused))
    if "max_tokens" not in refused:
        return changed
    # a model that always sends the other name sends only the rest of the body as it is
    if type(chat).model_fields["max_tokens"].alias != "max_completion_tokens":
        return changed.bind(max_completion_tokens=refused["max_tokens"])
    extra: dict[str, Any] = getattr(model, "extra_body", None) or {}
    return changed.bind(extra_body={**extra, "max_tokens": refused["max_tokens"]})


def _held(model: Model, request: Generate[Any], way: Way) -> Any:
    """The model bound to the form of a reply, without LangChain's parser.

    Raises:
        ModelRefused: the model's class does not support it.
    """
    if isinstance(model, RunnableBindingBase):
        return model.model_copy(update={"bound": _held(model.bound, request, way)})
    schema = {**(way.schema(request) or request.schema or {}), "title": request.prompt.answer.__name__}
    form: dict[str, Any] = {"method": "json_mode"}
    if way.form != "json_object":
        form = {"method": "json_schema", "strict": way.form == "json_schema"}
    try:
        chain: Any = cast(BaseChatModel, model).with_structured_output(schema, **form)
        return chain.first
    except Exception as error:  # the boundary to the provider's code, which may know other ways only
        refusal = ModelRefused(f"{type(model).__name__} takes no schema: {error}")
    refusal.names = frozenset({"response_format"})
    raise refusal


def _completion(reply: Any, identity: str, held_to: str | None) -> Completion:
    """Convert a LangChain reply.

    Raises:
        ModelError: the reply is neither a message nor a text.
    """
    if isinstance(reply, str):  # a completion model, or a chat model followed by a parser
        return Completion(text=str(reply))
    if not isinstance(reply, BaseMessage):
        raise ModelError(f"{identity} replied with {type(reply).__name__}, neither a message nor a text")
    told, extra = reply.response_metadata, reply.additional_kwargs
    calls = [*getattr(reply, "tool_calls", ()), *getattr(reply, "invalid_tool_calls", ())]
    text, reason = said(
        reply.content,
        calls=[call["args"] for call in calls],
        refusal=extra.get("refusal"),
        reasoning=extra.get("reasoning_content") or extra.get("reasoning"),
        finish_reason=finish_reason(told, extra),
    )
    return Completion(
        text=text,
        model=str(told.get("model_name") or told.get("model") or ""),
        # a reply from a cache has a cost of 0 and no tokens
        usage=usage_of(getattr(reply, "usage_metadata", None)),
        finish_reason=reason,
        held_to=held_to,
    )
