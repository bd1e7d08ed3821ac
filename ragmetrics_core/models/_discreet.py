"""What a model says, without what is private: no key, and nothing that `redact` takes out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ragmetrics_core.errors import ConfigError, ModelError, ModelTimeout
from ragmetrics_core.models._secrets import in_environment, secrets_in, without_secrets
from ragmetrics_core.protocol import Completion
from ragmetrics_core.redaction import Redact, redacted, redacted_reply

__all__ = ["Discretion", "redacted_completion", "same_error"]


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


def same_error(error: ModelError, message: str) -> ModelError:
    """The error with other words; its class may have a constructor of its own."""
    same = type(error).__new__(type(error), message)
    same.__dict__.update(error.__dict__)
    return same


@dataclass(frozen=True)
class Discretion:
    """Takes keys, and what `redact` takes out, from the replies and errors of a model.

    Both go on record, and a server may repeat the key that it was sent. Known as keys are those that can be
    seen in the model (see `secrets_in`) and the values of environment variables that are named like keys. A
    reply is changed before it is stored or read, so that its record gives the same score again.

    Attributes:
        model: the judge, embedder or scorer.
        redact: applied to every reply and every error; None for keys alone.
    """

    model: object
    redact: Redact | None = None

    def replies(self, replies: Sequence[Completion]) -> Sequence[Completion]:
        """The replies without what is private.

        Raises:
            ModelError: `redact` failed.
        """
        try:
            return [self._without(each) for each in replies]
        except ConfigError as error:
            problem = str(error)
        raise ModelError(problem)

    def error(self, error: BaseException) -> BaseException:
        """The error without what is private; the same one when it holds nothing of it."""
        if not isinstance(error, Exception):
            return error
        message = str(error)
        try:
            clean = without_secrets(message, self.secrets)
            if self.redact is not None:
                clean = redacted(self.redact, clean)
        except ConfigError as failed:
            return ModelError(f"{type(error).__name__}; {failed}")
        if clean == message:
            return error
        if isinstance(error, ModelError):
            return same_error(error, clean)
        if isinstance(error, TimeoutError):
            return ModelTimeout(clean)
        if isinstance(error, RuntimeError):  # of which others tell whose event loop a model belongs to
            return RuntimeError(clean)
        return ModelError(f"{type(error).__name__}: {clean}")

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The keys that are known, longest first."""
        return tuple(sorted(secrets_in(self.model) | in_environment(), key=len, reverse=True))

    def _without(self, reply: Completion) -> Completion:
        for secret in self.secrets:
            if secret in reply.text or secret in reply.model:
                reply = replace(
                    reply,
                    text=without_secrets(reply.text, [secret]),
                    model=without_secrets(reply.model, [secret]),
                )
        return reply if self.redact is None else redacted_completion(self.redact, reply)
