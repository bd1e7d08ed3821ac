"""What a forked child makes anew: locks that another thread may have held, threads that are gone."""

import os
from typing import Protocol
from weakref import WeakSet

__all__ = ["Forkable", "renew_in_child"]


class Forkable(Protocol):
    """An object that does not survive a fork as it is."""

    def after_fork(self) -> None:
        """Begin anew; called in the child, before anything else runs there."""
        ...


class _AfterFork:
    """The objects to renew; the interpreter is told of it when the first one comes."""

    def __init__(self) -> None:
        self._objects: WeakSet[Forkable] = WeakSet()
        self._registered = False

    def add(self, each: Forkable) -> None:
        self._objects.add(each)
        if not self._registered and hasattr(os, "register_at_fork"):
            self._registered = True
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        for each in list(self._objects):
            each.after_fork()


_REGISTRY = _AfterFork()


def renew_in_child(each: Forkable) -> None:
    """Call the object's `after_fork` in every forked child, as long as the object lives."""
    _REGISTRY.add(each)
