"""From what the hooks saw to a sample; this runs in the background."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.schema import QueryBundle

from ragmetrics_core import Sample
from ragmetrics_core.adapting import chunks_of
from ragmetrics_core.errors import SampleError
from ragmetrics_core.live import Capture, Node, Skip
from ragmetrics_core.shapes import is_list
from ragmetrics_llama_index._contexts import EngineAnswered, RetrieverEnded, id_of
from ragmetrics_llama_index._responses import answer_in, question_in, text_of_node

__all__ = [
    "ARGUMENTS",
    "Extract",
    "RootSpan",
    "first_query",
    "sample_of",
]

# What workflows call the question, in the order in which it is looked for.
_QUESTIONS = ("query", "question", "user_msg", "input", "message", "str_or_query_bundle")
_EXTRACTED = "extract"
# The arguments of a call that hold a question or what was said before.
ARGUMENTS = frozenset(_QUESTIONS) | {"start_event", "chat_history"}


class RootSpan(NamedTuple):
    """A whole answer, as `extract=` gets it.

    Attributes:
        name: the class of the engine, chat engine or workflow.
        tags: those that were set with `instrument_tags`.
        arguments: what it was called with, by name: the question, a chat's history, a workflow's start event.
        result: what it returned; of a stream the text.
        nodes: the nodes that the rules found, None where nothing was retrieved.
        retrievals: what the outermost retriever of each branch was asked and gave.
    """

    name: str
    tags: Mapping[str, Any]
    arguments: Mapping[str, Any]
    result: Any
    nodes: Sequence[Any] | None
    retrievals: Sequence[RetrieverEnded]


Extract = Callable[[RootSpan], Mapping[str, Any] | None]


def sample_of(capture: Capture) -> Sample:
    """The sample of a capture; what `extract` gives goes before what the rules find.

    Raises:
        Skip: there is no question or no answer.
        SampleError: `extract` gave a field that samples do not have, or contexts without a text.
    """
    given = _given(capture)
    question, rule = _question(capture.question)
    answer = _answer(capture.answer)
    if given is not None:
        question, rule = (question, rule) if given.question is None else (given.question, _EXTRACTED)
        answer = answer if given.answer is None else given.answer
    if question is None:
        raise Skip("no_question")
    if answer is None:
        raise Skip("no_answer")
    labels: dict[str, Any] = {"found_question": rule}
    standalone = question_in(capture.data.get("standalone"))
    if standalone is not None and standalone != question:
        labels["standalone_question"] = standalone
    nodes = capture.contexts
    ids = [id_of(node) for node in nodes or ()]
    sample = Sample(
        question=question,
        answer=answer,
        contexts=None if nodes is None else tuple(text_of_node(node) for node in nodes),
        context_ids=tuple(filter(None, ids)) if nodes and all(ids) else None,
        history=_history(capture.history),
        labels=labels,
    )
    return sample if given is None else _with_given(sample, given)


def _given(capture: Capture) -> Sample | None:
    """What `extract` says of an answer."""
    extract: Extract | None = capture.data.get("extract")
    if extract is None:
        return None
    span = RootSpan(
        name=capture.name or "",
        tags=capture.data["tags"],
        arguments=capture.question,
        result=_answer(capture.answer) if is_list(capture.answer) else capture.answer,
        nodes=capture.contexts,
        retrievals=capture.data["retrievals"],
    )
    fields = extract(span)
    if not fields:
        return None
    if unknown := [name for name in fields if name not in Sample.model_fields]:
        known = ", ".join(sorted(Sample.model_fields))
        raise SampleError(f"extract gave {unknown[0]!r}, which is no field of a sample; there are {known}")
    found: dict[str, Any] = {name: _in_text(value) for name, value in fields.items()}
    if fields.get("contexts") is not None:
        chunks, without_text = chunks_of(fields["contexts"])
        if without_text:
            raise SampleError(f"extract gave contexts that have no text: {without_text[0]}")
        found["contexts"] = [chunk.text for chunk in chunks]
        ids = [chunk.id for chunk in chunks]
        if chunks and all(ids) and "context_ids" not in fields:
            found["context_ids"] = ids
    return Sample.from_mapping(found)


def _with_given(sample: Sample, given: Sample) -> Sample:
    fields = {name: value for name in given.model_fields_set if (value := getattr(given, name)) is not None}
    if "contexts" in fields:
        fields.setdefault("context_ids", None)
    told = {f"found_{name}": _EXTRACTED for name in ("question", "contexts", "answer") if name in fields}
    return sample.model_copy(update=fields | {"labels": sample.labels | told | dict(given.labels)})


def _in_text(value: Any) -> Any:
    """The text of a question or an answer, however LlamaIndex gives it."""
    if isinstance(value, QueryBundle):
        return value.query_str
    if isinstance(
        value, ChatMessage | Response | StreamingResponse | AsyncStreamingResponse | PydanticResponse
    ):
        return answer_in(value)
    return value


def first_query(root: Node) -> Any:
    """What the first retriever or engine inside was asked: a chat engine's question in full."""
    asked = (
        node.payload.query
        for node in root.walk()
        if isinstance(node.payload, RetrieverEnded | EngineAnswered)
    )
    return next(asked, None)


def _question(given: Mapping[str, Any]) -> tuple[str | None, str]:
    """The question among a call's arguments, or in a workflow's start event, with the name it has there."""
    event = given.get("start_event")
    for name in _QUESTIONS:
        value = given.get(name)
        if value is None and event is not None:
            value = getattr(event, name, None)
        text = question_in(value)
        if text is not None:
            return text, name
    return None, "none"


def _answer(given: Any) -> str | None:
    """A list holds the tokens of a stream."""
    if is_list(given):
        return "".join(each if isinstance(each, str) else str(each) for each in given)
    return answer_in(given)


def _history(messages: Sequence[Any] | None) -> Any:
    if not messages:
        return None
    turns = ((getattr(each, "role", None), getattr(each, "content", None)) for each in messages)
    return tuple(
        {"role": str(getattr(role, "value", role)), "content": content} for role, content in turns if content
    )
