"""Haystack's chat generators as judges."""

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, tracer
from ragmetrics_core.adapting import ForeignJudge, ForeignName, Way, finish_reason, said, usage_of
from ragmetrics_core.boundary import checked
from ragmetrics_core.errors import TransientModelError
from ragmetrics_core.live import is_judging
from ragmetrics_core.protocol import Completion, Generate

from haystack_integrations.components.evaluators.ragmetrics.calling import call, identity_of

__all__ = ["HaystackJudge"]

_MESSAGES = {
    "system": ChatMessage.from_system,
    "user": ChatMessage.from_user,
    "assistant": ChatMessage.from_assistant,
}


@checked
@dataclass(frozen=True, repr=False)
class HaystackJudge(ForeignJudge):
    """
    A chat generator of Haystack as a ragmetrics judge; sampling settings are the generator's.

    A generator for the OpenAI protocol gets the schema of each reply; see
    `ragmetrics_core.adapting.ForeignJudge`. Its own `response_format` takes precedence.

    Warm up and close the generator yourself; the components of this package do both.

    :param chat_generator: The generator. It is called from several threads at once, unless `concurrency` is
        1.
    :param asynchronous: Await the generator's `run_async`, if it has one, instead of calling `run` in a
        thread. Only for a judge used on one event loop, because a generator's client is bound to the loop of
        its first use.
    :param executor: The threads. Default: those of the running loop.
    :param name: The judge's name in records. Default: its class, model, server and settings.
    """

    without_form: ClassVar[str] = "set response_format to {'type': 'text'} in the generator's generation_kwargs"

    chat_generator: ChatGenerator
    asynchronous: bool = field(default=False, kw_only=True)
    executor: Executor | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model and server, and a digest of the settings."""
        return identity_of(self.chat_generator, {"response_format": "json_schema"} if self.takes_schema else {})

    @cached_property
    def takes_schema(self) -> bool:
        """Whether the generator uses the OpenAI protocol and has no `response_format` of its own."""
        kinds = {each.__name__ for each in type(self.chat_generator).__mro__}
        return "OpenAIChatGenerator" in kinds and "response_format" not in self._chosen_kwargs

    @property
    def settings(self) -> frozenset[str]:
        """The names in the generator's `generation_kwargs`."""
        return frozenset(self._chosen_kwargs)

    @property
    def _chosen_kwargs(self) -> Mapping[str, Any]:
        return getattr(self.chat_generator, "generation_kwargs", None) or {}

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """
        Ask the generator once.

        :param request: The rendered prompt.
        :returns: The generator's replies.
        :raises ModelError: The generator failed or returned no reply.
        """
        return await self.held(request, partial(self._ask, request))

    async def _ask(self, request: Generate[Any], way: Way) -> list[Completion]:
        messages = [_MESSAGES[role](content) for role, content in way.messages(request)]
        form = way.response_format(request)
        inputs = {} if form is None else {"generation_kwargs": {"response_format": form}}
        generator: Any = self.chat_generator
        if (kept := way.settings(self._chosen_kwargs)) != self._chosen_kwargs:
            generator = copy(generator)  # with the same client
            generator.generation_kwargs = kept
        with _span(generator, messages) as span:
            output = await call(
                generator,
                asynchronous=self.asynchronous,
                executor=self.executor,
                messages=messages,
                **inputs,
            )
            if span is not None:
                span.set_content_tag("haystack.component.output", dict(output))
        replies = output.get("replies")
        if not replies:
            msg = f"{type(self.chat_generator).__name__} gave no reply"
            raise TransientModelError(msg)
        return [_completion(reply) for reply in replies[: request.draws]]


@contextmanager
def _span(generator: ChatGenerator, messages: list[ChatMessage]) -> Generator[Span | None]:
    """
    A span like that of Haystack's own components around a call, so that tracers see its tokens.

    A live score has no span, because it is not part of the application's run.
    """
    if is_judging():
        yield None
        return
    with tracer.trace(
        "haystack.chat_generator.run",
        tags={"haystack.component.name": "chat_generator", "haystack.component.type": type(generator).__name__},
        parent_span=tracer.current_span(),
    ) as span:
        span.set_content_tag("haystack.component.input", {"messages": messages})
        yield span


def _completion(reply: ChatMessage) -> Completion:
    meta: Mapping[str, Any] = reply.meta or {}
    text, reason = said(
        reply.text,
        calls=[each.arguments for each in reply.tool_calls],
        refusal=meta.get("refusal"),
        reasoning=reply.reasoning and reply.reasoning.reasoning_text,
        finish_reason=finish_reason(meta),
    )
    return Completion(
        text=text,
        model=str(meta.get("model") or ""),
        usage=usage_of(meta.get("usage")),
        finish_reason=reason,
    )
