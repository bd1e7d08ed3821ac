"""Requests, replies, documents and moments out of what an export records of a call."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ragmetrics_core.adapting import CapturedMessage, Chunk, chunks_of
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.traces._values import DIALECT

__all__ = ["documents_in", "moment", "reply_in", "request_in"]

_DEEPEST = 6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Where requests and replies lie in what is recorded of a call, the most telling first.
_INSTRUCTIONS = ("system", "instructions", "system_instruction", "systemInstruction")
_REQUESTS = ("messages", "contents", "input", "prompts", "prompt", "inputs", "request", "kwargs", "args")
_CHOICES = ("choices", "generations", "candidates", "replies")
_REPLIES = (
    "messages", "message", "content", "output", "outputs", "response", "text", "completion", "generated_text",
)  # fmt: skip
# Where searches keep their results, and a result its text.
_LISTS = ("documents", "source_nodes", "source_documents", "nodes", "matches", "hits", "results")
_WRAPPERS = ("output", "result", "hits")
_INNER = ("document", "metadata", "payload", "_source", "entity")
_TEXTS = ("page_content", "content", "text", "contents", "chunk")


def moment(value: Any) -> int | None:
    """Unix time in nanoseconds: of a number or its text, by its size, or of a date in ISO's form.

    A date without a zone is in UTC.

    >>> moment("1970-01-01T00:00:01.5Z"), moment(1_700_000_000_000), moment("soon")
    (1500000000, 1700000000000000000, None)
    """
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            return moment(int(value))
        try:
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
            return (time - _EPOCH) // timedelta(microseconds=1) * 1000
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e19:
        return None
    for unit, most in ((1_000_000_000, 1e11), (1_000_000, 1e14), (1_000, 1e17)):
        if value < most:
            return int(value * unit)
    return int(value)


def request_in(value: Any, depth: int = _DEEPEST) -> list[CapturedMessage] | None:
    """The messages of a model's request, from the inputs of the call; None if unknown.

    >>> for message in request_in({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]}):
    ...     print(message.role, message.text)
    system Be brief.
    user Hi
    """
    if messages := DIALECT.messages(value):
        return list(messages)
    if isinstance(value, str):
        return [CapturedMessage("user", value)] if value else None
    if not depth:
        return None
    if is_series(value):
        if value and all(isinstance(part, str) for part in value):
            return [CapturedMessage("user", str(part)) for part in value]
        return request_in(value[0], depth - 1) if len(value) == 1 else None
    if not is_mapping(value):
        return None
    for key in _REQUESTS:
        if asked := request_in(value.get(key), depth - 1):
            instructions = [text for name in _INSTRUCTIONS for text in _texts(value.get(name), depth)]
            return [*(CapturedMessage("system", text) for text in instructions), *asked]
    return None


def _texts(value: Any, depth: int) -> list[str]:
    """The texts of instructions: a text, or parts with texts."""
    if isinstance(value, str):
        return [value] if value else []
    if not depth:
        return []
    if is_series(value):
        return [text for part in value for text in _texts(part, depth - 1)]
    if is_mapping(value):
        return _texts(value.get("text", value.get("content", value.get("parts"))), depth - 1)
    return []


def reply_in(value: Any, depth: int = _DEEPEST) -> CapturedMessage | None:
    """A model's first reply, from the outputs of the call; None if unknown.

    >>> reply_in({"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}).text
    'Hello'
    """
    if messages := DIALECT.messages(value):
        return _joined(messages)
    if isinstance(value, str):
        return CapturedMessage("assistant", value)
    if depth and is_series(value) and value:
        return reply_in(value[0], depth - 1)
    if depth and is_mapping(value):
        for key in _CHOICES:
            if is_series(choices := value.get(key)) and choices:
                return reply_in(choices[0], depth - 1)
        for key in _REPLIES:
            if value.get(key) is not None and (reply := reply_in(value[key], depth - 1)) is not None:
                return reply
    return None


def _joined(messages: Sequence[CapturedMessage]) -> CapturedMessage | None:
    """The last words of a model, in one message: the items of a reply may be apart."""
    asked = max((n for n, each in enumerate(messages) if each.role in ("user", "tool")), default=-1)
    items = [each for each in messages[asked + 1 :] if each.role == "assistant"]
    if not items:
        return None
    return CapturedMessage(
        "assistant",
        "\n".join(item.text for item in items if item.text),
        tool_calls=[call for item in items for call in item.tool_calls],
        others=[other for item in items for other in item.others],
    )


def documents_in(value: Any) -> tuple[list[Chunk], list[str]]:
    """The documents that a search or a ranker returned, and the names of the types without text.

    >>> documents_in({"matches": [{"id": "a", "score": 0.5, "metadata": {"text": "Tea."}}]})[0]
    [Chunk(text='Tea.', id='a', score=0.5, others=(), is_added=False)]
    """
    return chunks_of(_flat(value, _DEEPEST))


def _flat(value: Any, depth: int) -> Any:
    """Results as `chunks_of` reads them: pairs as tuples, and texts of inner mappings beside the ids."""
    if not depth:
        return None
    if is_series(value):
        if len(value) == 2 and isinstance(value[1], int | float) and not isinstance(value[0], int | float):
            return (_flat(value[0], depth - 1), value[1])
        return [_flat(part, depth - 1) for part in value]
    if not is_mapping(value) or any(isinstance(value.get(key), str) for key in _TEXTS):
        return value
    for key in _LISTS:
        if is_series(value.get(key)):
            return _flat(value[key], depth - 1)
    for key in _WRAPPERS:
        if is_mapping(value.get(key)) or is_series(value.get(key)):
            return _flat(value[key], depth - 1)
    for key in _INNER:
        inner: Any = value.get(key)
        if is_mapping(inner) and any(isinstance(inner.get(name), str) for name in _TEXTS):
            return {**inner, **value}
    return value
