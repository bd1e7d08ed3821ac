"""Calls of LangChain models, separate from the application's context and event loops; errors and names."""

# langsmith leaves the types of what it takes and gives open; langchain those of models inside models.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import Context, copy_context
from functools import cached_property
from typing import Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import LLM, BaseChatModel, BaseLLM, SimpleChatModel
from langchain_core.runnables import (
    Runnable,
    RunnableGenerator,
    RunnableLambda,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase

from ragmetrics_core.adapting import ForeignName, can_only_raise, in_thread, is_judging
from ragmetrics_core.errors import ConfigError, ModelError, ModelRefused
from ragmetrics_core.models import foreign_name, model_error, settings_digest

__all__ = [
    "JUDGE_TAG",
    "ModelPerLoop",
    "answered_apart",
    "as_model_error",
    "is_asynchronous_only",
    "name_of",
]

# Marks the runs of judges, so that a handler which sees one leaves it alone.
JUDGE_TAG = "ragmetrics:judge"

T = TypeVar("T")

# What changes a model's replies or vectors, by the names that the providers' classes use.
_SETTINGS = (
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "num_predict",
    "reasoning_effort",
    "dimensions",
)
_ADDRESSES = ("base_url", "openai_api_base", "azure_endpoint", "endpoint_url")
_MODELS = ("model", "model_name", "model_id", "deployment_name", "deployment")


async def answered_apart(ask: Callable[[], T] | None, aask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Ask a model in a context without the application's variables.

    The application's handlers, LangSmith parent run and spans are context variables: with them a judge's
    calls would be traced and evaluated as the application's. A context that the scorer has already emptied is
    kept.

    Args:
        ask: asks through the synchronous interface, in a thread. A provider's asynchronous client often
            serves the whole process and belongs to the application's loop.
        aask: asks on the running loop; for models without a synchronous interface, if `ask` is None.
    """
    if ask is not None:
        return await in_thread(_untraced, ask)
    context = copy_context() if is_judging() else Context()
    return await asyncio.get_running_loop().create_task(_auntraced(aask), context=context)


def _untraced(ask: Callable[[], T]) -> T:
    # Tracing may also be switched on for the whole process, by the environment.
    from langsmith.run_helpers import tracing_context

    with tracing_context(enabled=False):
        return ask()


async def _auntraced(aask: Callable[[], Awaitable[T]]) -> T:
    from langsmith.run_helpers import tracing_context

    with tracing_context(enabled=False):
        return await aask()


def is_asynchronous_only(model: Any) -> bool:
    """Whether a model, or one inside it, lacks a synchronous interface.

    Detected by a function without a synchronous side, and by methods that only raise.
    """
    match model:
        case RunnableBindingBase():
            return is_asynchronous_only(model.bound)
        case RunnableSequence():
            return any(map(is_asynchronous_only, model.steps))
        case RunnableWithFallbacks():
            return any(map(is_asynchronous_only, model.runnables))
        case RunnableLambda():
            return not hasattr(model, "func")
        case RunnableGenerator():
            return not hasattr(model, "_transform")
        case SimpleChatModel() | LLM():
            return can_only_raise(model, "_generate") or can_only_raise(model, "_call")
        case BaseChatModel() | BaseLLM():
            return can_only_raise(model, "_generate")
        case Embeddings():
            return can_only_raise(model, "embed_documents")
        case Runnable() if hasattr(model, "_classify"):
            return can_only_raise(model, "_classify")
        case Runnable():
            return can_only_raise(model, "invoke")
        case _:
            return False


class ModelPerLoop(Generic[T]):
    """An object, or a function that makes one for each event loop that uses it.

    A client's connections belong to the loop in which it was made.

    Args:
        given: the object, or the function.
        kind: the class of the object.
        check: raises for an invalid object.

    Raises:
        ConfigError: `given` is invalid.
    """

    def __init__(
        self, given: T | Callable[[], T], kind: type[Any], *, check: Callable[[T], None] = lambda _: None
    ) -> None:
        is_object = isinstance(given, kind)
        if not is_object and (isinstance(given, type) or not callable(given)):
            name = given.__name__ if isinstance(given, type) else type(given).__name__
            raise ConfigError(
                f"expected {kind.__name__} of LangChain or a function that makes one, not {name}"
            )
        self._factory = cast("Callable[[], T]", (lambda: given) if is_object else given)
        self._check = check
        if is_object:
            _ = self.first
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._is_first_free = True

    @cached_property
    def first(self) -> T:
        """The object, or the first one that the function made."""
        return self._make()

    def _make(self) -> T:
        made = self._factory()
        self._check(made)
        return made

    def here(self) -> T:
        """The object for the running event loop; the first loop gets the first one."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self.first if self._is_first_free else self._make()
            self._is_first_free = False
        return self._made[loop]


def as_model_error(error: Exception, identity: str, model: object) -> ModelError:
    """Translate a provider's exception; with advice if the client belongs to a different event loop."""
    told = model_error(error, model, identity=identity)
    # the cause, too: clients pass a foreign loop off as a lost connection
    reasons = [reason for reason in (error, error.__cause__) if isinstance(reason, RuntimeError)]
    if any("event loop" in str(reason).lower() for reason in reasons):
        return ModelRefused(
            f"{told}. The model's client belongs to another event loop: "
            "pass a function that makes the model, e.g. LangChainJudge(lambda: ChatOpenAI(...))"
        )
    return told


def name_of(model: object, bound: Mapping[str, Any]) -> ForeignName:
    """Provider's class, model, server and settings of a LangChain model, unusual ones as a digest.

    Args:
        model: the model without its bindings.
        bound: arguments bound to it.
    """
    named = _first_text(bound, model, _MODELS)
    server = _first_text(bound, model, _ADDRESSES)
    own = {name: getattr(model, name, None) for name in _SETTINGS}
    settings: dict[str, object] = {
        name: value for name, value in own.items() if isinstance(value, str | int | float)
    }
    settings |= {name: value for name, value in bound.items() if name not in _MODELS and value != server}
    shown = [name for name in _MODELS + _ADDRESSES if getattr(model, name, None) in (named, server)]
    digest = settings_digest(model, shown={*settings, *shown})
    return foreign_name(
        "langchain",
        model,
        called=named,
        server=server,
        settings=settings,
        digest=digest._replace(is_complete=digest.is_complete and named is not None),
    )


def _first_text(bound: Mapping[str, Any], model: object, names: tuple[str, ...]) -> str | None:
    values = (bound.get(name, getattr(model, name, None)) for name in names)
    return next((value for value in values if isinstance(value, str) and value), None)
