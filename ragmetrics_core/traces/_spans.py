"""A span as all formats give it: what the conventions and exports have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragmetrics_core.adapting import CapturedMessage, Chunk, Kind

__all__ = ["TraceSpan"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TraceSpan:
    """A span of a trace, after its attributes were read.

    Attributes:
        trace, id: ids of the trace and the span.
        parent: id of the parent; None for a root.
        name: the span's name.
        kind: the kind of call, or "ignored" for spans that say nothing about an answer (embeddings,
            guardrails, evaluators, decisions).
        convention: the convention or export that it was read by, with its version.
        began, ended: Unix time in nanoseconds; `ended` is None if the span has not ended.
        failed: whether it ended with an error.
        inputs, outputs: the decoded inputs and outputs; None if absent.
        query: the query of a search or a tool.
        documents: the documents that a search, a ranker or a tool returned; None if the span names none.
        messages: for a model, the messages of the request; None if unknown.
        reply: for a model, the text of its reply; None if unknown.
        calls_tools: for a model, whether the reply calls tools, and so is not an answer.
        session: id of the conversation.
        problems: what could not be read, as sentences.
        extra: further values of the format that scores are sent back with, by name.
    """

    trace: str
    id: str
    parent: str | None = None
    name: str = ""
    kind: Kind | str = "chain"
    convention: str = ""
    began: int = 0
    ended: int | None = None
    failed: bool = False
    inputs: Any = None
    outputs: Any = None
    query: str | None = None
    documents: Sequence[Chunk] | None = None
    messages: Sequence[CapturedMessage] | None = None
    reply: str | None = None
    calls_tools: bool = False
    session: str | None = None
    problems: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
