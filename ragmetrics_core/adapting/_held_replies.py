"""Constrain replies to a schema, if the model's client and its server support it."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any

from ragmetrics_core.adapting._foreign_models import ForeignModel
from ragmetrics_core.errors import AccessRefused, ModelError, ModelRefused, TransientModelError
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["PERHAPS_THE_SCHEMA", "ForeignJudge", "ReplyHeldBack", "response_format"]

Schema = dict[str, Any]
# A server that fails with one of these may not know schemas. With 200 it reports an error in the answer.
PERHAPS_THE_SCHEMA = frozenset({200, 404, 500, 501})


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
    name has `response_format=json_schema`. If the server refuses it, or fails in a way that may be about it,
    the request is sent without it; if the server's message names it, so are later requests of this prompt.
    Each reply's `held_to` names the constraint.
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
        schema = request.schema if self.takes_schema and request.prompt.digest not in self._refused else None
        refusal: ModelError | None = None
        try:
            return await ask(schema)
        except ReplyHeldBack as error:
            return [error.reply]
        except ModelError as error:
            is_refused = isinstance(error, ModelRefused) and not isinstance(error, AccessRefused)
            if schema is None or not (is_refused or error.status in PERHAPS_THE_SCHEMA):
                raise
            # whose frames would hold the client until somebody collects
            refusal = error.with_traceback(None)
        try:
            replies = await ask(None)
        except ReplyHeldBack as error:
            replies = [error.reply]
        except (ModelRefused, TransientModelError) as error:
            if isinstance(error, TransientModelError):
                raise
            raise refusal from None
        finally:
            is_named = "response_format" in refusal.names
            del refusal
        if is_named:
            self._refused.add(request.prompt.digest)
        return replies

    @cached_property
    def _refused(self) -> set[str]:
        return set()


def response_format(request: Generate[Any]) -> Schema:
    """The schema of a reply in the form of the OpenAI protocol."""
    name = request.prompt.answer.__name__
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": request.schema}}
