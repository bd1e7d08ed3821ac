"""A judge whose calls are spans of OpenTelemetry."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmetrics_core.errors import ConfigError, ModelTimeout
from ragmetrics_core.models._answers import checked_replies
from ragmetrics_core.models.judges import as_judge
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.models.wrapper import Wrapper, decider
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.protocol import Completion, Generate, Judge

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

__all__ = ["LINE_CALL", "LineCall", "TracedJudge"]


class LineCall(NamedTuple):
    """A call of a line.

    Attributes:
        redactor: redacts its replies.
        limit: its time limit.
    """

    redactor: Redactor
    limit: asyncio.Timeout


LINE_CALL: ContextVar[LineCall | None] = ContextVar("ragmetrics_call", default=None)
"""The line's call that is being made; None outside of a line."""


@dataclass(frozen=True)
class TracedJudge(Wrapper):
    """A judge with a span of OpenTelemetry for each call, in a trace of its own; its replies do not change.

    Each attempt to get replies is a call, so a retry has its own span; a reply from the cache has none.
    A span has kind CLIENT and the attributes of the GenAI conventions: model, tokens, finish reasons, and the
    kind of error. `ragmetrics.step.prompt`, `.rendered_digest` and `.draw` are fields of the record's step,
    so a step leads to its span by the digest, and a span to its step. `ragmetrics.judge` is the judge's
    identity, for a cascade that of the judge that answers.

    The span is not part of the trace that is open in the application. It is the current span during the call,
    so spans of an instrumented client belong to it.

    Only the API is used: without a tracer provider in the process, nothing is recorded.

    Attributes:
        inner: the judge.
        tracer_provider: replaces the process's tracer provider.
        content: also record the messages, as they are sent, and the redacted replies.

    Raises:
        ConfigError: the judge is invalid, or opentelemetry-api is not installed.
    """

    inner: Judge
    tracer_provider: "TracerProvider | None" = field(default=None, kw_only=True, repr=False, compare=False)
    content: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inner", as_judge(self.inner))
        _tracer(self.tracer_provider)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The judge's replies.

        Raises:
            ModelError: the judge failed, or did not return text.
        """
        from opentelemetry.trace import Status, StatusCode, use_span

        call = LINE_CALL.get()
        span = self._started(request)
        with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                given = await self.inner.agenerate(request)
                replies = checked_replies(given, request.draws, self.identity)
            except BaseException as error:  # the boundary to foreign code: a model may raise anything
                is_late = call is not None and call.limit.expired()
                kind = ModelTimeout if is_late else type(error)
                span.set_attribute("error.type", kind.__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise
            if span.is_recording():
                self._describe(span, replies, call.redactor if call else Redactor(self))
        return given

    def _started(self, request: Generate[Any]) -> "Span":
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind

        part = decider(self.inner, request)
        model = None if part else getattr(self.inner, "model", None)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "ragmetrics.judge": part or self.identity,
            "ragmetrics.step.prompt": request.prompt.id,
            "ragmetrics.step.rendered_digest": request.digest,
            "ragmetrics.step.draw": request.draw,
        }
        name = "chat"
        if isinstance(model, str) and model:
            name = f"chat {model}"
            attributes["gen_ai.request.model"] = model
        if request.draws > 1:
            attributes["gen_ai.request.choice.count"] = request.draws
        if self.content:
            messages = [_message(message.role, message.content) for message in request.messages]
            attributes["gen_ai.input.messages"] = json.dumps(messages)
        return _tracer(self.tracer_provider).start_span(
            name, context=Context(), kind=SpanKind.CLIENT, attributes=attributes
        )

    def _describe(self, span: "Span", replies: Sequence[Completion], redactor: Redactor) -> None:
        """Add what the replies say to the span; nothing if they cannot be redacted."""
        with suppress(ConfigError):
            replies = [redactor.reply(reply) for reply in replies]
            span.set_attributes(dict(_attributes(replies)))
            if self.content:
                span.set_attribute("gen_ai.output.messages", json.dumps(list(map(_output, replies))))


def _tracer(provider: "TracerProvider | None") -> "Tracer":
    try:
        from opentelemetry.trace import get_tracer
    except ImportError as error:
        raise ConfigError("a TracedJudge needs opentelemetry-api: install ragmetrics-core[otel]") from error
    return get_tracer("ragmetrics", VERSION, provider)


def _attributes(replies: Sequence[Completion]) -> Iterator[tuple[str, Any]]:
    model = next((reply.model for reply in replies if reply.model), None)
    if model is not None:
        yield "gen_ai.response.model", model
    reasons = [reply.finish_reason for reply in replies if reply.finish_reason is not None]
    if reasons:
        yield "gen_ai.response.finish_reasons", reasons
    usages = [reply.usage for reply in replies if reply.usage is not None]
    if usages:
        yield "gen_ai.usage.input_tokens", sum(usage.prompt_tokens for usage in usages)
        yield "gen_ai.usage.output_tokens", sum(usage.completion_tokens for usage in usages)


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _output(reply: Completion) -> dict[str, Any]:
    message = _message("assistant", reply.text)
    return message if reply.finish_reason is None else message | {"finish_reason": reply.finish_reason}
