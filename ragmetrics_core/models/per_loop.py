"""State that belongs to an event loop."""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, ref

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One object for each running event loop, made on first use.

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
                for closed in [known for known in self._of_loop if known.is_closed()]:
                    del self._of_loop[closed]
                self._of_loop[loop] = self._make()
            own = self._of_loop[loop]
        self._latest = (ref(loop), own)
        return own
