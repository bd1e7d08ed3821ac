"""Running asynchronous work from anywhere, on a separate event loop."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ragmetrics_core.boundary.keywords import checked

__all__ = ["on_own_loop", "synchronous"]

P = ParamSpec("P")
T = TypeVar("T")


def synchronous(work: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """Make a synchronous function from an asynchronous one, such as `evaluate` from `aevaluate`.

    It works in a script, in a thread and inside a running event loop, because it uses a separate loop.
    """

    @wraps(work)
    def waited(*args: P.args, **kwargs: P.kwargs) -> T:
        return on_own_loop(work(*args, **kwargs))

    waited.__name__ = work.__name__.removeprefix("a")
    waited.__qualname__ = work.__qualname__.removeprefix("a")
    return checked(waited)


def on_own_loop(work: Awaitable[T]) -> T:
    """Run an awaitable to its end on a new loop in a new thread; Ctrl-C cancels it."""
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def main() -> T:
        running.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="ragmetrics-evaluate") as threads:
        result = threads.submit(contextvars.copy_context().run, asyncio.run, main())
        try:
            return result.result()
        except KeyboardInterrupt:
            loop, task = running.result()
            with suppress(RuntimeError):  # the loop may have ended by itself just now
                if task is not None:
                    loop.call_soon_threadsafe(task.cancel)
            raise
