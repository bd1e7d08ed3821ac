"""What is remembered of an application's runs: references to LangChain's objects, nothing made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.prompt_values import PromptValue

from ragmetrics_core.adapting import Chunk, as_now
from ragmetrics_core.live import Node, Notes
from ragmetrics_core.shapes import is_dict, is_list, is_mapping, is_series
from ragmetrics_langchain._showing import held_by

__all__ = [
    "Kind",
    "RetrievedDocuments",
    "RootRun",
    "RunInfo",
    "Seen",
    "SeenTurn",
    "all_documents_in",
    "documents_in",
    "shallow",
]

Kind = Literal["chain", "retriever", "tool"]


class RunInfo(NamedTuple):
    """What is known of a run when it begins; for `scope=`.

    Attributes:
        name: its name: `run_name`, or the class.
        kind: "chain" (any Runnable), "retriever" or "tool".
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


@dataclass(slots=True, eq=False)
class Seen:
    """One run: what goes with a node of the collector.

    Attributes:
        kind, name, tags, metadata, inputs: from the start of the run.
        outputs: from its end; for a retriever its documents.
        has_ended: whether it ended without an error.
        order: the place of its end among the ends of all runs.
        is_unit: whether it becomes a sample of its own.
        is_streamed: whether the inputs came with the end, as they do in a stream.
        interrupted: whether something below it waits for a person.
        has_failed: whether it raised something else.
        has_model: whether a chat model was called in it.
        notes: of a unit, what the application said in it that it retrieved.
        system: of a root, the system message of the newest call of a chat model in it.
        trace: id of the LangSmith trace that the run belongs to, when it is not the run itself.
    """

    kind: Kind
    name: str
    tags: Sequence[str]
    metadata: Mapping[str, Any]
    inputs: Any
    outputs: Any = None
    has_ended: bool = False
    order: int = 0
    is_unit: bool = False
    is_streamed: bool = False
    interrupted: bool = False
    has_failed: bool = False
    has_model: bool = False
    system: str | None = None
    notes: Notes | None = None
    trace: Any = None

    @property
    def is_resumed(self) -> bool:
        """Whether a graph goes on from where it stopped: it gets nothing, or a `Command` of LangGraph's."""
        return self.inputs is None or type(self.inputs).__name__ == "Command"

    @property
    def is_graph_node(self) -> bool:
        """Whether it is a node of a LangGraph graph, whose outputs are what it writes into the state."""
        return self.metadata.get("langgraph_node") == self.name


@dataclass(slots=True, eq=False)
class SeenTurn:
    """One question and everything that was done to answer it.

    Attributes:
        node: the run with all below it.
        earlier: the same turn before it was interrupted, when the run resumes it.
    """

    node: Node
    earlier: "SeenTurn | None" = None
    _retrievals: list[RetrievedDocuments] | None = field(default=None)

    @property
    def run(self) -> Seen:
        """The run itself."""
        return self.node.payload  # type: ignore[no-any-return]

    def parts(self) -> Iterator["SeenTurn"]:
        """The earlier part, before it the one before, and this."""
        if self.earlier is not None:
            yield from self.earlier.parts()
        yield self

    def retrievals(self) -> list[RetrievedDocuments]:
        """The outermost retrievals of all parts, in the order in which they ended."""
        if self._retrievals is None:
            earlier = self.earlier.retrievals() if self.earlier is not None else []
            self._retrievals = earlier + [
                RetrievedDocuments(run.name, run.inputs, _found(run))
                for run in sorted(_outermost(self.node), key=_order)
            ]
        return self._retrievals

    def writes(self) -> list[Any]:
        """What the nodes of LangGraph graphs wrote in this turn; empty for all other runs."""
        return [run.outputs for run in self.inner_runs() if run.is_graph_node and run.has_ended]

    def shown(self, answer: str | None = None) -> list[Document]:
        """Documents that a step took and turned into text or a prompt, as far as the text holds them.

        Where no step did so but those that call the model, all documents that these took.

        Args:
            answer: where no model was seen, a step that gives this text may be one that calls it.
        """
        steps = sorted(
            (
                run
                for run in self.inner_runs()
                if run.kind == "chain" and isinstance(run.outputs, str | PromptValue)
            ),
            key=_order,
        )
        formatting = [
            document
            for run in steps
            if not run.has_model and (self.run.has_model or _text(run.outputs) != answer)
            for document in held_by(_text(run.outputs), all_documents_in(run.inputs))
        ]
        return formatting or [document for run in steps for document in all_documents_in(run.inputs)]

    def tool_texts(self, names: Sequence[str]) -> list[Any]:
        """The results of tools, by the tools' names."""
        runs = [
            run for run in self.inner_runs() if run.kind == "tool" and run.name in names and run.has_ended
        ]
        return [run.outputs for run in sorted(runs, key=_order)]

    def tools_called(self) -> list[str]:
        """The names of the tools that were called."""
        return [run.name for run in self.inner_runs() if run.kind == "tool"]

    def root_run(self) -> RootRun:
        """The turn as `extract=` gets it."""
        run = self.run
        return RootRun(run.name, run.tags, run.metadata, run.inputs, run.outputs, tuple(self.retrievals()))

    def noted(self) -> tuple[Chunk, ...] | None:
        """What the application said that it retrieved, in all parts; None where it said nothing."""
        notes = [part.run.notes.contexts for part in self.parts() if part.run.notes is not None]
        said = [contexts for contexts in notes if contexts is not None]
        return tuple(dict.fromkeys(chunk for contexts in said for chunk in contexts)) if said else None

    def inner_runs(self) -> Iterator[Seen]:
        """All runs inside, the outer ones first."""
        return (node.payload for part in self.parts() for node in part.node.walk() if node is not part.node)


def documents_in(value: Any) -> list[Document]:
    """The documents of a list, of the first list in a mapping that has some, or of a tool's message."""
    if isinstance(value, ToolMessage):
        value = value.artifact
    if isinstance(value, Document):
        return [value]
    if is_series(value):
        documents = [each for each in value if isinstance(each, Document)]
        return documents if len(documents) == len(value) else []
    if is_mapping(value):
        for each in value.values():
            if is_series(each) and (found := documents_in(each)):
                return found
    return []


def all_documents_in(value: Any) -> list[Document]:
    """The documents of `documents_in`, of all lists where a mapping has several."""
    if not is_mapping(value):
        return documents_in(value)
    return [document for each in value.values() if is_series(each) for document in documents_in(each)]


def shallow(value: Any) -> Any:
    """What the application may change after the run, held: lists and mappings one level deep, documents."""
    if is_list(value) and type(value) is list:
        return [_held(each) for each in value]
    if is_dict(value):
        return {
            name: [_held(inner) for inner in each] if is_list(each) and type(each) is list else _held(each)
            for name, each in value.items()
        }
    return _held(value)


def _held(value: Any) -> Any:
    return as_now(value) if isinstance(value, Document) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value.to_string())


def _outermost(node: Node) -> list[Seen]:
    """The runs that retrieved: a retriever hides those in it, a tool counts when no retriever is in it."""
    run: Seen = node.payload
    if run.kind == "retriever":
        return [run] if run.has_ended else []
    # what failed gave nothing on: a chain with a fallback, a tool whose error the model was told
    found = [
        each for child in tuple(node.children) if not child.payload.has_failed for each in _outermost(child)
    ]
    if not found and run.kind == "tool" and _found(run):
        return [run]
    return found


def _found(run: Seen) -> Sequence[Document]:
    return documents_in(run.outputs)


def _order(run: Seen) -> int:
    return run.order
