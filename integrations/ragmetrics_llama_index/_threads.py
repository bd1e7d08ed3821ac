"""Running asynchronous work to its end, for the interfaces of LlamaIndex that are synchronous."""

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["waited"]

T = TypeVar("T")


def waited(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work to its end, in a thread and on a loop of its own; works in a running loop too."""
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="ragmetrics-evaluate") as own:
        return own.submit(context.run, asyncio.run, work).result()
