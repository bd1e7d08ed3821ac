"""Finishing what is pending when the interpreter ends."""

import atexit
import threading
from contextlib import suppress
from importlib import import_module
from typing import Protocol
from weakref import WeakSet

__all__ = ["Exiting", "finish_at_exit", "forget_at_exit"]


class Exiting(Protocol):
    """Something that has work to finish."""

    def at_exit(self) -> None:
        """Finish it; may be called more than once."""
        ...


class _AtExit:
    """What is to be finished; the interpreter is told of it when the first one comes."""

    def __init__(self) -> None:
        self._objects: WeakSet[Exiting] = WeakSet()
        self._registered = False

    def add(self, each: Exiting) -> None:
        self._objects.add(each)
        if self._registered:
            return
        self._registered = True
        # `atexit` alone is too late: executors have shut by then, and a judge may need one of the standard
        # library's. Threading's own hooks run before, the last registered first, so the executors' module
        # must have registered its hook already. It is too early, though, for what the host's other threads
        # capture while the interpreter waits for them: the second call is for that.
        import_module("concurrent.futures.thread")

        register = getattr(threading, "_register_atexit", None)
        if register is not None:
            with suppress(RuntimeError):  # it shuts down already
                register(self._finish)
        atexit.register(self._finish)

    def remove(self, each: Exiting) -> None:
        self._objects.discard(each)

    def _finish(self) -> None:
        for each in list(self._objects):
            each.at_exit()


_REGISTRY = _AtExit()


def finish_at_exit(each: Exiting) -> None:
    """Call the object's `at_exit` when the interpreter ends, if the object lives that long."""
    _REGISTRY.add(each)


def forget_at_exit(each: Exiting) -> None:
    """Do not call it: in a forked child, where nothing of the parent's can be finished."""
    _REGISTRY.remove(each)
