"""What is remembered of an application's runs: references to LangChain's objects, nothing made of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ragmetrics_core.adapting import Call, Chunk, Kind, as_now
from ragmetrics_core.live import Notes
from ragmetrics_core.shapes import is_dict, is_list, is_series
from ragmetrics_langchain._dialect import conversation, documents_in, fields_of, request_of

__all__ = ["LangChainRun", "LangChainTurn", "RetrievedDocuments", "RootRun", "RunInfo", "contexts_in"]

# The order in which calls began and ended.
_ORDER = count(1)


class RunInfo(NamedTuple):
    """What is known of a run when it begins; for `scope=`.

    Attributes:
        name: its name: `run_name`, or the class.
        kind: "chain" (any Runnable), "prompt", "retriever" or "tool".
        tags, metadata: as LangChain gives them, those of outer runs included.
        is_root: whether the handler saw no run around it.
    """

    name: str
    kind: Kind
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    is_root: bool


class RetrievedDocuments(NamedTuple):
    """Documents that one retrieval gave, in rank order.

    Attributes:
        name: of the retriever or the tool.
        query: what was looked for: often not the question itself.
        documents: what was found.
    """

    name: str
    query: Any
    documents: Sequence[Document]


class RootRun(NamedTuple):
    """A whole run, as `extract=` gets it.

    Attributes:
        name, tags, metadata: of the run.
        inputs, outputs: what went in and came out, as the application passed it.
        retrievals: the outermost retrievals, in the order in which they ended.
    """

    name: str
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    inputs: Any
    outputs: Any
    retrievals: Sequence[RetrievedDocuments]


@dataclass(slots=True, eq=False, kw_only=True)
class LangChainRun(Call):
    """A call, and what else is remembered of it.

    Attributes:
        id, tags, metadata: as LangChain gives them.
        is_unit: whether it becomes a sample of its own.
        is_streamed: whether the inputs came with the end, as they do in a stream.
        interrupted: whether something below it waits for a person.
        notes: of a unit, what the application said in it that it retrieved.
        trace: id of the LangSmith trace that the run belongs to, when it is not the run itself.
    """

    id: Any = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_unit: bool = False
    is_streamed: bool = False
    interrupted: bool = False
    notes: Notes | None = None
    trace: Any = None

    @property
    def is_resumed(self) -> bool:
        """Whether a graph goes on from where it stopped: it gets nothing, or a `Command` of LangGraph's."""
        return self.inputs is None or type(self.inputs).__name__ == "Command"

    def begin(self, inputs: Any, *, whole: bool) -> None:
        """Hold what goes in with its texts as they are now; where not the whole is needed, its documents."""
        self.began = self.began or next(_ORDER)
        if self.kind == "model":
            self.inputs = request_of(inputs)
        else:
            self.inputs = as_now(inputs) if whole else _shallow(inputs)

    def end(self, outputs: Any, *, whole: bool) -> None:
        """Hold what came out, likewise."""
        if self.kind == "model":
            generation = outputs.generations[0][0]
            self.outputs = getattr(generation, "message", generation.text)
        else:
            self.outputs = as_now(outputs) if whole else _shallow(outputs)
        self.ended = next(_ORDER)

    def retrievals(self) -> Iterator["LangChainRun"]:
        """The outermost calls that retrieved: a retriever hides those in it, a tool is one when none is."""
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
    """One question and everything that was done to answer it.

    Attributes:
        run: the run.
        earlier: the same turn before it was interrupted, when the run resumes it.
    """

    run: LangChainRun
    earlier: "LangChainTurn | None" = None

    def parts(self) -> list[LangChainRun]:
        """The earlier runs, the first one first, and this."""
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
        """What the application said that it retrieved, in all parts; None where it said nothing."""
        return contexts_in(part.notes for part in self.parts() if part.notes is not None)

    def outputs(self) -> Any:
        """What came out, without what the state of a graph still holds from earlier turns."""
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
    """What the application said in these notes that it retrieved; None where it said nothing."""
    said = [contexts for note in notes if (contexts := note.contexts) is not None]
    return tuple(dict.fromkeys(chunk for contexts in said for chunk in contexts)) if said else None


def _written(write: Any) -> Iterator[str]:
    """The names of what a node wrote, also in several updates."""
    if is_series(write):
        for update in write:
            yield from _written(update)
    else:
        yield from fields_of(write)


def _shallow(value: Any) -> Any:
    """What the application may change after the run, held: lists and mappings one level deep, documents."""
    if is_list(value) and type(value) is list:
        return [_held(part) for part in value]
    if is_dict(value):
        return {
            name: [_held(inner) for inner in part] if is_list(part) and type(part) is list else _held(part)
            for name, part in value.items()
        }
    return _held(value)


def _held(value: Any) -> Any:
    return as_now(value) if isinstance(value, Document) else value
