"""Messages in the forms of several libraries: their roles, texts, contexts and tool calls."""

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, cast

from ragmetrics_core.boundary.shapes import field_of, is_mapping, is_series

__all__ = ["ChatMessage", "UnreadableMessage", "has_role", "messages_in", "role_of"]

_ROLE_KEYS: Final = ("role", "type", "speaker", "from")
_ROLES: Final = {
    "human": "user",
    "humanmessage": "user",
    "user": "user",
    "agent": "assistant",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "assistant": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "function_call": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "function": "tool",
    "function_call_output": "tool",
    "functionmessage": "tool",
    "tool": "tool",
    "toolmessage": "tool",
    "developer": "developer",
    "system": "system",
    "systemmessage": "system",
}
# `blocks` come first: the `content` of LlamaIndex leaves out the blocks that are not texts
_CONTENT_KEYS: Final = ("blocks", "content", "text", "value", "parts", "output", "refusal")
_CONTEXT_KEYS: Final = (
    "contexts",
    "retrieved_contexts",
    "retrieval_context",
    "retrievalContext",
    "source_documents",
    "context",
)
_CALLED_KEYS: Final = ("tools_called", "toolsCalled")
_TEXT_PARTS: Final = frozenset({None, "text", "input_text", "output_text", "refusal"})
_CALL_PARTS: Final = frozenset({"tool_use", "tool_call", "function_call"})
# parts that the user is not shown
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning", "step-start"})


class UnreadableMessage(ValueError):
    """A message has no role or no text, or a part that is not text."""


class ChatMessage(NamedTuple):
    """A message of a conversation.

    Attributes:
        role: "user", "assistant", "system", "developer", "tool", or another word.
        content: its text.
        contexts: chunks that the message names, as they are written; None if it names none.
        tool_calls: name, arguments and id of the tools that it calls.
        raw: its content as it is written, which may have citations.
    """

    role: object
    content: object
    contexts: object = None
    tool_calls: tuple[dict[str, str | None], ...] | None = None
    raw: object = None

    @property
    def is_step(self) -> bool:
        """Whether it calls tools, so that it is not the answer itself."""
        return self.role == "assistant" and self.tool_calls is not None

    @property
    def turn(self) -> dict[str, Any]:
        """The fields of the message as a turn of a sample."""
        fields = {"contexts": self.contexts, "tool_calls": self.tool_calls}
        present = {name: value for name, value in fields.items() if value is not None}
        return {"role": self.role, "content": self.content, **present}


def has_role(value: object) -> bool:
    """Whether a value says who speaks, as a message does."""
    if is_series(value):
        return len(value) == 2 and all(isinstance(part, str) for part in value)
    return isinstance(_role_of(_unwrapped(value)), str)


def messages_in(value: object) -> Iterator[ChatMessage]:
    """The message, after the tools that it reports; calls and results of these are messages of their own.

    Raises:
        UnreadableMessage: it has no role or no text, or a part that is not text.
    """
    if is_series(value):
        if len(value) != 2 or not all(isinstance(part, str) for part in value):
            raise UnreadableMessage
        yield ChatMessage(_role(value[0]), value[1], raw=value[1])
        return
    value = _unwrapped(value)
    role = _role_of(value)
    raw = _first(value, _CONTENT_KEYS)
    if role is None and raw is None:
        raise UnreadableMessage
    parts = _parts(_list(raw))
    if _list(_field(value, "images")):
        raise UnreadableMessage("has an image, which cannot be read: only texts are scored")
    content = "".join(parts.texts) if is_series(_list(raw)) else raw
    results = parts.results or _list(_field(value, "tool_call_results")) or []
    for result in cast("list[object]", results):
        yield ChatMessage("tool", _result(result))
    calls = _calls(value, parts.calls)
    if results and not content and not calls:
        return
    called = tuple(map(_call, cast("list[object]", _list(_first(value, _CALLED_KEYS)) or [])))
    if called and not calls:  # DeepEval's turn after its tools: the calls came before the text
        yield ChatMessage(role, "", None, called)
    if content is None and calls:
        content = ""
    yield ChatMessage(role, content, _contexts(value), calls or None, raw)


class _Parts(NamedTuple):
    texts: list[str]
    calls: list[object]
    results: list[object]


