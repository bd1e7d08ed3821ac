"""Calling models that only have a synchronous body, without blocking the event loop."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from ragmetrics_core.live import is_judging

__all__ = ["defining_class", "in_thread", "waited"]

T = TypeVar("T")


async def in_thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call a function in a thread and wait for it.

    Elsewhere than in live scoring the call gets a thread of its own: a loop's default pool has a handful of
    threads on a small machine, which would quietly bound how many calls run side by side. A live scorer has
    threads of its own for its calls, which also work while the interpreter shuts down.
    """
    if is_judging():
        return await asyncio.to_thread(function, *args, **kwargs)
    result: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            found = context.run(function, *args, **kwargs)
        except BaseException as error:  # everything is the caller's: the future hands it over
            with suppress(Exception):  # nobody waits any more
                result.set_exception(error)
        else:
            with suppress(Exception):
                result.set_result(found)

    threading.Thread(target=run, name="ragmetrics-llama-index", daemon=True).start()
    return await asyncio.wrap_future(result)


def defining_class(model: object, method: str) -> type:
    """The class that gives an object one of its methods."""
    return next(each for each in type(model).__mro__ if method in each.__dict__)


def waited(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work to its end, in a thread and on a loop of its own; works in a running loop too."""
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="ragmetrics-evaluate") as own:
        return own.submit(context.run, asyncio.run, work).result()
