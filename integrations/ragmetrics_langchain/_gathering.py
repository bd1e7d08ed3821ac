"""What is called inside one call of a model or a tool, seen by a handler of that call alone."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from langchain_core.documents import Document

from ragmetrics_core.adapting import Kind
from ragmetrics_core.live import Notes, NoteTaker, notes_before, noting
from ragmetrics_langchain._dialect import documents_in
from ragmetrics_langchain._hooks import Hooks
from ragmetrics_langchain._runs import LangChainRun

__all__ = ["Gathered", "gathering"]


class Gathered:
    """What was seen in one call.

    Attributes:
        calls: the outermost ones, in the order in which they began.
        notes: what the application said that it retrieved.
    """

    def __init__(self, notes: Notes) -> None:
        self.calls: list[LangChainRun] = []
        self.notes = notes
        self._open: dict[Any, LangChainRun] = {}

    def documents(self) -> list[Document]:
        """What was found in the calls."""
        return [
            document
            for call in self.calls
            for search in call.retrievals()
            for document in documents_in(search.outputs)
        ]

    def begin(self, kind: Kind, name: str, inputs: Any, told: Mapping[str, Any]) -> None:
        """Note a call."""
        call = LangChainRun(kind=kind, name=name)
        call.begin(inputs, whole=kind != "chain")
        around = self._open.get(told.get("parent_run_id"))
        (self.calls if around is None else around.children).append(call)
        self._open[told["run_id"]] = call

    def end(self, outputs: Any, told: Mapping[str, Any]) -> None:
        """Note what it gave."""
        if (call := self._open.get(told["run_id"])) is not None:
            call.end(outputs, whole=call.kind != "chain")

    def fail(self, error: BaseException, told: Mapping[str, Any]) -> None:
        """What failed gave nothing."""

    def hook_failed(self, error: Exception) -> None:
        """What was not seen is unknown."""


@cache
def _handler_here() -> ContextVar[Hooks | None]:
    """What LangChain asks for a handler at every call: that of the call around it."""
    from langchain_core.tracers.context import register_configure_hook

    here: ContextVar[Hooks | None] = ContextVar("ragmetrics_gathered", default=None)
    register_configure_hook(here, inheritable=True)
    return here


@contextmanager
def gathering(taker: NoteTaker) -> Generator[Gathered]:
    """Gather what is called and noted in this block, and what was noted before it."""
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
