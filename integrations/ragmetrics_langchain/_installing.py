"""One handler for all LangChain calls of the process."""

import threading
from contextvars import ContextVar
from typing import Any, Self, cast

from langchain_core.callbacks import BaseCallbackHandler

from ragmetrics_core.live import is_judging

__all__ = ["Installed", "install"]


class _Slot:
    """An object in the role of a context variable, from which LangChain reads a handler at every call.

    A context variable would apply only to the calling thread and its tasks, but servers use others.
    """

    def __init__(self) -> None:
        self.handler: BaseCallbackHandler | None = None

    def get(self) -> BaseCallbackHandler | None:
        """The handler; None inside our own judging."""
        return None if is_judging() else self.handler


# LangChain's list of hooks only grows, so a slot that is free again is used again.
_SLOTS: list[_Slot] = []
_LOCK = threading.Lock()


class Installed:
    """An attached handler; `uninstall` or leaving a `with` block detaches it.

    Args:
        slot: the slot of the handler.
    """

    def __init__(self, slot: _Slot) -> None:
        self._slot: _Slot | None = slot

    def uninstall(self) -> None:
        """Detach the handler; runs that have started keep it."""
        with _LOCK:
            if self._slot is not None:
                self._slot.handler = None
                self._slot = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.uninstall()


def install(handler: BaseCallbackHandler) -> Installed:
    """Attach a handler to every Runnable of the process, in all threads and event loops.

    A call that already has the handler does not get it twice.

    Args:
        handler: usually a `RagMetricsCallbackHandler`.
    """
    # with it comes LangSmith's client, which only a call of LangChain's needs
    from langchain_core.tracers.context import register_configure_hook

    with _LOCK:
        slot = next((free for free in _SLOTS if free.handler is None), None)
        if slot is None:
            slot = _Slot()
            _SLOTS.append(slot)
            register_configure_hook(cast("ContextVar[Any]", slot), inheritable=True)
        slot.handler = handler
    return Installed(slot)
