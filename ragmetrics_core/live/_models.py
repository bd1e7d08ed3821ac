"""The models of a live scorer: made on its own loop where asked for, and guarded."""

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.drivers import Calls, Models, wired
from ragmetrics_core.errors import ModelError, ModelRefused
from ragmetrics_core.models import CallableJudge, PromptChecker, Traffic, as_embedder, as_judge
from ragmetrics_core.models._cascade import decider
from ragmetrics_core.models._per_loop import PerLoop
from ragmetrics_core.models._redactor import Redactor
from ragmetrics_core.models._wrapper import unwrapped
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Narrow, TextFunction
from ragmetrics_core.redaction import Redact

__all__ = ["JudgeAtHome", "MadeEmbedder", "MadeJudge", "at_home", "calls_to"]

# What asyncio, and clients on top of it, say when an object of another loop is awaited.
_OTHER_LOOP = (
    "different loop",
    "different event loop",
    "event loop is closed",
    "timeout context manager should be used inside a task",
)


class _Guard(Redactor):
    """Takes care besides that no model harms its caller.

    A model that belongs to the application's event loop fails with what to do about it, and one that tries
    to end the interpreter fails like any other.
    """

    def error(self, error: BaseException) -> BaseException:
        model = unwrapped(self.model)
        kinds = {"judge": Judge, "embedder": Embedder}
        kind = next((name for name, protocol in kinds.items() if isinstance(model, protocol)), "scorer")
        if isinstance(error, SystemExit | KeyboardInterrupt):
            if threading.current_thread() is threading.main_thread():
                return error  # somebody pressed Ctrl-C during `ascore`
            return ModelError(f"the {kind} raised {type(error).__name__}")
        told = super().error(error)
        if not isinstance(told, RuntimeError) or not any(each in str(told).lower() for each in _OTHER_LOOP):
            return told
        instead = f"{kind}_factory=..., a function that makes one; it is called on the scorer's loop"
        if kind == "scorer":
            instead = "one that belongs to no loop"
        identity = cast("Judge", self.model).identity
        return ModelRefused(
            f"the {kind} {identity} belongs to another event loop than the one that scores: "
            f"pass {instead} ({told})"
        )


class MadeJudge:
    """A judge that is made on the loop that uses it, once for each loop.

    Args:
        make: gives a judge, a function or a name.
    """

    def __init__(self, make: Callable[[], Judge | TextFunction | str]) -> None:
        self._judge = PerLoop(lambda: as_judge(make()))

    @property
    def identity(self) -> str:
        """Of the judge that was made; known only on a running loop."""
        return self._judge().identity

    @property
    def concurrency(self) -> int:
        """How many calls it works on at a time."""
        judge = self._judge()
        return judge.concurrency if isinstance(judge, Narrow) else sys.maxsize

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when it cannot answer one of the prompts."""
        judge = self._judge()
        if isinstance(judge, PromptChecker):
            judge.check_prompts(names)

    def decider(self, request: Generate[Any]) -> str | None:
        """Who answers the request, where the judge is made of several."""
        return decider(self._judge(), request)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Ask the judge of the running loop."""
        return await self._judge().agenerate(request)


class JudgeAtHome:
    """An asynchronous function as judge, asked on the loop on which its scorer was made.

    Whatever client it uses belongs to that loop: on another one its own requests fail, and those of the
    application with them.

    Args:
        judge: the function as a judge.
        home: the loop.
    """

    def __init__(self, judge: CallableJudge, home: asyncio.AbstractEventLoop) -> None:
        self._judge = judge
        self._home = home

    @property
    def identity(self) -> str:
        """Of the function."""
        return self._judge.identity

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept, as the function's own judge says."""
        return self._judge.cacheable

    @property
    def is_here(self) -> bool:
        """Whether the running loop is the one that the function needs: who waits here holds it up."""
        return _running_loop() is self._home

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Ask on the function's own loop.

        Raises:
            ModelRefused: that loop has ended.
        """
        if self.is_here:
            return await self._judge.agenerate(request)
        asking = self._judge.agenerate(request)
        try:
            asked = asyncio.run_coroutine_threadsafe(asking, self._home)
        except RuntimeError as error:
            asking.close()
            raise ModelRefused(
                f"the judge {self.identity} runs on the application's event loop, which has ended: close the "
                "scorer before (`await live.aclose()`)"
            ) from error
        return await asyncio.wrap_future(asked)


def at_home(judge: Judge | TextFunction | str | None) -> Judge | TextFunction | str | None:
    """The judge, on the running loop where it is an asynchronous function and there is one."""
    home = _running_loop()
    if home is None or isinstance(judge, str | type) or judge is None:
        return judge
    made = judge if isinstance(judge, CallableJudge) else None
    if made is None and (isinstance(judge, Judge) or not callable(judge)):
        return judge
    function = made.function if made is not None else judge
    is_asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  an object with an asynchronous __call__
    )
    if not is_asynchronous:
        return judge
    wrapped = as_judge(judge)
    return JudgeAtHome(wrapped, home) if isinstance(wrapped, CallableJudge) else judge


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class MadeEmbedder:
    """An embedder that is made on the loop that uses it, once for each loop.

    Args:
        make: gives an embedder or a name.
    """

    def __init__(self, make: Callable[[], Embedder | str]) -> None:
        self._embedder = PerLoop(lambda: as_embedder(make()))

    @property
    def identity(self) -> str:
        """Of the embedder that was made; known only on a running loop."""
        return self._embedder().identity

    @property
    def concurrency(self) -> int:
        """How many calls it works on at a time."""
        embedder = self._embedder()
        return embedder.concurrency if isinstance(embedder, Narrow) else sys.maxsize

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Ask the embedder of the running loop."""
        return await self._embedder().aembed(texts)


def calls_to(models: Models, traffic: Traffic, redact: Redact | None) -> Calls:
    """Calls to the models, by lines as in a run, but for the journal.

    A journal, even in memory, would keep every reply of an application that runs for months.
    """
    return wired(models, traffic, None, redact=redact, redactor=_Guard, ends_when_refused=False)
