"""Running asynchronous work from anywhere, on an event loop of its own."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["on_own_loop", "synchronous"]

P = ParamSpec("P")
T = TypeVar("T")


def synchronous(work: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """What is awaited, for callers that wait for it, as `evaluate` is made of `aevaluate`.

    It works in a script, in a thread and inside a running event loop: the work has a loop of its own.
    """

    @wraps(work)
    def waited(*args: P.args, **kwargs: P.kwargs) -> T:
        return on_own_loop(work(*args, **kwargs))

    waited.__name__ = work.__name__.removeprefix("a")
    waited.__qualname__ = work.__qualname__.removeprefix("a")
    return waited


def on_own_loop(work: Awaitable[T]) -> T:
    """Run what can be awaited to its end on a loop of its own, in a thread of its own; Ctrl-C cancels it."""
    result: Future[T] = Future()
    started = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def main() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        started.set()
        return await work

    def run() -> None:
        try:
            result.set_result(asyncio.run(main()))
        except BaseException as error:  # everything is the caller's: it is raised again by `result()` below
            result.set_exception(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="ragmetrics-evaluate")
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        started.wait()
        loop, task = running[0]
        with suppress(RuntimeError):  # the loop may have ended by itself just now
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
