"""Holding a model's reply to the schema of its form, where the model's client and its server take one."""

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
    """A client raised an error in place of a reply that was cut or filtered; the error held the reply.

    Args:
        message: what happened.
        reply: the reply, with why it ended.
    """

    def __init__(self, message: str, reply: Completion) -> None:
        super().__init__(message)
        self.reply = reply


class ForeignJudge(ForeignModel):
    """A framework's language model as a judge; who derives from it says how the model is held to a schema.

    Where the model's client takes one, the schema of the reply goes along whenever JSON is asked for, and the
    model's name has `response_format=json_schema`. A server that refuses is asked without, and from then on
    at once. What was sent stands in each reply's `held_to`.
    """

    @cached_property
    def takes_schema(self) -> bool:
        """Whether the model's client can send a schema along; its user chose no form himself."""
        raise NotImplementedError

    async def held(
        self, request: Generate[Any], ask: Callable[[Schema | None], Awaitable[Sequence[Completion]]]
    ) -> Sequence[Completion]:
        """The replies to a request, held to its schema where the server takes it.

        Args:
            request: what is asked.
            ask: asks the model, with the schema or, with None, without.

        Raises:
            ModelError: the model did not answer.
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
    """The first way of asking that the server does not refuse, and what it answered.

    Servers refuse what they do not know in their own words, so it is left out to see. Who may not ask at all
    asks once.

    Raises:
        ModelRefused: it refuses all of them; the first refusal.
        ModelError: the model did not answer.
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
    """The schema of a reply, as servers that speak the OpenAI protocol take it."""
    name = request.prompt.answer.__name__
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": request.schema}}
