"""A loopback OpenAI-compatible server that keeps its requests, and the promise that captures are held to."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from tests.servers import Answer, OpenAIServer, Seen

__all__ = ["BodyKeeper", "Call", "Exchange", "Reply", "assert_shown", "text_of"]


class Call(NamedTuple):
    """A reply that calls a tool; with `saying`, the first of its calls also says something."""

    name: str
    arguments: Mapping[str, Any]
    saying: str | None = None


Reply = str | Call | list[Call]


class Exchange(NamedTuple):
    """A request and what it was answered with.

    Attributes:
        body: the request, as it came over the wire.
        text: the text of all its messages, as the model reads them.
        reply: the reply.
    """

    body: Any
    text: str
    reply: Reply


class BodyKeeper(OpenAIServer):
    """A model behind HTTP; use it with `with`.

    Args:
        replies: what the model says to the text of a request's messages.
    """

    def __init__(self, replies: Callable[[str], Reply]) -> None:
        super().__init__(self._reply)
        self._replies = replies
        self.exchanges: list[Exchange] = []

    def _reply(self, request: Seen) -> Answer:
        text = text_of(request.body)
        reply = self._replies(text)
        self.exchanges.append(Exchange(request.body, text, reply))
        message = _message(reply)
        reason = "stop" if isinstance(reply, str) else "tool_calls"
        if request.body.get("stream"):
            return replace(_streamed(message, reason), headers=_CLOSING)
        choice = {"index": 0, "finish_reason": reason, "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = _COMPLETION | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return Answer(body=body, headers=_CLOSING)

    def answering(self, answer: str) -> Exchange:
        """The latest request that was answered with this."""
        return next(each for each in reversed(self.exchanges) if each.reply == answer)


# a client of a loop that has ended would leave its connection open
_CLOSING = {"connection": "close"}
_COMPLETION = {"id": "chatcmpl-1", "created": 1, "model": "kept"}


def _message(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    calls = [reply] if isinstance(reply, Call) else reply
    functions = [{"name": each.name, "arguments": json.dumps(each.arguments)} for each in calls]
    listed = [
        {"id": f"call_{n}", "index": n, "type": "function", "function": function}
        for n, function in enumerate(functions)
    ]
    return {"role": "assistant", "content": calls[0].saying, "tool_calls": listed}


def _streamed(message: dict[str, Any], reason: str) -> Answer:
    content = message["content"]
    pieces = [content[n : n + 7] for n in range(0, len(content), 7)] if content else []
    first = message | {"content": pieces[0] if pieces else None}
    deltas = [first, *({"content": each} for each in pieces[1:])]
    choices = [{"index": 0, "delta": each, "finish_reason": None} for each in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    events = [_COMPLETION | {"object": "chat.completion.chunk", "choices": [each]} for each in choices]
    lines = [f"data: {json.dumps(each)}\n\n" for each in events]
    return Answer(body="".join([*lines, "data: [DONE]\n\n"]).encode(), content_type="text/event-stream")


def text_of(body: Any) -> str:
    """The text of a request's messages; of its prompt, where it has no messages."""
    texts: list[str] = []
    for message in body.get("messages") or [{"content": body.get("prompt")}]:
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        texts += [each if isinstance(each, str) else each.get("text", "") for each in parts if each]
    return "\n".join(texts)


def assert_shown(sample: Sample, server: BodyKeeper, corpus: Iterable[str]) -> None:
    """The promise: contexts were in a request, and chunks in the answering request are in them."""
    assert sample.answer is not None
    shown = server.answering(sample.answer).text
    requests = [exchange.text for exchange in server.exchanges]  # also those behind a draft in the last one
    recorded = [piece for context in sample.contexts or () for piece in context.split(" … ")]
    unseen = [piece for piece in recorded if not any(piece in request for request in requests)]
    assert unseen == [], "recorded, and not in a request"
    unrecorded = [
        chunk for chunk in corpus if chunk in shown and not any(chunk in piece for piece in recorded)
    ]
    assert unrecorded == [], "in the request, not recorded"
