"""What becomes of live scoring when a process forks and when it ends."""

import atexit
import os
import threading
from contextlib import suppress
from functools import cache
from typing import Protocol
from weakref import WeakSet

__all__ = ["Exiting", "Forkable", "finish_at_exit", "leave_to_parent", "renew_in_child"]


class Forkable(Protocol):
    """An object that does not survive a fork as it is."""

    def after_fork(self) -> None:
        """Begin anew; called in the child, before anything else runs there."""
        ...


class Exiting(Protocol):
    """Something that has work to finish."""

    def at_exit(self) -> None:
        """Finish it; may be called more than once."""
        ...


_FORKABLE: WeakSet[Forkable] = WeakSet()
_EXITING: WeakSet[Exiting] = WeakSet()
_INHERITED: list[object] = []


def renew_in_child(forkable: Forkable) -> None:
    """Call the object's `after_fork` in every forked child, as long as the object lives."""
    _FORKABLE.add(forkable)


def leave_to_parent(*inherited: object) -> None:
    """Never destroy these in a forked child: what they have open is shared with the parent."""
    _INHERITED.extend(inherited)


def finish_at_exit(exiting: Exiting) -> None:
    """Call the object's `at_exit` when the interpreter ends, if the object lives that long.

    A child that was forked before that has nothing to finish for it.
    """
    _EXITING.add(exiting)
    _finish_at_exit()


@cache
def _finish_at_exit() -> None:
    """Tell the interpreter, once.

    `atexit` alone is too late: executors have shut by then, and a judge may need one of the standard
    library's. Threading's own hooks run before, the last registered first: whoever has something to finish
    has threads, and with them the executors' hook is there already. They are too early, though, for
    what the host's other threads capture while the interpreter waits for them: the second call is for that.
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
