"""Asking a framework's synchronous interface from an event loop, in threads.

A client with an asynchronous interface keeps connections that belong to one event loop, and frameworks share
one such client among all models of a process. Asked from a second loop, the application's own requests fail.
The synchronous interface of the same model belongs to no loop: that is the one to ask.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from ragmetrics_core.adapting._judging import is_judging
from ragmetrics_core.errors import ModelError

__all__ = ["Pool", "harmless", "in_own_thread", "in_thread", "lend"]

P = ParamSpec("P")
T = TypeVar("T")


class Pool(Protocol):
    """Threads that an event loop has for calls that block."""

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Call the function in one of the threads."""
        ...

    @property
    def is_stuck(self) -> bool:
        """Whether so many calls did not return in their time that no thread can be spared for another one."""
        ...

    def leave_behind(self, future: "Future[Any]") -> None:
        """Do without the thread of a call that nobody waits for any more, until the call returns."""
        ...


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()


def lend(loop: asyncio.AbstractEventLoop, pool: Pool) -> None:
    """Have all calls of `in_thread` on this loop made in these threads."""
    _POOLS[loop] = pool


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a thread and wait for it without blocking the running loop.

    On the loop of a live scorer the call runs in one of the scorer's own threads, which also work while the
    interpreter shuts down; on any other loop it gets a thread of its own. How many run side by side is the
    caller's: a driver lets `concurrency` calls of a model be in flight.

    The function sees none of the application's context variables: with them its tracers would take our calls
    for the application's. `in_thread(copy_context().run, function)` hands them over where that is wanted.

    A call in a thread cannot be stopped. When its waiter is cancelled, or its time runs out, a call that has
    not begun never begins; one that has begun goes on until it returns by itself, and what it returns is
    thrown away. A live scorer replaces the thread meanwhile, up to as many as it has.

    Raises:
        ModelError: as many calls as the live scorer has threads did not return in their time and still run.
        Exception: whatever the function raises; `StopIteration` and `SystemExit` as `RuntimeError`.
    """
    context = copy_context() if is_judging() else Context()
    pool = _POOLS.get(asyncio.get_running_loop())
    if pool is not None and pool.is_stuck:
        raise ModelError(
            "too many calls that did not answer in their time still run; none can be made beside them"
        )
    submit = in_own_thread if pool is None else pool.submit
    future: Future[T] = submit(context.run, function, *args, **kwargs)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if pool is not None and future.running():
            pool.leave_behind(future)
        raise


def harmless(error: BaseException) -> Exception:
    """The error, as long as an event loop outlives it.

    A loop ends when it awaits something that raises `SystemExit`, and awaits `StopIteration` for ever.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    replaced = RuntimeError(f"{type(error).__name__} was raised: {error}")
    replaced.__cause__ = error
    return replaced


def in_own_thread(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
    """Call a function in a new thread; who waits may stop to wait, and the call goes on until it returns."""
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
