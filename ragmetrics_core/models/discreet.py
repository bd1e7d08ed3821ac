"""A model of which nothing private is told: no key, and nothing that `redact` takes out."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

from ragmetrics_core.errors import ConfigError, ModelError, ModelTimeout
from ragmetrics_core.models.secrets import in_environment, secrets_in, without_secrets
from ragmetrics_core.models.wrapper import A, Wrapper
from ragmetrics_core.protocol import Completion, Generate, Judge
from ragmetrics_core.redaction import Redact, redacted, redacted_reply

__all__ = ["Discreet", "redacted_completion"]

T = TypeVar("T")


def redacted_completion(redact: Redact, reply: Completion) -> Completion:
    """A reply as `redact` leaves it, and what the server says of it.

    Raises:
        ConfigError: `redact` raised something or returned no text.
    """
    return replace(
        reply,
        text=redacted_reply(redact, reply.text),
        model=redacted(redact, reply.model),
        finish_reason=reply.finish_reason and redacted(redact, reply.finish_reason),
    )


@dataclass(frozen=True)
class Discreet(Wrapper):
    """Takes keys, and what `redact` takes out, from the replies and errors of a model.

    Both go on record, and a server may repeat the key that it was sent. Known as keys are those that can be
    seen in the model (see `secrets_in`) and the values of environment variables that are named like keys. A
    reply is changed before it is stored or read, so that its record gives the same score again.

    Attributes:
        inner: the model.
        redact: applied to every reply and every error; None for keys alone.
    """

    redact: Redact | None = field(default=None, kw_only=True)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The inner judge's replies.

        Raises:
            ModelError: it did not answer, or `redact` failed.
        """
        replies = await self._around(cast("Judge", self.inner).agenerate, request)
        try:
            return [self._without(each) for each in replies]
        except ConfigError as error:
            problem = str(error)
        raise ModelError(problem)

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        try:
            return await call(asked)
        except Exception as error:  # the boundary to foreign code: a model may raise anything
            told = self._told(error)
            if told is None:
                raise
        # outside the handler: it must not carry the error that holds what was taken out
        raise told

    def _without(self, reply: Completion) -> Completion:
        for secret in self.secrets:
            if secret in reply.text or secret in reply.model:
                reply = replace(
                    reply,
                    text=without_secrets(reply.text, [secret]),
                    model=without_secrets(reply.model, [secret]),
                )
        return reply if self.redact is None else redacted_completion(self.redact, reply)

    def _told(self, error: Exception) -> Exception | None:
        """The error without what is private; None when it holds nothing of it."""
        message = str(error)
        try:
            clean = without_secrets(message, self.secrets)
            if self.redact is not None:
                clean = redacted(self.redact, clean)
        except ConfigError as failed:
            return ModelError(f"{type(error).__name__}; {failed}")
        if clean == message:
            return None
        if isinstance(error, ModelError):
            kind = type(error)
            same = kind.__new__(kind, clean)
            same.__dict__.update(error.__dict__)
            return same
        if isinstance(error, TimeoutError):
            return ModelTimeout(clean)
        if isinstance(error, RuntimeError):  # of which others tell whose event loop a model belongs to
            return RuntimeError(clean)
        return ModelError(f"{type(error).__name__}: {clean}")

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The keys that are known, longest first."""
        return tuple(sorted(secrets_in(self.inner) | in_environment(), key=len, reverse=True))
