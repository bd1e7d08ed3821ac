"""Records of an application's runs: references to LangChain's objects, not evaluated yet."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ragmetrics_core.adapting import Call, Chunk, Fields, Kind, as_now
from ragmetrics_core.boundary import is_dict, is_list, is_series
from ragmetrics_core.live import Notes
from ragmetrics_langchain._dialect import conversation, documents_in, fields_of, request_of

__all__ = [
    "LangChainRun",
    "LangChainTurn",
    "RetrievedDocuments",
    "RootRun",
    "RunInfo",
    "contexts_in",
    "session_in",
]

# Where applications name a conversation.
_SESSION_KEYS = ("thread_id", "session_id", "conversation_id")
# The order in which calls began and ended.
_ORDER = count(1)


class RunInfo(NamedTuple):
    """A run at its start, for `scope=`.

    Attributes:
        name: `run_name`, or the class name.
        kind: "chain" (any Runnable), "prompt", "retriever" or "tool".
        tags, metadata: LangChain's, including those of outer runs.
        is_root: whether the handler has not seen an enclosing run.
    """

    name: str
    kind: Kind
    tags: Sequence[str]
    metadata: Fields
    is_root: bool


class RetrievedDocuments(NamedTuple):
    """The documents of one retrieval, in rank order.

    Attributes:
        name: name of the retriever or the tool.
        query: the query, which often differs from the question.
        documents: the retrieved documents.
    """

    name: str
    query: Any
    documents: Sequence[Document]


class RootRun(NamedTuple):
    """A whole run, passed to `extract=`.

    Attributes:
        name, tags, metadata: the run's.
        inputs, outputs: the application's objects.
        retrievals: the outermost retrievals, in order of their ends.
    """

    name: str
    tags: Sequence[str]
    metadata: Fields
    inputs: Any
    outputs: Any
    retrievals: Sequence[RetrievedDocuments]


@dataclass(slots=True, eq=False, kw_only=True)
class LangChainRun(Call):
    """A call with LangChain's data.

    Attributes:
        id, tags, metadata: LangChain's.
        is_unit: whether it becomes a sample.
        is_whole: whether all its texts are needed, and not only the documents.
        is_streamed: whether the inputs arrived at the end, as in a stream.
        interrupted: whether a run inside waits for human input.
        notes: for a unit, the application's noted contexts.
        trace: id of the run's LangSmith trace, unless it is the run itself.
        session: id of the conversation.
    """

    id: Any = None
    tags: Sequence[str] = ()
    metadata: Fields = field(default_factory=dict[str, Any])
    is_unit: bool = False
    is_whole: bool = True
    is_streamed: bool = False
    interrupted: bool = False
    notes: Notes | None = None
    trace: Any = None
    session: str | None = None

    @property
    def is_resumed(self) -> bool:
        """Whether a graph is resumed: it gets no inputs, or LangGraph's `Command`."""
        return self.inputs is None or type(self.inputs).__name__ == "Command"

    def begin(self, inputs: Any) -> None:
        """Copy the inputs with their current texts."""
        self.began = self.began or next(_ORDER)
        if self.kind == "model":
            self.inputs = request_of(inputs)
        else:
            self.inputs = as_now(inputs) if self.is_whole else _shallow(inputs)

    def end(self, outputs: Any) -> None:
        """Copy the outputs, likewise."""
        if self.kind == "model":
            generation = outputs.generations[0][0]
            self.outputs = getattr(generation, "message", generation.text)
        else:
            self.outputs = as_now(outputs) if self.is_whole else _shallow(outputs)
        self.ended = next(_ORDER)

    def retrievals(self) -> Iterator["LangChainRun"]:
        """The outermost retrievals: a retriever hides those inside; a tool counts if none is inside."""
        if self.kind == "retriever":
            if self.ended is not None:
                yield self
            return
        inner = [
            call for child in self.children if isinstance(child, LangChainRun) for call in child.retrievals()
        ]
        is_search = self.kind == "tool" and not inner and bool(documents_in(self.outputs))
        yield from [self] if is_search else inner


class LangChainTurn(NamedTuple):
    """A question and everything done to answer it.

    Attributes:
        run: the run.
        earlier: the part before the interruption that the run resumes.
    """

    run: LangChainRun
    earlier: "LangChainTurn | None" = None

    def parts(self) -> list[LangChainRun]:
        """The earlier runs in order, then this one."""
        return [*(self.earlier.parts() if self.earlier is not None else ()), self.run]

    def root_run(self) -> RootRun:
        """The turn as `extract=` gets it."""
        run = self.run
        calls = sorted(
            (call for part in self.parts() for call in part.retrievals()), key=lambda call: call.ended or 0
        )
        searches = [RetrievedDocuments(call.name, call.query, documents_in(call.outputs)) for call in calls]
        return RootRun(run.name, run.tags, run.metadata, run.inputs, run.outputs, searches)

    def noted(self) -> tuple[Chunk, ...] | None:
        """The application's noted contexts in all parts; None if there are no notes."""
        return contexts_in(part.notes for part in self.parts() if part.notes is not None)

    def outputs(self) -> Any:
        """The outputs, without the graph state of earlier turns."""
        writes = [
            call.outputs
            for part in self.parts()
            for call in part.walk()
            if isinstance(call, LangChainRun)
            and call.ended
            and call.metadata.get("langgraph_node") == call.name
        ]
        state = fields_of(self.run.outputs)
        if not writes or not state or (self.run.is_resumed and self.earlier is None):
            return self.run.outputs  # what another handler saw the beginning of is only in the state
        written = {name for write in writes for name in _written(write)}
        return {name: value for name, value in state.items() if name in written or conversation(value)}


def contexts_in(notes: Iterable[Notes]) -> tuple[Chunk, ...] | None:
    """The contexts in these notes; None if there are no notes."""
    said = [contexts for note in notes if (contexts := note.contexts) is not None]
    return tuple(dict.fromkeys(chunk for contexts in said for chunk in contexts)) if said else None


def session_in(named: Fields, key: str | None = None) -> str | None:
    """The conversation's id under this name, or under one of the usual names."""
    ids = (named.get(name) for name in ([key] if key is not None else _SESSION_KEYS))
    return next((str(session) for session in ids if session is not None), None)


def _written(write: Any) -> Iterator[str]:
    """Names of a node's updates, including several updates."""
    if is_series(write):
        for update in write:
            yield from _written(update)
    else:
        yield from fields_of(write)


def _shallow(value: Any) -> Any:
    """A copy of objects that may change after the run: lists and mappings one level deep, documents."""
    return {name: _listed(part) for name, part in value.items()} if is_dict(value) else _listed(value)


def _listed(value: Any) -> Any:
    is_plain = is_list(value) and type(value) is list
    return [_held(part) for part in value] if is_plain else _held(value)


def _held(value: Any) -> Any:
    return as_now(value) if isinstance(value, Document) else value
