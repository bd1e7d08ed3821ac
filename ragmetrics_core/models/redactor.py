"""Redaction of what models and other code return, before it enters a record or a log."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ragmetrics_core.boundary.redaction import Redact, redacted, redacted_reply
from ragmetrics_core.errors import ConfigError, ModelError, ModelTimeout
from ragmetrics_core.models._secrets import in_environment, secrets_in, without_secrets
from ragmetrics_core.protocol import Completion

__all__ = ["Redactor", "keyless"]


def keyless(error: object, *models: object) -> str:
    """An error's message without the keys of models and of the environment, for a record or a log."""
    return Redactor(models).words(str(error))


@dataclass(frozen=True)
class Redactor:
    """Remove keys, and what `redact` removes, from the replies and errors of a model.

    Both enter records, and a server may repeat the key that it was sent. Keys are those found in the model
    (see `secrets_in`) and in environment variables with names of keys. A reply is changed before it is stored
    or read, so that its record reproduces the score.

    Attributes:
        model: the judge, embedder, scorer or other object that may hold a key.
        redact: applied to every reply and error; None removes keys only.
    """

    model: object = None
    redact: Redact | None = None

    def words(self, text: str) -> str:
        """The redacted text.

        Raises:
            ConfigError: `redact` raised an error or did not return text.
        """
        clean = without_secrets(text, self.secrets)
        return clean if self.redact is None else redacted(self.redact, clean)

    def replies(self, replies: Sequence[Completion]) -> Sequence[Completion]:
        """The redacted replies.

        Raises:
            ModelError: `redact` failed.
        """
        try:
            return [self.reply(reply) for reply in replies]
        except ConfigError as error:
            problem = str(error)
        raise ModelError(problem)

    def reply(self, reply: Completion) -> Completion:
        """A redacted reply with its metadata from the server.

        Raises:
            ConfigError: `redact` raised an error or did not return text.
        """
        if known := [secret for secret in self.secrets if secret in reply.text or secret in reply.model]:
            text, model = without_secrets(reply.text, known), without_secrets(reply.model, known)
            reply = replace(reply, text=text, model=model)
        if self.redact is None:
            return reply
        return replace(
            reply,
            text=redacted_reply(self.redact, reply.text),
            model=redacted(self.redact, reply.model),
            finish_reason=reply.finish_reason and redacted(self.redact, reply.finish_reason),
        )

    def error(self, error: BaseException) -> BaseException:
        """The redacted error; the same object if nothing changes."""
        if not isinstance(error, Exception):
            return error
        message = str(error)
        try:
            clean = self.words(message)
        except ConfigError as failed:
            return ModelError(f"{type(error).__name__}; {failed}")
        if clean == message:
            return error
        if isinstance(error, ModelError):
            return error.saying(clean)
        if isinstance(error, TimeoutError):
            return ModelTimeout(clean)
        if isinstance(error, RuntimeError):  # of which others tell whose event loop a model belongs to
            return RuntimeError(clean)
        return ModelError(f"{type(error).__name__}: {clean}")

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The known keys."""
        return secrets_in(self.model) | in_environment()
