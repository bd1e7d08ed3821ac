"""A model around a model."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.protocol import Embedder, Generate, Judge, Narrow, Scorer, fixed_property

__all__ = ["Decider", "PromptChecker", "Wrapper", "decider", "decider_of", "unwrapped"]

Decider = Callable[[Generate[Any]], str | None]


@runtime_checkable
class PromptChecker(Protocol):
    """A judge that can answer only some prompts and checks them before a run."""

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` if one of the prompts cannot be answered."""
        ...


@dataclass(frozen=True)
class Wrapper:
    """A model around a model, with the same identity; other attributes come from the inner model.

    Attributes:
        inner: a judge, embedder or scorer, or a wrapper around one.

    Raises:
        ConfigError: `inner` is not a model.
    """

    inner: Judge | Embedder | Scorer

    def __post_init__(self) -> None:
        model = cast("object", self.inner)
        if isinstance(model, type) or not isinstance(model, Judge | Embedder | Scorer):
            given = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
            raise ConfigError(
                f"{type(self).__name__} wraps a judge, an embedder or a scorer, not {given}; "
                "as_judge makes a judge from a function or a name"
            )

    @fixed_property
    def identity(self) -> str:
        """The inner model's identity."""
        return self.inner.identity

    @property
    def concurrency(self) -> int:
        """The inner model's concurrency; `sys.maxsize` if it has none."""
        return self.inner.concurrency if isinstance(self.inner, Narrow) else sys.maxsize

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` if the inner judge cannot answer one of the prompts."""
        if isinstance(self.inner, PromptChecker):
            self.inner.check_prompts(names)

    if not TYPE_CHECKING:  # a type checker would take any attribute for granted

        def __getattr__(self, name: str) -> Any:
            """An attribute of the inner model; private ones stay private."""
            if name.startswith("_") or "inner" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return getattr(self.inner, name)


def unwrapped(model: object) -> object:
    """The model inside all wrappers, which determines whether they are a judge, an embedder or a scorer."""
    while isinstance(model, Wrapper):
        model = model.inner
    return model


def decider_of(judge: object) -> Decider | None:
    """Function that picks the sub-judge, for a judge made of several; None for any other judge."""
    found: Decider | None = getattr(unwrapped(judge), "decider", None)
    return found


def decider(judge: object, request: Generate[Any]) -> str | None:
    """Identity of the sub-judge that answers a request; None for a judge that is not made of several."""
    of = decider_of(judge)
    return of and of(request)
