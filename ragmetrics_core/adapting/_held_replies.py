"""Framework models as judges whose replies are constrained, if their client and server support it."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from ragmetrics_core.adapting._foreign_models import ForeignModel
from ragmetrics_core.adapting._ways import Form, Way, Ways, json_object
from ragmetrics_core.boundary.shapes import field_of, is_series
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["ForeignJudge", "Said", "said", "said_in"]


class ForeignJudge(ForeignModel):
    """A framework's language model as a judge; derived classes apply a `Way` to it.

    If the model's client supports it, the reply's schema is sent whenever JSON is requested, and the model's
    name has `response_format=json_schema`. What the server refuses is changed, and learned if its message
    names it: see `Ways`. Each reply's `held_to` names the constraint.
    """

    without_form: ClassVar[str]
    """Advice for messages: the setting that sends no constraint."""

    @cached_property
    def takes_schema(self) -> bool:
        """Whether the model's client can send a schema and its user has not chosen a format."""
        raise NotImplementedError

    @property
    def settings(self) -> frozenset[str]:
        """Names of the model's settings that a `Way` can change."""
        raise NotImplementedError

    async def held(
        self, request: Generate[Any], ask: Callable[[Way], Awaitable[Sequence[Completion]]]
    ) -> Sequence[Completion]:
        """The replies to a request, constrained to its schema if the server supports it.

        Args:
            request: the request.
            ask: asks the model in one way.

        Raises:
            ModelError: the model failed.
        """
        form: Form = "json_schema" if self.takes_schema else "text"
        return await self._ways.replies(request, ask, form=form, settings=self.settings)

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self.identity, self.without_form)


class Said(NamedTuple):
    """The text of a reply.

    Attributes:
        text: the text.
        finish_reason: "refusal" if the text is the model's refusal, else the reason given.
    """

    text: str
    finish_reason: str | None


def said(
    content: object,
    *,
    calls: Sequence[object] = (),
    refusal: object = None,
    reasoning: object = None,
    finish_reason: str | None = None,
) -> Said:
    """The text of a reply: its content, or what a server or a client has put elsewhere.

    The arguments of the only tool call replace a content that is not an object. Without either, the text is
    the refusal, or else JSON in the reasoning: a server that separates reasoning may take a constrained reply
    for it.

    Args:
        content: the content, as text or in parts.
        calls: the arguments of tool calls, as JSON or as an object.
        refusal: the words of a refusal.
        reasoning: the model's reasoning, if separate.
        finish_reason: the reason given for the end of the reply.

    >>> said(None, calls=[{"verdict": "yes"}]).text
    '{"verdict": "yes"}'
    >>> said([{"type": "refusal", "refusal": "I cannot."}])
    Said(text='I cannot.', finish_reason='refusal')
    """
    if is_series(content):
        refusal = refusal or "".join(_texts(content, "refusal"))
        content = "".join(_texts(content, "text"))
    text = str(content or "")
    arguments = calls[0] if len(calls) == 1 else None
    if isinstance(arguments, str | Mapping) and arguments and json_object(text) is None:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    if text:
        return Said(text, finish_reason)
    if refusal:
        return Said(str(refusal), "refusal")
    is_reply = isinstance(reasoning, str) and json_object(reasoning) is not None
    return Said(str(reasoning) if is_reply else "", finish_reason)


def said_in(message: object, *, finish_reason: str | None = None) -> Said:
    """The text of a message of the OpenAI protocol, as a mapping or a client's object."""
    calls = field_of(message, "tool_calls")
    return said(
        field_of(message, "content"),
        calls=[field_of(field_of(call, "function"), "arguments") for call in calls]
        if is_series(calls)
        else (),
        refusal=field_of(message, "refusal"),
        reasoning=field_of(message, "reasoning_content") or field_of(message, "reasoning"),
        finish_reason=finish_reason,
    )


def _texts(parts: Sequence[object], name: str) -> list[str]:
    """The texts under a name in the parts of a content, without those of the model's reasoning."""
    spoken = [part for part in parts if field_of(part, "type") in {None, "text", "output_text", "refusal"}]
    return [part if isinstance(part, str) else str(field_of(part, name) or "") for part in spoken]
