"""Errors of clients that we do not know, as ours."""

from collections.abc import Iterator
from typing import Any

from ragmetrics_core.errors import (
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.models.secrets import keyless
from ragmetrics_core.shapes import is_mapping

__all__ = ["model_error"]

_OVERLOADED = frozenset({429, 503, 529})
_PASSING_4XX = frozenset({408, 409, 425})
# Parts of the names that clients give to errors of a lost connection (httpx, aiohttp, requests, openai).
_LOST = ("Connect", "Disconnect", "NetworkError", "TransportError")
_LONGEST_MESSAGE = 300


def model_error(error: Exception, model: object = None, *, identity: str | None = None) -> ModelError:
    """Say what an error of a provider's client means for asking again.

    Each client has errors of its own, so they are told by what most of them have: a HTTP status, on the error
    or its response, or else a name (of the class or one that it extends) that speaks of a timeout or a
    connection. Where an error says neither, the one that it was raised from is looked at.

    Args:
        error: what the client raised; one of ours stays as it is.
        model: what was called; what can be seen of its keys is taken out of the message.
        identity: the model's name, put before the message.

    Returns:
        The error to raise in its place. `ModelOverloaded`: 429, 503, 529. `ModelTimeout`: time ran out.
        `TransientModelError`: 408, 409, 425, the other 5xx, a lost connection. `ModelRefused`: the other 4xx.
        `ModelError`: anything else.
    """
    if isinstance(error, ModelError):
        return error
    kind = next((kind for each in _causes(error) if (kind := _kind(each)) is not None), ModelError)
    text = " ".join(keyless(error, model).split())
    text = text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "..."
    return kind(f"{identity + ': ' if identity else ''}{type(error).__name__}: {text}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was raised from on purpose; each once, an error may be its own cause."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _kind(error: BaseException) -> type[ModelError] | None:
    status = _status(error)
    if status in _OVERLOADED:
        return ModelOverloaded
    if status is not None:
        return TransientModelError if status in _PASSING_4XX or status >= 500 else ModelRefused
    names = " ".join(each.__name__ for each in type(error).__mro__)
    if "Timeout" in names:
        return ModelTimeout
    return TransientModelError if any(part in names for part in _LOST) else None


def _status(error: BaseException) -> int | None:
    """The HTTP status of a failure, where clients put it: 400 to 599."""
    response: Any = getattr(error, "response", None)
    found: list[object]
    if is_mapping(response):  # botocore
        told = response.get("ResponseMetadata")
        found = [told.get("HTTPStatusCode")] if is_mapping(told) else []
    else:
        found = [getattr(response, "status_code", None)]
    found += [getattr(error, name, None) for name in ("status_code", "status", "code")]
    return next((each for each in found if isinstance(each, int) and 400 <= each < 600), None)
