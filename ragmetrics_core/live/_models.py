"""The models of a live scorer: made on its loop if a factory is given, and guarded."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import (
    AccessRefused,
    BudgetSpent,
    ConfigError,
    ModelError,
    ModelRefused,
    TransientModelError,
)
from ragmetrics_core.live._breaker import Breaker
from ragmetrics_core.models import CallableJudge, as_judge
from ragmetrics_core.models.per_loop import PerLoop
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.models.wrapper import Wrapper, unwrapped
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, TextFunction

__all__ = ["Guard", "Made", "at_home", "chosen", "running_loop"]

# What asyncio, and clients on top of it, say when an object of another loop is awaited.
_OTHER_LOOP = (
    "different loop",
    "different event loop",
    "event loop is closed",
    "timeout context manager should be used inside a task",
)


@dataclass(frozen=True)
class Guard(Redactor):
    """A line to a model that also protects the scorer from the model.

    A model that belongs to the application's event loop fails with a message that says what to do, and a
    model that tries to exit the interpreter fails like any other.

    Attributes:
        breaker: hears of each answered and each failed attempt of the judge. While it is open, no call is
            tried again.
    """

    breaker: Breaker | None = None

    def replies(self, replies: Sequence[Completion]) -> Sequence[Completion]:
        if self.breaker is not None:
            self.breaker.succeeded()
        return super().replies(replies)

    def error(self, error: BaseException) -> BaseException:
        failure = self._explained(error)
        is_of_request = isinstance(failure, ModelRefused) and not isinstance(failure, AccessRefused)
        if (
            self.breaker is None
            or not isinstance(failure, Exception)
            or not isinstance(unwrapped(self.model), Judge)
        ):
            return failure
        if is_of_request or isinstance(failure, BudgetSpent):
            return failure
        self.breaker.failed(str(failure) or type(failure).__name__)
        is_last = self.breaker.is_open and isinstance(failure, TransientModelError)
        return ModelError(f"{failure}; not tried again, because the judge is down") if is_last else failure

    def _explained(self, error: BaseException) -> BaseException:
        model = unwrapped(self.model)
        kinds = {"judge": Judge, "embedder": Embedder}
        kind = next((name for name, protocol in kinds.items() if isinstance(model, protocol)), "scorer")
        if isinstance(error, SystemExit | KeyboardInterrupt):
            if threading.current_thread() is threading.main_thread():
                return error  # somebody pressed Ctrl-C during `ascore`
            return ModelError(f"the {kind} raised {type(error).__name__}")
        clean = super().error(error)
        if not isinstance(clean, RuntimeError) or not any(map(str(clean).lower().count, _OTHER_LOOP)):
            return clean
        instead = f"{kind}_factory=..., a function that makes one; it is called on the scorer's loop"
        if kind == "scorer":
            instead = "one that belongs to no loop"
        return ModelRefused(
            f"the {kind} {cast('Judge', self.model).identity} belongs to another event loop than the one "
            f"that scores: pass {instead} ({clean})"
        )


class Made(Wrapper):
    """A judge or an embedder that is made once for each loop that uses it.

    Args:
        make: returns the model.
    """

    make: PerLoop[Any]

    def __init__(self, make: Callable[[], Judge | Embedder]) -> None:
        object.__setattr__(self, "make", PerLoop(make))

    if not TYPE_CHECKING:  # a property is no field to a type checker

        @property
        def inner(self) -> Judge | Embedder:
            """The running loop's model."""
            return self.make()

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Ask the running loop's judge."""
        return await cast("Judge", self.inner).agenerate(request)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Ask the running loop's embedder."""
        return await cast("Embedder", self.inner).aembed(texts)


def chosen(
    name: str, model: object, make: Callable[[], Any] | None, as_model: Callable[[Any], Judge | Embedder]
) -> object:
    """The model, or one made by a factory.

    Raises:
        ConfigError: both are given.
    """
    if make is None:
        return model
    if model is not None:
        raise ConfigError(f"pass {name}=... or {name}_factory=..., not both")
    return Made(lambda: as_model(make()))


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The running event loop, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def at_home(
    judge: Judge | TextFunction | str | None,
) -> tuple[Judge | None, asyncio.AbstractEventLoop | None]:
    """The judge and, if it is an asynchronous function and a loop is running here, that loop.

    The function is then called on this loop, to which its client belongs; on another loop the client's
    requests fail, including the application's. Blocking this loop blocks the judge.
    """
    made, home = None if judge is None else as_judge(judge), running_loop()
    if isinstance(made, Wrapper):
        inner, of_inner = at_home(cast("Judge", made.inner))
        return (made if of_inner is None else replace(made, inner=inner)), of_inner
    if home is None or not isinstance(made, CallableJudge) or not made.is_asynchronous:
        return made, None
    function, identity = made.function, made.identity

    async def asked(text: str) -> str:
        asking = cast("Coroutine[Any, Any, str]", function(text))
        if running_loop() is home:
            return await asking
        try:
            answer = asyncio.run_coroutine_threadsafe(asking, home)
        except RuntimeError as error:
            asking.close()
            raise ModelRefused(
                f"the judge {identity} runs on the application's event loop, which has ended: close the "
                "scorer before (`await live.aclose()`)"
            ) from error
        return await asyncio.wrap_future(answer)

    return replace(made, function=asked), home
