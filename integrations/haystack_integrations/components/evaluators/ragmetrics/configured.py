"""Common parts of all components: metrics as JSON, two models inside, and a round trip through YAML."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from inspect import isawaitable, signature
from typing import Any, Self, TypeVar

from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from haystack.core.serialization import component_to_dict, default_from_dict, default_to_dict

# pyright: reportUnknownVariableType=false
# Haystack does not say what the functions take that it writes down by name.
from haystack.utils import deserialize_callable, deserialize_chatgenerator_inplace, serialize_callable
from ragmetrics_core import Embedder, Judge, as_judge
from ragmetrics_core.boundary import Redact, is_series, refuse_unknown
from ragmetrics_core.metrics import models_needed
from ragmetrics_core.models import as_embedder, missing_model
from ragmetrics_core.runs import with_prompts

from haystack_integrations.components.evaluators.ragmetrics.embedder import HaystackEmbedder
from haystack_integrations.components.evaluators.ragmetrics.judge import HaystackJudge
from haystack_integrations.components.evaluators.ragmetrics.kinds import check_model
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, metrics_of, plain
from haystack_integrations.components.evaluators.ragmetrics.trust import check_trusted

__all__ = ["Configured"]

M = TypeVar("M")

_NESTED = ("chat_generator", "text_embedder")
# Functions of a module, which YAML has by name; `references` may be a mapping, `sinks` are several functions.
_FUNCTIONS = ("redact", "on_result", "references", "sinks")


class Configured:
    """Parameters stored under their own names, so that they can be saved, and the models inside."""

    chat_generator: ChatGenerator | str | None
    text_embedder: TextEmbedder | str | None
    scorer: str | None = None
    metrics: Any
    prompts: str | None
    redact: Redact | None

    def _configure(
        self,
        metrics: MetricSettings,
        chat_generator: ChatGenerator | str | None,
        text_embedder: TextEmbedder | str | None,
        settings: Mapping[str, Any],
        defaults: Mapping[str, Any],
    ) -> None:
        """
        Store each setting under its own name, make the metrics and check that their models are there.

        :raises ConfigError: A metric or prompt does not exist, a model is missing, or the name of a model
            holds a password, which would be saved.
        :raises TypeError: A setting does not exist.
        """
        refuse_unknown(settings, *defaults)
        for name, default in defaults.items():
            setattr(self, name, plain(settings.get(name, default)))
        self.metrics = plain(metrics)
        chosen = metrics_of(metrics)
        if self.prompts is not None:
            chosen = with_prompts(chosen, self.prompts)
        check_model("chat_generator", chat_generator)
        check_model("text_embedder", text_embedder)
        needed = {name: metric.name for metric in reversed(chosen) for name in models_needed(metric)}
        if chat_generator is None and "judge" in needed:
            chat_generator = self._default_judge()
        ways = {
            "judge": (chat_generator, "chat_generator=..., a chat generator or a name,"),
            "embedder": (text_embedder, "text_embedder=..., an embedder or a name,"),
            "scorer": (self.scorer, "scorer=..., which Haystack has no component for,"),
        }
        for kind, (given, option) in ways.items():
            if kind in needed and given is None:
                raise missing_model(kind, needed[kind], option)
        self.chat_generator = chat_generator
        self.text_embedder = text_embedder
        self._named: dict[str, Any] = {}
        self._metrics = chosen
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the component; overridden by each kind of component."""
        raise NotImplementedError

    def _default_judge(self) -> ChatGenerator | None:
        """The default judge, or None."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize the component with all its parameters and the components inside.

        :returns: The dictionary that `from_dict` takes.
        """
        names = [name for name in signature(type(self).__init__).parameters if name != "self"]
        return default_to_dict(self, **{name: _saved(name, getattr(self, name)) for name in names})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """
        Make the component from its dictionary.

        :param data: The result of `to_dict`; it is not changed.
        :returns: The component.
        :raises DeserializationError: It would use a folder or a server that this process does not allow.
        """
        parameters = plain(data.get("init_parameters", {}))
        check_trusted(parameters)
        for name in _NESTED:
            if isinstance(parameters.get(name), Mapping):
                deserialize_chatgenerator_inplace(parameters, key=name)
        for name in _FUNCTIONS:
            if name in parameters:
                parameters[name] = _found(parameters[name])
        return default_from_dict(cls, {**data, "init_parameters": parameters})

    def _judge(self, *, asynchronous: bool = False, executor: Executor | None = None) -> Judge | None:
        """The judge made from the chat generator or the name, or None if no metric needs one."""
        if isinstance(self.chat_generator, str):
            return self._once(as_judge, self.chat_generator)
        if self.chat_generator is None:
            return None
        return HaystackJudge(self.chat_generator, asynchronous=asynchronous, executor=executor)

    def _embedder(
        self, *, parallel: int, asynchronous: bool = False, executor: Executor | None = None
    ) -> Embedder | None:
        """The embedder made from the text embedder or the name."""
        if isinstance(self.text_embedder, str):
            return self._once(as_embedder, self.text_embedder)
        if self.text_embedder is None:
            return None
        return HaystackEmbedder(self.text_embedder, parallel=parallel, asynchronous=asynchronous, executor=executor)

    def _once(self, make: Callable[[str], M], name: str) -> M:
        """The model with this name, always the same object."""
        if make.__name__ not in self._named:
            self._named[make.__name__] = make(name)
        model: M = self._named[make.__name__]
        return model

    def warm_up(self) -> None:
        """Warm up the chat generator and the text embedder."""
        list(self._called("warm_up"))

    async def warm_up_async(self) -> None:
        """Warm up the chat generator and the text embedder on the event loop that will use them."""
        for done in self._called("warm_up_async", "warm_up"):
            if isawaitable(done):
                await done

    def _release(self) -> None:
        """Close the chat generator and the text embedder."""
        list(self._called("close"))

    async def _release_async(self) -> None:
        """Close them on the event loop."""
        for done in self._called("close_async", "close"):
            if isawaitable(done):
                await done

    def _called(self, *methods: str) -> Iterator[Any]:
        """Results of the first of these methods that exists, for each component inside."""
        for model in (self.chat_generator, self.text_embedder):
            known = [method for name in methods if (method := getattr(model, name, None)) is not None]
            if known:
                yield known[0]()


def _saved(name: str, value: Any) -> Any:
    if name in _NESTED and hasattr(value, "run"):
        return component_to_dict(value, name)
    if callable(value):
        return serialize_callable(value)
    return [_saved(name, each) for each in value] if is_series(value) else plain(value)


def _found(value: Any) -> Any:
    """The functions that a parameter names; other values are returned unchanged."""
    if isinstance(value, str):
        return deserialize_callable(value)
    return [_found(each) for each in value] if is_series(value) else value
