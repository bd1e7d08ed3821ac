"""A span as all formats give it: what the conventions and exports have in common."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ragmetrics_core.adapting import CalledTool, CapturedMessage, Chunk, Kind

__all__ = ["TraceSpan", "merged", "packed", "unpacked"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TraceSpan:
    """A span of a trace, after its attributes were read.

    Attributes:
        trace, id: ids of the trace and the span.
        parent: id of the parent; None for a root.
        name: the span's name; for a tool, the tool's.
        kind: the kind of call, or "ignored" for spans that say nothing about an answer, with all inside of
            them (embeddings, guardrails, evaluators, decisions). "" if the span does not say.
        convention: the convention or export that it was read by, with its version.
        began, ended: Unix time in nanoseconds; `ended` is None if the span has not ended.
        failed: whether it ended with an error.
        inputs, outputs: the decoded inputs and outputs; None if absent.
        query: the query of a search or a tool.
        documents: the documents that a search, a ranker or a tool returned; None if the span names none. A
            chunk with an id and without a text is a document whose text is not in the trace.
        template: the text of a prompt with names in braces where variables stand.
        messages: for a model, the messages of the request; None if unknown.
        reply: for a model, the text of its reply; None if unknown.
        calls_tools: for a model, whether the reply calls tools, and so is not an answer.
        written: for a model, what else it wrote: arguments of tools, its reasoning.
        session: id of the conversation.
        problems: what could not be read, as sentences.
        extra: further values of the format that scores are sent back with, by name.
    """

    trace: str
    id: str
    parent: str | None = None
    name: str = ""
    kind: Kind | str = ""
    convention: str = ""
    began: int = 0
    ended: int | None = None
    failed: bool = False
    inputs: Any = None
    outputs: Any = None
    query: str | None = None
    documents: Sequence[Chunk] | None = None
    template: str | None = None
    messages: Sequence[CapturedMessage] | None = None
    reply: str | None = None
    calls_tools: bool = False
    written: Sequence[Any] = ()
    session: str | None = None
    problems: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


def merged(spans: Iterable[TraceSpan]) -> TraceSpan:
    """One span of several copies in any order: the latest and fullest, with what only others say.

    A copy may be an earlier state of the span, the same by another convention, or an event with its content.
    """
    first, *others = sorted(spans, key=_fullness, reverse=True)
    for other in others:
        missing: dict[str, Any] = {
            name: value
            for name in _NAMES
            if not getattr(first, name) and (value := getattr(other, name)) not in (None, "", (), {})
        }
        first = replace(first, **missing)
    return first


def _fullness(span: TraceSpan) -> tuple[bool, int, int, str]:
    said = sum(bool(getattr(span, name)) for name in _NAMES)
    return span.ended is not None, span.ended or 0, said, packed(span)


def packed(span: TraceSpan) -> str:
    """A span as one line of JSON."""
    return json.dumps([getattr(span, name) for name in _NAMES])


def unpacked(line: str | bytes) -> TraceSpan:
    """The span of a line that `packed` wrote."""
    values: dict[str, Any] = dict(zip(_NAMES, json.loads(line), strict=True))
    if values["documents"] is not None:
        values["documents"] = [Chunk(*each) for each in values["documents"]]
    if values["messages"] is not None:
        messages = [CapturedMessage(*each) for each in values["messages"]]
        values["messages"] = [
            each._replace(tool_calls=[CalledTool(*call) for call in each.tool_calls]) for each in messages
        ]
    values["problems"] = tuple(values["problems"])
    return TraceSpan(**values)


_NAMES = tuple(each.name for each in fields(TraceSpan))
