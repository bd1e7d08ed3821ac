"""Calls of a framework's synchronous interface from an event loop, in threads.

An asynchronous client's connections belong to one event loop, and frameworks share one client among all
models of a process. A call from a second loop makes the application's own requests fail. The synchronous
interface of the same model does not belong to a loop and is therefore used.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from ragmetrics_core.adapting.judging import is_judging
from ragmetrics_core.errors import ModelError

__all__ = ["Pool", "harmless", "in_own_thread", "in_thread", "lend"]

P = ParamSpec("P")
T = TypeVar("T")


class Pool(Protocol):
    """Threads of an event loop for blocking calls."""

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Call the function in one of the threads."""
        ...

    @property
    def is_stuck(self) -> bool:
        """Whether too many calls hang to replace another thread."""
        ...

    def leave_behind(self, future: "Future[Any]") -> None:
        """Replace the thread of a call that nobody waits for, until the call returns."""
        ...


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()


def lend(loop: asyncio.AbstractEventLoop, pool: Pool) -> None:
    """Make all `in_thread` calls on this loop use these threads."""
    _POOLS[loop] = pool


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread and wait for it without blocking the running loop.

    On a live scorer's loop the call runs in one of the scorer's threads, which also work while the
    interpreter shuts down; on any other loop it gets a new thread. The caller limits the number of parallel
    calls: a driver allows `concurrency` calls of a model.

    The function does not see the application's context variables; otherwise its tracers would report our
    calls as its own. Use `in_thread(copy_context().run, function)` to pass them.

    A call in a thread cannot be stopped. On cancellation or timeout, a call that has not started never
    starts; one that has started runs to its end, and its result is discarded. Meanwhile a live scorer
    replaces the thread, at most as often as it has threads.

    Raises:
        ModelError: timed-out calls block all threads of the live scorer.
        Exception: any error of the function; `StopIteration` and `SystemExit` as `RuntimeError`.
    """
    context = copy_context() if is_judging() else Context()
    pool = _POOLS.get(asyncio.get_running_loop())
    if pool is not None and pool.is_stuck:
        raise ModelError("too many timed-out calls are still running; no new call can start")
    submit = in_own_thread if pool is None else pool.submit
    future: Future[T] = submit(context.run, function, *args, **kwargs)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if pool is not None and future.running():
            pool.leave_behind(future)
        raise


def harmless(error: BaseException) -> Exception:
    """The error, replaced if an event loop would not survive it.

    A loop ends when an awaitable raises `SystemExit`, and waits forever on `StopIteration`.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    replaced = RuntimeError(f"{type(error).__name__} was raised: {error}")
    replaced.__cause__ = error
    return replaced


def in_own_thread(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
    """Call a function in a new thread; if the waiter stops waiting, the call still runs to its end."""
    # A loop's default pool has a handful of threads on a small machine, and belongs to the application.
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = function(*args, **kwargs)
        except BaseException as error:  # everything is the caller's: the future hands it over
            with suppress(asyncio.InvalidStateError):
                future.set_exception(harmless(error))
        else:
            future.set_result(result)

    threading.Thread(target=run, name="ragmetrics-call", daemon=True).start()
    return future
