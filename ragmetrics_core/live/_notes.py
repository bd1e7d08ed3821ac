"""Contexts noted by an application where no hook can see them."""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Protocol
from weakref import ref

from ragmetrics_core.adapting import Chunk, chunks_of, is_judging

__all__ = ["NoteTaker", "Notes", "note_contexts", "notes_before", "noting", "take_notes"]

_LOGGER = logging.getLogger("ragmetrics.live")


class Notes:
    """The notes of one run, in order; thread-safe."""

    def __init__(self) -> None:
        self._noted: list[list[Chunk]] = []

    def add(self, chunks: list[Chunk]) -> None:
        """Add the chunks of one retrieval."""
        self._noted.append(chunks)

    @property
    def contexts(self) -> tuple[Chunk, ...] | None:
        """All distinct chunks; empty if a note said that nothing was retrieved, None if there is no note."""
        if not self._noted:
            return None
        unique: dict[tuple[str, str | None], Chunk] = {}
        for chunk in chain.from_iterable(self._noted):
            unique.setdefault((chunk.text, chunk.id), chunk)
        return tuple(unique.values())


class NoteTaker(Protocol):
    """A hook that knows which of its open runs the current code belongs to."""

    def notes_here(self) -> Notes | None:
        """The notes of that run; None if the current code is not part of a run."""
        ...


class _Pending:
    """A note made outside of any run, for the next run that begins here."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.chunks = chunks
        self._lock = threading.Lock()
        self.taken: list[ref[object]] = []

    def take(self, taker: object) -> bool:
        """Whether this taker gets the note; True once."""
        with self._lock:
            if any(known() is taker for known in self.taken):
                return False
            self.taken.append(ref(taker))
            return True


_ADDING = threading.Lock()
# The hooks that are asked for each note, as long as they live.
_TAKERS: list[ref[NoteTaker]] = []
# A context variable is the caller's alone: what a concurrent request notes, it notes in a context of its own.
_SCOPE: ContextVar[Notes | None] = ContextVar("ragmetrics_notes", default=None)
_PENDING: ContextVar[tuple[_Pending, ...]] = ContextVar("ragmetrics_pending_notes", default=())
_TOLD: set[str] = set()


def note_contexts(documents: object, *, add: bool = False) -> None:
    """Note what was retrieved, where no hook can see it: one line, in any application of any framework.

    The current run gets exactly the noted contexts, whatever hooks see; with `add`, it gets them beside those
    that hooks find. Several notes in one run are combined, without duplicates. A note made before a run
    belongs to the next run in the same context. Works in threads and tasks with the caller's context
    (`asyncio.create_task`, `asyncio.to_thread`, the frameworks' executors); concurrent requests are separate.
    Texts are copied at once.

    Takes microseconds and never raises: objects without text are left out with a single warning.

    Args:
        documents: a text, a document of LangChain, LlamaIndex or Haystack, a mapping with its text under
            "text", "content" or "page_content", or a list of these, with or without scores. An empty list
            means that nothing was retrieved.
        add: keep the contexts that hooks find.
    """
    try:
        if not is_judging():
            _note(documents, add=add)
    except Exception as error:  # the boundary to the host: documents with properties of its own
        _tell(f"note_contexts failed: {type(error).__name__}: {error}")


def _note(documents: object, *, add: bool) -> None:
    chunks, unknown = chunks_of(documents)
    chunks = [chunk._replace(is_added=add) for chunk in chunks]
    for kind in dict.fromkeys(unknown):
        _tell(f"note_contexts found no text in a {kind}: pass texts, documents or mappings with a text")
    if not chunks and (unknown or add):
        return
    scope = _SCOPE.get()
    takers = [taker for known in list(_TAKERS) if (taker := known()) is not None]
    here = [notes for taker in takers if (notes := taker.notes_here()) is not None]
    for notes in (*here, *([] if scope is None else [scope])):
        notes.add(chunks)
    if not here and scope is None:
        waiting = tuple(pending for pending in _PENDING.get() if not pending.taken)
        _PENDING.set((*waiting, _Pending(chunks)))


@contextmanager
def noting() -> Generator[Notes]:
    """Collect the notes made in this block and in the threads and tasks that it starts.

    For an application without an adapter: `Capture(noted=notes.contexts, ...)`. Use one block per request.
    """
    notes = Notes()
    token = _SCOPE.set(notes)
    try:
        yield notes
    finally:
        _SCOPE.reset(token)


def take_notes(taker: NoteTaker) -> None:
    """Ask a hook about each note, as long as the hook exists."""
    with _ADDING:
        _TAKERS[:] = [*(known for known in _TAKERS if known() is not None), ref(taker)]


def notes_before(taker: NoteTaker) -> Notes:
    """The notes of a run that begins now, including earlier notes of this context that belong to no run.

    Each taker's first new run gets a pending note.
    """
    notes = Notes()
    for pending in _PENDING.get():
        if pending.take(taker):
            notes.add(pending.chunks)
    return notes


def _tell(message: str) -> None:
    if message not in _TOLD and len(_TOLD) < 100:
        _TOLD.add(message)
        _LOGGER.warning("%s", message)
