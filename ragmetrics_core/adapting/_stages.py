"""The stages of a run's retrieval, determined from the inputs and outputs of its calls."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragmetrics_core.adapting._captured import Call, Dialect, Rules
from ragmetrics_core.adapting._documents import Chunk, chunks_of
from ragmetrics_core.adapting._fields import question_in
from ragmetrics_core.boundary.shapes import field_of, is_mapping, is_series
from ragmetrics_core.samples import Stage, StageChunk, StageName

__all__ = [
    "RetrievalSteps",
    "documents_anywhere",
    "documents_by_place",
    "once",
    "query_of",
    "retrieval_of",
    "says_nothing",
]

# How deep documents lie in what a call gives: lists of lists, a state in a command, a result with sources.
_DEEPEST = 4


class _Step(NamedTuple):
    """A stage with its chunks, its source texts and its call."""

    name: StageName
    call: Call
    query: str | None
    chunks: Sequence[Chunk]
    taken: frozenset[str]


@dataclass
class RetrievalSteps:
    """The retrieval of a run.

    Attributes:
        steps: the stages, in order of their ends.
        last: the stages that no later stage uses; their chunks may have been shown.
    """

    steps: list[_Step] = field(default_factory=list[_Step])
    last: list[_Step] = field(default_factory=list[_Step])

    def add(self, step: _Step) -> None:
        """Add a stage; the stages that it uses are no longer the last ones."""
        self.steps.append(step)
        self.last = [
            each for each in self.last if not any(chunk.text in step.taken for chunk in each.chunks)
        ] + [step]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages in a sample's form."""
        return tuple(
            Stage(
                name=step.name,
                component=step.call.name,
                query=step.query,
                chunks=tuple(
                    StageChunk(text=chunk.text, id=chunk.id, score=chunk.score, rank=rank)
                    for rank, chunk in enumerate(step.chunks, start=1)
                ),
            )
            for step in self.steps
        )


def retrieval_of(calls: Iterable[Call], dialect: Dialect, rules: Rules) -> RetrievalSteps:
    """The stages among calls in order of their ends."""
    retrieval = RetrievalSteps()
    places: set[str] = set()  # entries of a state that held documents once
    for call in calls:
        taken = documents_by_place(call.inputs, dialect)
        outputs = documents_by_place(call.outputs, dialect)
        places |= {name for name, chunks in (*taken.items(), *outputs.items()) if chunks and name}
        within = list(call.walk())
        inside = [step for step in retrieval.steps if step.call in within]
        chunks = _given(
            call, outputs, {name for name, held in taken.items() if held} | places, dialect, rules
        )
        if chunks is None:
            continue
        if call.kind not in ("retriever", "postprocessor") and _hands_on(call, chunks, inside, retrieval):
            continue
        lists = [step.chunks for step in inside] or [held for held in taken.values() if held]
        lists = lists or [
            held
            for source in call.sources or ()
            for held in documents_by_place(source.outputs, dialect).values()
        ]
        retrieval.add(
            _Step(
                _name(chunks, lists, is_search=call.kind in ("retriever", "tool")),
                call,
                query_of(call, dialect),
                chunks,
                frozenset(chunk.text for held in lists for chunk in held),
            )
        )
    return retrieval


def documents_by_place(value: Any, dialect: Dialect, depth: int = _DEEPEST) -> dict[str, list[Chunk]]:
    """The typed documents in a value by the entry that holds them; "" for a list of documents.

    Empty lists are included; lists of anything else are not.
    """
    if (chunk := dialect.document(value)) is not None:
        return {"": [chunk] if chunk.text.strip() else []}
    if is_series(value):
        parts = [documents_by_place(part, dialect, depth - 1) if depth else {} for part in value]
        held = [chunk for part in parts for chunk in part.get("", [])]
        return {"": held} if held or all("" in part for part in parts) else {}
    if isinstance(value, str) or value is None or not depth:
        return {}
    return {
        name: [chunk for chunks in inner.values() for chunk in chunks]
        for name, part in dialect.fields(value).items()
        if not isinstance(part, str) and (inner := documents_by_place(part, dialect, depth - 1))
    }


