"""Values as traces hold them: decoded JSON, with documents and messages in the forms of all frameworks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ragmetrics_core.adapting import CalledTool, CapturedMessage, Chunk, Dialect, Fields, chunks_of
from ragmetrics_core.boundary import is_list, is_mapping, is_series
from ragmetrics_core.traces._reprs import printed_message

__all__ = ["DIALECT", "decoded", "requested"]

# The words of LangChain, by type and by class, and of Gemini.
_ROLES: Final = {
    "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant", "model": "assistant",
    "SystemMessage": "system", "developer": "system",
    "ToolMessage": "tool", "FunctionMessage": "tool", "function": "tool",
}  # fmt: skip
_TYPES: Final = frozenset(
    {"human", "ai", "system", "tool", "function", "AIMessageChunk", "HumanMessageChunk"}
)
# Messages of OpenAI's responses that have no role.
_ITEMS: Final = frozenset({"function_call", "function_call_output", "reasoning"})
# Parts of a message that call a tool or report its result, in the words of all providers.
_TOOL_CALLS: Final = ("tool_call", "tool_use", "toolUse", "function_call", "functionCall", "server_tool_call")
_TOOL_RESULTS: Final = (
    "tool_call_result", "tool_result", "toolResult", "tool_call_response", "server_tool_call_response",
    "function_call_output", "functionResponse",
)  # fmt: skip
# Words in the types of parts that are not text.
_MEDIA: Final = ("blob", "file", "uri", "image", "audio", "video")
# Fields of a message that hold its text: of most, of GenAI and Gemini, of OpenInference, of LlamaIndex.
_CONTENTS: Final = ("content", "parts", "contents", "blocks")
# Fields by which a mapping with a text is a document.
_MARKS: Final = ("metadata", "meta", "score", "id", "doc_id", "document_id", "id_", "node_id")
_TEXTS: Final = ("content", "text", "contents", "chunk")


class _ContentPart(NamedTuple):
    """A part of a message: text for the model, or else what the model wrote beside its text."""

    text: str = ""
    written: Any = None
    called: CalledTool | None = None
    is_result: bool = False
    is_media: bool = False


def decoded(text: Any) -> Any:
    """The value of a text that is JSON; anything else unchanged."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def requested(value: Any) -> list[CapturedMessage]:
    """The messages of a request, also if a mapping or a list holds the list of them."""
    return list(DIALECT.conversation(value))


def _message(value: Any) -> list[CapturedMessage] | None:
    """The message that a value is, with the results of tools in it apart; None for anything else."""
    if isinstance(value, CapturedMessage):
        return [value]
    if isinstance(value, str):
        value = printed_message(value)
    if is_list(value) and len(value) == 2 and value[0] in ("system", "user", "human", "assistant", "ai"):
        value = {"role": value[0], "content": value[1]}  # a pair, as LangChain takes it
    if not is_mapping(value):
        return None
    named: Mapping[Any, Any] = value
    role, kind = (each if isinstance(each, str) else None for each in (named.get("role"), named.get("type")))
    if "lc" in named and is_mapping(named.get("kwargs")) and is_list(named.get("id")) and named["id"]:
        role, named = str(named["id"][-1]), named["kwargs"]
        if role not in _ROLES:
            return None
    elif kind in _TYPES and is_mapping(named.get("data")):
        role, named = kind, named["data"]
    elif role is None and kind in _ITEMS:
        role, named = "assistant", {"content": [named]}
    elif is_mapping(named.get("message")) and "role" in named["message"]:
        named = named["message"]
        role = named["role"]
    elif role is None and kind in _TYPES and "content" in named:
        role = kind
    if not isinstance(role, str):
        return None
    held = [named[name] for name in _CONTENTS if named.get(name) is not None]
    calls = _calls(named)
    role = _ROLES.get(role, role)
    may_be_empty = bool(calls) or (role == "assistant" and any(name in named for name in _CONTENTS))
    is_readable = (
        isinstance(held[0], str) or is_mapping(held[0]) or is_series(held[0]) if held else may_be_empty
    )
    if not is_readable:
        return None
    parts = [part for value in held[:1] for part in _parts(value)]
    parts += [_ContentPart(written=call.arguments, called=call) for call in calls]
    has_failed = named.get("status") == "error" or named.get("is_error") is True
    said = [part for part in parts if not part.is_result]
    results = [CapturedMessage("tool", part.text, has_failed=has_failed) for part in parts if part.is_result]
    if results and not any(part.text.strip() for part in said):
        return results
    if role != "assistant":  # a model reads parts of all forms
        said = [
            part if part.called or part.written is None else _ContentPart(_printed(part.written))
            for part in said
        ]
    message = CapturedMessage(
        role,
        "\n".join(part.text for part in said if part.text),
        [part.called for part in said if part.called is not None],
        has_failed,
        [part.written for part in said if part.written is not None],
        has_media=any(part.is_media for part in said),
    )
    return [*results, message]


