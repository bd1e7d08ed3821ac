"""Constrain replies to a schema, if the model's client and its server support it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ragmetrics_core.adapting._foreign_models import ForeignModel
from ragmetrics_core.errors import AccessRefused, ModelError, ModelRefused
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["ForeignJudge", "ReplyHeldBack", "first_taken", "response_format"]

T = TypeVar("T")
W = TypeVar("W")
Schema = dict[str, Any]


class ReplyHeldBack(ModelError):
    """A client raised an error for a truncated or filtered reply; the error held the reply.

    Args:
        message: description of the failure.
        reply: the reply with its finish reason.
    """

    def __init__(self, message: str, reply: Completion) -> None:
        super().__init__(message)
        self.reply = reply


class ForeignJudge(ForeignModel):
    """A framework's language model as a judge; derived classes send the schema.

    If the model's client supports it, the reply's schema is sent whenever JSON is requested, and the model's
    name has `response_format=json_schema`. If the server refuses, the schema is left out from then on. Each
    reply's `held_to` names the constraint.
    """

    @cached_property
    def takes_schema(self) -> bool:
        """Whether the model's client can send a schema and its user has not chosen a format."""
        raise NotImplementedError

    async def held(
        self, request: Generate[Any], ask: Callable[[Schema | None], Awaitable[Sequence[Completion]]]
    ) -> Sequence[Completion]:
        """The replies to a request, constrained to its schema if the server supports it.

        Args:
            request: the request.
            ask: asks the model with the schema, or without one for None.

        Raises:
            ModelError: the model failed.
        """
        schema = request.schema if self.takes_schema and not self._refused else None
        try:
            way, replies = await first_taken([None] if schema is None else [schema, None], ask)
        except ReplyHeldBack as error:
            return [error.reply]
        if way is not schema:
            self._refused.append(True)
        return replies

    @cached_property
    def _refused(self) -> list[bool]:
        return []


async def first_taken(ways: Iterable[W], ask: Callable[[W], Awaitable[T]]) -> tuple[W, T]:
    """The first way of asking that the server accepts, with its answer.

    Refusals have no common form, so any refusal leads to the next way. A refused key is not tried again.

    Raises:
        ModelRefused: the server refuses all of them; this is the first refusal.
        ModelError: the model failed.
    """
    refusal: ModelRefused | None = None
    for way in ways:
        try:
            return way, await ask(way)
        except AccessRefused:
            raise
        except ModelRefused as error:
            refusal = refusal or error
    assert refusal is not None, "there is at least one way"
    try:
        raise refusal
    finally:
        del refusal  # its traceback holds this frame, which would hold the client until somebody collects


def response_format(request: Generate[Any]) -> Schema:
    """The schema of a reply in the form of the OpenAI protocol."""
    name = request.prompt.answer.__name__
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": request.schema}}