def _parts(content: object) -> _Parts:
    """The texts, tool calls and results of tools in a content."""
    parts = _Parts([], [], [])
    for part in content if is_series(content) else ():
        if isinstance(part, str):
            parts.texts.append(part)
            continue
        kind = _field(part, "type") or _field(part, "block_type")
        kind = kind.value if isinstance(kind, Enum) else kind
        text = _first(part, ("text", "refusal"))
        text = _field(text, "value") if is_mapping(text) else text
        nested = {name: _field(part, name) for name in ("tool_call", "tool_call_result")}
        if kind in _THOUGHTS:
            continue
        if kind in _CALL_PARTS or nested["tool_call"] is not None:
            parts.calls.append(nested["tool_call"] or part)
        elif kind == "tool_result" or nested["tool_call_result"] is not None:
            parts.results.append(nested["tool_call_result"] or part)
        elif kind in _TEXT_PARTS and isinstance(text, str):
            parts.texts.append(text)
        else:
            named = f"of type {kind!r}" if kind is not None else "without a text"
            raise UnreadableMessage(f"has a part {named}, which cannot be read: only texts are scored")
    return parts


def _result(result: object) -> object:
    """Text of a tool's result."""
    content = _list(_first(result, ("content", "result", "output")))
    return "".join(_parts(content).texts) if is_series(content) else content


def _calls(value: object, in_content: list[object]) -> tuple[dict[str, str | None], ...]:
    """The tools that a message calls."""
    kwargs = _field(value, "additional_kwargs")
    of_kwargs = _field(kwargs, "tool_calls") if is_mapping(kwargs) else None
    single = value if _field(value, "type") == "function_call" else _field(value, "function_call")
    calls = (
        _list(_field(value, "tool_calls"))
        or _list(of_kwargs)
        or in_content
        or ([] if single is None else [single])
    )
    return tuple(map(_call, cast("list[object]", calls)))


def _call(value: object) -> dict[str, str | None]:
    """Name, arguments and id of a tool call."""
    function = _field(value, "function")
    inner = value if function is None or isinstance(function, str) else function
    name = _first(inner, ("name", "tool_name", "toolName", "function"))
    if not isinstance(name, str):
        raise UnreadableMessage("calls a tool without a name")
    arguments = _first(
        inner, ("arguments", "args", "input", "input_parameters", "inputParameters", "tool_kwargs")
    )
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            raise UnreadableMessage(f"calls the tool {name!r} with arguments that are not JSON") from None
    number = _first(value, ("call_id", "tool_call_id", "tool_id", "id"))
    call: dict[str, str | None] = {"name": name, "arguments": arguments}
    return call | ({"id": number} if isinstance(number, str) else {})


def _contexts(value: object) -> object:
    """Chunks that a message names; in Azure's form they are the `citations` of a `context`."""
    contexts = _first(value, _CONTEXT_KEYS)
    citations = _field(contexts, "citations") if is_mapping(contexts) else None
    return contexts if citations is None else citations


def _unwrapped(value: object) -> object:
    """The fields of a message that LangChain wrote as JSON; any other value unchanged."""
    if not is_mapping(value):
        return value
    if is_mapping(data := value.get("data")):
        return {"type": value.get("type"), **data}
    if is_mapping(fields := value.get("kwargs")) and is_series(names := value.get("id")) and names:
        return {"type": names[-1], **fields}
    return value


def _role_of(value: object) -> object:
    """The role of a message; the word under `type` counts only if it names a role."""
    for key in _ROLE_KEYS:
        role = _field(value, key)
        role = role.value if isinstance(role, Enum) else role
        if role is not None and (key != "type" or (isinstance(role, str) and role.casefold() in _ROLES)):
            return _role(role)
    return None


def role_of(word: str) -> str:
    """The role that a word of some library names; any other word unchanged."""
    return _ROLES.get(word.strip().casefold(), word)


def _role(word: object) -> object:
    return role_of(word) if isinstance(word, str) else word


def _list(value: object) -> object:
    """A list for an array of numpy; any other value unchanged."""
    convert = None if is_mapping(value) or is_series(value) else getattr(value, "tolist", None)
    return convert() if callable(convert) else value


def _first(value: object, names: tuple[str, ...]) -> object:
    """The first part of these names that is there."""
    found = (_field(value, name) for name in names)
    return next((part for part in found if part is not None), None)


def _field(value: object, name: str) -> object:
    """A part of a message; None if it is missing, or a method."""
    try:
        part = cast("object", field_of(value, name))
    except (ValueError, TypeError, NotImplementedError):
        return None
    return None if callable(part) else part
