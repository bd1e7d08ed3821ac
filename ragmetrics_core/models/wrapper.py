"""What the wrappers share: a model around a model, and state that belongs to an event loop."""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, runtime_checkable
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Narrow, Scorer, fixed_property

__all__ = ["Asked", "PerLoop", "PromptChecker", "Wrapper", "unwrapped"]

T = TypeVar("T")

# What a model is asked: a judge gets a request, an embedder texts, a scorer pairs of texts.
Asked = Generate[Any] | Sequence[str] | Sequence[tuple[str, str]]
A = TypeVar("A", bound=Asked)


@runtime_checkable
class PromptChecker(Protocol):
    """A judge that can only answer some prompts and says so before a run."""

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when one of the prompts cannot be answered."""
        ...


@dataclass(frozen=True)
class Wrapper:
    """A model around a model: the same identity, and one concern more.

    A wrapper of its own kind overrides `_around`, which every call of a judge, an embedder or a scorer goes
    through. What a wrapper does not have itself (`note`, `aclose`, another wrapper's counters) is the inner
    model's. Wrappers compose in any order.

    Attributes:
        inner: the judge, embedder or scorer that is asked, or a wrapper around one.

    Raises:
        ConfigError: `inner` is no model.
    """

    inner: Judge | Embedder | Scorer

    def __post_init__(self) -> None:
        model = cast("object", self.inner)
        if isinstance(model, type) or not isinstance(model, Judge | Embedder | Scorer):
            given = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
            raise ConfigError(
                f"{type(self).__name__} goes around a judge, an embedder or a scorer, not {given}; "
                "as_judge makes a judge of a function or a name"
            )

    @fixed_property
    def identity(self) -> str:
        """The inner model's."""
        return self.inner.identity

    @property
    def concurrency(self) -> int:
        """How many calls the inner model works on at a time; `sys.maxsize` when it does not say."""
        return self.inner.concurrency if isinstance(self.inner, Narrow) else sys.maxsize

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when the inner judge cannot answer one of the prompts."""
        if isinstance(self.inner, PromptChecker):
            self.inner.check_prompts(names)

    # These three are no coroutines themselves: each layer around a model then costs one, not two.

    def agenerate(self, request: Generate[Any]) -> Coroutine[Any, Any, Sequence[Completion]]:
        """Ask the inner judge."""
        return self._around(cast("Judge", self.inner).agenerate, request)

    def aembed(self, texts: Sequence[str]) -> Coroutine[Any, Any, NDArray[np.floating[Any]]]:
        """Ask the inner embedder."""
        return self._around(cast("Embedder", self.inner).aembed, texts)

    def arate(self, pairs: Sequence[tuple[str, str]]) -> Coroutine[Any, Any, Sequence[float]]:
        """Ask the inner scorer."""
        return self._around(cast("Scorer", self.inner).arate, pairs)

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        """Make the call; this is where a wrapper adds its concern."""
        return await call(asked)

    if not TYPE_CHECKING:  # a type checker would take any attribute for granted

        def __getattr__(self, name: str) -> Any:
            """An attribute of the inner model; private ones stay private."""
            if name.startswith("_") or "inner" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return getattr(self.inner, name)


def unwrapped(model: object) -> object:
    """The model inside all wrappers: what says whether they are a judge, an embedder or a scorer."""
    while isinstance(model, Wrapper):
        model = model.inner
    return model


class PerLoop(Generic[T]):
    """One object for each running event loop, made when a loop first asks for it.

    Futures and locks belong to the loop that made them; a model may be used from several loops.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._latest: tuple[Callable[[], asyncio.AbstractEventLoop | None], T] | None = None

    def __call__(self) -> T:
        """The running loop's object.

        Raises:
            RuntimeError: no loop is running.
        """
        loop = asyncio.get_running_loop()
        latest = self._latest
        if latest is not None and latest[0]() is loop:
            return latest[1]
        with self._lock:
            if loop not in self._of_loop:
                # An object that knows its loop keeps it alive, so weak keys alone would keep every loop.
                for each in [each for each in self._of_loop if each.is_closed()]:
                    del self._of_loop[each]
                self._of_loop[loop] = self._make()
            found = self._of_loop[loop]
        self._latest = (ref(loop), found)
        return found
