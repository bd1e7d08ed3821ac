"""What is retrieved and asked inside one call of a model or a tool, seen by a handler of that call alone."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document

from ragmetrics_core.adapting import as_now, is_judging
from ragmetrics_core.live import Notes, NoteTaker, notes_before, noting
from ragmetrics_langchain._apart import JUDGE_TAG
from ragmetrics_langchain._seen import documents_in

__all__ = ["Gathered", "gathering"]


class Gathered(BaseCallbackHandler):
    """What was seen in one call.

    Attributes:
        documents: of the outermost retrievers, in the order in which they ended.
        system: the system message of the newest call of a chat model, None without one.
        notes: what the application said that it retrieved.
    """

    run_inline = True

    def __init__(self, notes: Notes) -> None:
        self.documents: list[Document] = []
        self.system: str | None = None
        self.notes = notes
        self._open: set[Any] = set()

    @property
    def contexts(self) -> tuple[list[Document], str] | None:
        """The contexts and the rule by which they were found: what was noted, else what was retrieved."""
        if (noted := self.notes.contexts) is not None:
            return [Document(page_content=chunk.text, id=chunk.id) for chunk in noted], "note_contexts"
        return (self.documents, "retrievers") if self.documents else None

    @property
    def ignore_llm(self) -> bool:
        """Replies and tokens are not needed."""
        return True

    def on_chat_model_start(
        self, serialized: Mapping[str, Any] | None, messages: Any, *, tags: Any = None, **kwargs: Any
    ) -> None:
        """Note the system message."""
        if not is_judging() and JUDGE_TAG not in (tags or ()):
            texts = [str(each.text) for call in messages for each in call if each.type == "system"]
            self.system = "\n\n".join(texts) or None

    def on_retriever_start(
        self,
        serialized: Mapping[str, Any] | None,
        query: str,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        **kwargs: Any,
    ) -> None:
        """Note that a retrieval begins."""
        self._open.add(run_id)

    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: Any, parent_run_id: Any = None, **kwargs: Any
    ) -> None:
        """Note what it found; one inside another is a part of it."""
        self._open.discard(run_id)
        if parent_run_id not in self._open:
            self.documents += documents_in(as_now(list(documents)))


class _Hook:
    """What LangChain asks for a handler at every call: that of the call around it."""

    def __init__(self) -> None:
        self._here: ContextVar[Gathered | None] = ContextVar("ragmetrics_gathered", default=None)
        self._is_registered = False

    def get(self) -> Gathered | None:
        return None if is_judging() else self._here.get()

    @contextmanager
    def around(self, gathered: Gathered) -> Generator[None]:
        if not self._is_registered:
            from langchain_core.tracers.context import register_configure_hook

            register_configure_hook(self, inheritable=True)  # type: ignore[arg-type]
            self._is_registered = True
        token = self._here.set(gathered)
        try:
            yield
        finally:
            self._here.reset(token)


_HOOK = _Hook()


@contextmanager
def gathering(taker: NoteTaker) -> Generator[Gathered]:
    """Gather what is retrieved, noted and asked in this block, and what was noted before it."""
    before = notes_before(taker).contexts
    with noting() as notes:
        if before is not None:
            notes.add(list(before))
        gathered = Gathered(notes)
        with _HOOK.around(gathered):
            yield gathered
