"""Calls inside a call of a model or a tool, collected by a handler for that call."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from ragmetrics_core.adapting import Kind
from ragmetrics_core.live import Notes, NoteTaker, notes_before, noting
from ragmetrics_langchain._hooks import Hooks, Told
from ragmetrics_langchain._runs import LangChainRun

__all__ = ["Gathered", "gathering"]


class Gathered:
    """Observations of one call.

    Attributes:
        calls: the outermost calls inside, in starting order.
        notes: the application's noted contexts.
    """

    def __init__(self, notes: Notes) -> None:
        self.calls: list[LangChainRun] = []
        self.notes = notes
        self._open: dict[Any, LangChainRun] = {}

    def begin(self, kind: Kind, name: str, inputs: Any, told: Told) -> None:
        """Note a call."""
        call = LangChainRun(kind=kind, name=name, is_whole=kind != "chain")
        call.begin(inputs)
        around = self._open.get(told.get("parent_run_id"))
        (self.calls if around is None else around.children).append(call)
        self._open[told["run_id"]] = call

    def end(self, outputs: Any, told: Told) -> None:
        """Note a call's output."""
        if (call := self._open.get(told["run_id"])) is not None:
            call.end(outputs)

    def fail(self, error: BaseException, told: Told) -> None:
        """Ignore a failed call, which has no output."""

    def hook_failed(self, error: Exception) -> None:
        """Ignore an error of a hook; what it did not observe is unknown."""


@cache
def _handler_here() -> ContextVar[Hooks | None]:
    """The handler of the enclosing call, which LangChain looks up at every call."""
    from langchain_core.tracers.context import register_configure_hook

    here: ContextVar[Hooks | None] = ContextVar("ragmetrics_gathered", default=None)
    register_configure_hook(here, inheritable=True)
    return here


@contextmanager
def gathering(taker: NoteTaker) -> Generator[Gathered]:
    """Collect calls and notes in this block, including earlier notes."""
    before = notes_before(taker).contexts
    with noting() as notes:
        if before is not None:
            notes.add(list(before))
        gathered = Gathered(notes)
        before_this = _handler_here().set(Hooks(gathered))
        try:
            yield gathered
        finally:
            _handler_here().reset(before_this)
