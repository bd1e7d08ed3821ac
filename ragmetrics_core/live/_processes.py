"""Live scoring when a process forks or exits."""

import atexit
import os
import threading
from contextlib import suppress
from functools import cache
from typing import Protocol
from weakref import WeakSet

__all__ = ["Exiting", "Forkable", "finish_at_exit", "leave_to_parent", "renew_in_child"]


class Forkable(Protocol):
    """An object that must be reset after a fork."""

    def after_fork(self) -> None:
        """Reset the object; called in the child before anything else runs there."""
        ...


class Exiting(Protocol):
    """An object with work to finish at exit."""

    def at_exit(self) -> None:
        """Finish the work; may be called more than once."""
        ...


_FORKABLE: WeakSet[Forkable] = WeakSet()
_EXITING: WeakSet[Exiting] = WeakSet()
_INHERITED: list[object] = []


def renew_in_child(forkable: Forkable) -> None:
    """Call the object's `after_fork` in every forked child, as long as the object exists."""
    _FORKABLE.add(forkable)


def leave_to_parent(*inherited: object) -> None:
    """Never destroy these in a forked child, because their open resources are shared with the parent."""
    _INHERITED.extend(inherited)


def finish_at_exit(exiting: Exiting) -> None:
    """Call the object's `at_exit` when the interpreter exits, if the object still exists.

    Forked children do not call it.
    """
    _EXITING.add(exiting)
    _finish_at_exit()


@cache
def _finish_at_exit() -> None:
    """Register the exit hooks, once.

    `atexit` alone is too late: executors have shut down by then, and a judge may need one. Threading's hooks
    run earlier, last registered first, so before the executors' hook. But they are too early for captures by
    the host's other threads while the interpreter waits for them; the second call handles those.
    """
    with suppress(AttributeError, RuntimeError):  # it shuts down already
        getattr(threading, "_register_atexit")(_finish)  # noqa: B009  private
    atexit.register(_finish)


def _finish() -> None:
    for exiting in list(_EXITING):
        exiting.at_exit()


def _renew() -> None:
    _EXITING.clear()
    for forkable in list(_FORKABLE):
        forkable.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