def _calls(named: Mapping[Any, Any]) -> list[CalledTool]:
    """The tool calls beside the content of a message."""
    further = named.get("additional_kwargs")
    places = [named, further] if is_mapping(further) else [named]
    for place in places:
        calls: Any = place.get("tool_calls") or place.get("function_call")
        if calls:
            return [_called(call) for call in (calls if is_series(calls) else [calls])]
    return []


def _called(call: Any) -> CalledTool:
    """A tool call, in the forms of OpenAI, LangChain, Anthropic and OpenInference."""
    for name in (*_TOOL_CALLS, "function"):
        if is_mapping(call) and is_mapping(call.get(name)):
            call = call[name]
    if not is_mapping(call):
        return CalledTool("", call)
    arguments = decoded(next((call[name] for name in ("arguments", "args", "input") if name in call), None))
    return CalledTool(str(call.get("name") or ""), arguments)


def _parts(content: Any) -> Iterator[_ContentPart]:
    """The parts of a message's content."""
    if isinstance(content, str):
        yield _ContentPart(content)
        return
    for part in content if is_series(content) else [content]:
        if isinstance(part, str):
            yield _ContentPart(part)
        elif is_mapping(part):
            inner: Any = part.get("message_content")
            yield from _part(inner if is_mapping(inner) else part)


def _part(part: Mapping[Any, Any]) -> Iterator[_ContentPart]:
    kind = str(part.get("type") or part.get("block_type") or "")
    for name in _TOOL_RESULTS:
        if kind == name or name in part:
            named: Any = part.get(name) if is_mapping(part.get(name)) else part
            result = next(
                (named[key] for key in ("response", "result", "content", "output") if key in named), named
            )
            yield _ContentPart(_printed(result), is_result=True)
            return
    if kind in _TOOL_CALLS or any(is_mapping(part.get(name)) for name in _TOOL_CALLS):
        called = _called(part)
        yield _ContentPart(written=called.arguments, called=None if kind == "server_tool_call" else called)
    elif kind in ("reasoning", "thinking") or "reasoning" in part or part.get("thought") is True:
        yield _ContentPart(written=[value for key, value in part.items() if key != "type"])
    elif any(word in kind for word in _MEDIA):
        yield _ContentPart(is_media=True)
    else:
        text: Any = part.get("text", part.get("content"))
        blocks: Any = [each.get("text") for each in text if is_mapping(each)] if is_series(text) else [text]
        texts = [_ContentPart(each) for each in blocks if isinstance(each, str)]
        yield from texts or (_ContentPart(written=phrase) for phrase in _phrases(part))


def _phrases(value: Any) -> Iterator[str]:
    """The texts of several words anywhere in a part of an unknown form, such as a document."""
    if isinstance(value, str) and " " in value.strip():
        yield value
    elif is_mapping(value) or is_series(value):
        for inner in value.values() if is_mapping(value) else value:
            yield from _phrases(inner)


def _printed(value: Any) -> str:
    """A tool's result as a model reads it."""
    if isinstance(value, str):
        return value
    if is_series(value) and (texts := [part.text for part in _parts(value) if part.text]):
        return "\n".join(texts)
    return json.dumps(value, ensure_ascii=False)


def _messages(value: Any) -> Sequence[CapturedMessage]:
    if (message := _message(value)) is not None:
        return message
    if not is_series(value) or not value or isinstance(value, Chunk):
        return ()
    if len(value) == 1 and is_series(value[0]) and _message(value[0]) is None:
        value = value[0]  # a batch of one request
    messages = [_message(part) for part in value]
    return [each for message in messages for each in message or ()] if all(messages) else ()


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    message = None if is_series(value) and not isinstance(value, CapturedMessage) else _message(value)
    return None if message is None else "\n".join(each.text for each in message)


def _document(value: Any) -> Chunk | None:
    if isinstance(value, Chunk):
        return value
    if not is_mapping(value):
        return None
    named: Mapping[Any, Any] = value
    if is_mapping(named.get("kwargs")) and "page_content" in named["kwargs"]:
        named = named["kwargs"]
    elif set(named) <= {"document", "score"} and is_mapping(named.get("document")):
        named = {"score": named.get("score"), **named["document"], "metadata": {}}
    is_named = "page_content" in named or ("node" in named and "score" in named)
    has_text = any(isinstance(named.get(name), str) for name in _TEXTS)
    is_like = has_text and any(name in named for name in _MARKS) and "role" not in named
    if not is_named and (not is_like or named.get("type", "Document") != "Document"):
        return None
    chunks, _ = chunks_of([named])
    return chunks[0] if chunks else Chunk("")


def _fields(value: Any) -> Fields:
    """The fields of a mapping; of a message, the artifact of a tool."""
    if not is_mapping(value) or _document(value) is not None:
        return {}
    if _message(value) is None:
        return value
    inner: Any = value.get("data") or value.get("kwargs")
    artifact: Any = inner.get("artifact") if is_mapping(inner) else value.get("artifact")
    return {} if artifact is None else {"artifact": artifact}


DIALECT: Final = Dialect(document=_document, text=_text, messages=_messages, fields=_fields)