def documents_anywhere(value: Any, dialect: Dialect, depth: int = _DEEPEST) -> list[Chunk]:
    """The typed documents in a value, including those in parts such as messages' artifacts."""
    if (chunk := dialect.document(value)) is not None:
        return [chunk]
    if isinstance(value, str) or value is None or not depth:
        return []
    parts = value if is_series(value) else dialect.fields(value).values()
    return [chunk for part in parts for chunk in documents_anywhere(part, dialect, depth - 1)]


def _hands_on(
    call: Call, chunks: Sequence[Chunk], inside: Sequence[_Step], retrieval: RetrievalSteps
) -> bool:
    """Whether a call only passes on earlier lists, complete and in their order."""
    if not chunks:
        before = inside if inside or call.kind == "tool" else retrieval.last
        return any(not step.chunks for step in before)
    texts = [chunk.text for chunk in chunks]
    lists = [[chunk.text for chunk in step.chunks] for step in retrieval.last]
    lists = [held for held in lists if any(text in texts for text in held)]
    return {text for held in lists for text in held} == set(texts) and all(
        [text for text in texts if text in held] == held for held in lists
    )


def _given(
    call: Call, outputs: Mapping[str, list[Chunk]], places: set[str], dialect: Dialect, rules: Rules
) -> list[Chunk] | None:
    """The documents that a call returned; empty if none were found, None if it does not return documents."""
    chunks = once(chunk for held in outputs.values() for chunk in held)
    if chunks or call.kind in ("retriever", "postprocessor"):
        return chunks
    if call.kind == "chain":
        return [] if any(name in places for name in outputs) else None
    if call.kind != "tool":
        return None
    if any(inner.kind in ("model", "retriever") for inner in call.walk()):
        return None  # which may have written or found it
    if outputs or _is_nothing(call.outputs) or says_nothing(dialect.text(call.outputs) or ""):
        return []
    is_context = not rules.context_tools or call.name in rules.context_tools
    return chunks_of_tool(call.outputs, dialect) or None if is_context else None


def _is_nothing(value: Any) -> bool:
    """Whether the value is an empty list or mapping."""
    if is_mapping(value):
        return all(map(_is_nothing, value.values()))
    return is_series(value) and all(map(_is_nothing, value))


def says_nothing(text: str) -> bool:
    """Whether a text is an empty list or mapping in JSON."""
    return not text.strip() or _is_nothing(_parsed(text))


def _parsed(text: str) -> Any:
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _name(chunks: Sequence[Chunk], lists: Sequence[Sequence[Chunk]], *, is_search: bool) -> StageName:
    """The name of a stage, from its inputs."""
    texts = [chunk.text for chunk in chunks]
    if not lists:
        return "retrieved" if is_search or texts else "filtered"
    given = once(chunk for held in lists for chunk in held)
    if len(lists) > 1 and texts and not any(set(texts) <= {chunk.text for chunk in held} for held in lists):
        return "fused"
    if any(text not in {chunk.text for chunk in given} for text in texts) or not texts:
        return "filtered"
    kept = [chunk for chunk in given if chunk.text in texts]
    is_ordered_anew = [chunk.text for chunk in kept] != texts
    is_scored_anew = [chunk.score for chunk in kept] != [chunk.score for chunk in chunks]
    return "reranked" if is_ordered_anew or is_scored_anew or len(kept) == len(given) else "filtered"


def query_of(call: Call, dialect: Dialect) -> str | None:
    if call.query is not None:
        return dialect.text(call.query)
    if call.kind not in ("retriever", "tool", "postprocessor"):
        return None
    found = question_in(call.inputs, dialect)
    return None if found is None else found.value


def once(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Chunks with distinct texts, in order."""
    unique: dict[str, Chunk] = {}
    for chunk in chunks:
        unique.setdefault(chunk.text, chunk)
    return list(unique.values())


def chunks_of_tool(output: Any, dialect: Dialect) -> list[Chunk]:
    """The texts in a tool's result, if it is a list of them; otherwise its text as shown to the model."""
    text = dialect.text(output) or ""
    result = dialect.fields(output).get("artifact", output)
    content = field_of(result, "content")  # of a tool behind the Model Context Protocol
    for value in (result, content, _parsed(text)):
        if is_series(value):
            chunks, unknown = chunks_of([dialect.document(part) or part for part in value])
            if chunks and not unknown:
                return chunks
    return [Chunk(text)] if text.strip() else []
