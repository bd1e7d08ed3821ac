"""LangSmith's traces as captured calls."""

# langsmith leaves the types of what it takes and gives open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from ragmetrics_core.adapting import Call, CalledTool, CapturedMessage, Fields, Kind
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_langchain._dialect import conversation, request_of

if TYPE_CHECKING:
    from langsmith.schemas import Run

__all__ = ["traced_calls"]

_KINDS: Mapping[str, Kind] = {"retriever": "retriever", "llm": "model", "tool": "tool", "prompt": "prompt"}
# Classes of messages, as LangChain writes them.
_ROLES = {"SystemMessage": "system", "HumanMessage": "user", "AIMessage": "assistant", "ToolMessage": "tool"}


def traced_calls(run: "Run") -> list[Call]:
    """The calls inside a traced run, with the order of their beginnings and ends."""
    calls: list[tuple[Run, Call]] = []
    made = [_call(child, calls) for child in run.child_runs or ()]
    moments = {moment for inner, _ in calls for moment in (inner.start_time, inner.end_time) if moment}
    order = {moment: number for number, moment in enumerate(sorted(moments), start=1)}
    for inner, call in calls:
        call.began = 2 * order[inner.start_time]
        # what begins when another call ends comes after it
        call.ended = None if inner.end_time is None or inner.error else 2 * order[inner.end_time] - 1
    return made


def _call(run: "Run", calls: "list[tuple[Run, Call]]") -> Call:
    kind = _KINDS.get(run.run_type, "chain")
    inputs: Any = run.inputs or {}
    outputs: Any = run.outputs or {}
    call = Call(kind=kind, name=run.name, inputs=inputs, outputs=outputs)
    if kind == "model":
        call.inputs, call.outputs = _request(inputs), _reply(outputs)
    elif kind == "retriever":
        call.query = inputs.get("query")
        traces: Any = outputs.get("documents") or outputs.get("output") or ()
        call.outputs = [_document(traced) for traced in traces]
    elif set(outputs) == {"output"}:
        call.outputs = outputs["output"]
    calls.append((run, call))
    call.children = [_call(child, calls) for child in run.child_runs or ()]
    return call


def _request(inputs: Fields) -> list[CapturedMessage]:
    """The messages of a model's request, in the forms of LangChain, of OpenAI's client, and of a text."""
    given: Any = inputs.get("messages") or inputs.get("prompts") or inputs.get("prompt") or ()
    parts: Any = [given] if isinstance(given, str) else given
    if len(parts) == 1 and is_series(parts[0]):
        parts = parts[0]
    return [message for part in parts for message in _messages(part)]


def _messages(value: Any) -> Iterator[CapturedMessage]:
    if isinstance(value, str):
        yield CapturedMessage("user", value)
    elif is_mapping(value) and "kwargs" in value:
        named: Any = value["kwargs"]
        path: Any = value.get("id") or [""]
        role = _ROLES.get(str(path[-1]).removesuffix("Chunk"), "user")
        calls = [CalledTool(each["name"], each["args"], each["id"]) for each in named.get("tool_calls") or ()]
        yield CapturedMessage(
            role,
            _joined_text(named.get("content")),
            tool_calls=calls,
            has_failed=named.get("status") == "error",
            tool=named.get("name") or "",
        )
    elif isinstance(value, BaseMessage):
        yield from request_of([value])
    elif is_mapping(value):
        yield from request_of(conversation([value]))


def _reply(outputs: Fields) -> str | None:
    """The text of a model's first reply."""
    generations: Any = outputs.get("generations")
    while is_series(generations) and generations:
        generations = generations[0]
    if is_mapping(generations):
        for message in _messages(generations.get("message")):
            return message.text
        return _joined_text(generations.get("text"))
    choices: Any = outputs.get("choices")
    if choices:
        return _joined_text(choices[0]["message"].get("content"))
    return next((message.text for message in _messages(outputs.get("output"))), None)


def _joined_text(content: Any) -> str:
    parts = content if is_series(content) else [content]
    texts = (part.get("text") if is_mapping(part) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _document(traced: Any) -> Document:
    """A document, as an object or as sent over the network."""
    if isinstance(traced, Document):
        return traced
    named: Any = traced.get("kwargs") or traced
    return Document(page_content=str(named.get("page_content") or ""), id=named.get("id"))
