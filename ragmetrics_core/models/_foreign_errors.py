"""Translation of other clients' errors."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import chain
from math import isfinite
from typing import Any, TypeVar

from ragmetrics_core.adapting import ReplyHeldBack, finish_reason, named_in, usage_of
from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.errors import (
    AccessRefused,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.models.redactor import keyless
from ragmetrics_core.protocol import Completion

__all__ = [
    "LONGEST_WORDS",
    "NO_QUOTA",
    "detail_in",
    "foreign_answer",
    "kind_of_status",
    "message_in",
    "model_error",
    "names_in",
    "retry_after",
]

T = TypeVar("T")

_OVERLOADED = frozenset({429, 503, 529})
_PASSING_4XX = frozenset({408, 409, 425})
# the key, what it may be used for, and models that are not there
_NO_ACCESS = frozenset({401, 402, 403, 404})
# Parts of the names that clients give to errors of a refused key and of a lost connection (httpx, aiohttp,
# requests, openai).
_DENIED = ("Authentication", "Unauthenticated", "Unauthorized", "PermissionDenied")
_LOST = ("Connect", "Disconnect", "NetworkError", "TransportError")
_STATUSES = ("status_code", "status", "code")
_LONGEST_MESSAGE = 300
# Characters that are looked at of a server's words.
LONGEST_WORDS = 20_000
# OpenAI's code for a quota that is used up, which has the status of a rate limit
NO_QUOTA = "insufficient_quota"


async def foreign_answer(call: Awaitable[T], told: Callable[[Exception], ModelError]) -> T:
    """Await a provider's client; translate its errors.

    Args:
        call: the client's call.
        told: translates the client's error, as `model_error` does.

    Raises:
        ModelError: the model failed. Raised without a cause, because the client's error may hold the request
            and its key.
    """
    try:
        return await call
    except ModelError:
        raise
    except Exception as error:  # the boundary to foreign code: each client has errors of its own
        failure = told(error)
    # outside the handler, so that the client's error is not its context either
    raise failure


def model_error(error: Exception, model: object = None, *, identity: str | None = None) -> ModelError:
    """Translate a provider's error into one that says whether a retry may help.

    The translation uses the HTTP status of the error or its response, or else a class name (its own or a base
    class's) that contains words such as timeout or connection. If an error has neither, its cause is
    examined.

    Args:
        error: the client's error; a `ModelError` is returned unchanged.
        model: the client; keys found in it are removed from the message.
        identity: the model's name, put before the message.

    Returns:
        The error to raise instead. `ModelOverloaded`: 429, 503, 529. `ModelTimeout`: time ran out.
        `TransientModelError`: 408, 409, 425, the other 5xx, a lost connection. `AccessRefused`: 401 to
        404, a quota that is used up, or a class name about authentication. `ModelRefused`: the other 4xx.
        `ModelError`: anything else. `ReplyHeldBack`: the error holds the reply. Errors that can be retried
        have the server's wait (Retry-After) if the client's error holds the response headers.
    """
    if isinstance(error, ModelError):
        return error
    cause, kind = next(
        ((each, kind) for each in _causes(error) if (kind := _kind(each)) is not None), (error, ModelError)
    )
    body = _held(cause, "body")
    text = " ".join(_said(error, message_in(body), model).split())
    text = text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "..."
    message = f"{identity + ': ' if identity else ''}{type(error).__name__}: {text}"
    if (reply := _reply_in(error)) is not None:
        return ReplyHeldBack(message, reply)
    failure = kind(message)
    if isinstance(failure, TransientModelError):
        failure.retry_after = retry_after(_headers(cause))
    failure.status = _status(cause)
    if failure.status is not None:
        # the text of an error may quote a reply
        failure.names = names_in(body or text)
    return failure


def _reply_in(error: Exception) -> Completion | None:
    """The reply in OpenAI's error: with a schema, its client raises for a truncated reply."""
    answer = _held(error, "completion")
    choices = _held(answer, "choices")
    if not is_series(choices) or not choices:
        return None
    return Completion(
        text=str(_held(_held(choices[0], "message"), "content") or ""),
        model=str(_held(answer, "model") or ""),
        usage=usage_of(_held(answer, "usage")),
        finish_reason=finish_reason(choices[0]),
    )


def _said(error: Exception, words: str, model: object) -> str:
    """The message of an error, with the server's words if its client leaves them out, and without keys."""
    try:
        text = str(error)
        return keyless(text if words in text else f"{text}: {words}", model)
    except Exception:  # the boundary to foreign code: `__str__` of an error may raise anything
        return ""


def _held(owner: object, name: str) -> Any:
    try:
        return getattr(owner, name, None)
    except Exception:  # the boundary to foreign code: so may a property, as of an error without its answer
        return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its explicit causes, each once; an error may be its own cause."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def detail_in(body: object, name: str) -> str:
    """A short entry of an error body, in "error" or at the top level; "" if missing."""
    inner = body.get("error", body) if is_mapping(body) else None
    fact = inner.get(name) if is_mapping(inner) else None
    return fact if isinstance(fact, str) else ""


def message_in(body: object) -> str:
    """The message in an error body, in the forms that servers use."""
    while is_mapping(body):
        body = next((body[name] for name in ("message", "detail", "error") if body.get(name)), None)
    return "" if body is None else str(body)


def names_in(body: object) -> frozenset[str]:
    """The settings that an error body names."""
    return named_in(f"{detail_in(body, 'param')} {message_in(body)[:LONGEST_WORDS]}")


def kind_of_status(status: int) -> type[ModelError]:
    """The error class for a HTTP status of 400 to 599."""
    if status in _OVERLOADED:
        return ModelOverloaded
    if status in _NO_ACCESS:
        return AccessRefused
    return TransientModelError if status in _PASSING_4XX or status >= 500 else ModelRefused


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds a server asks to wait, given in milliseconds, in seconds or as a date.

    None if there is no such header or it cannot be read.

    Args:
        headers: the response headers, with lower-case names.

    >>> retry_after({"retry-after": "7"}), retry_after({"retry-after-ms": "250"}), retry_after({})
    (7.0, 0.25, None)
    """
    after = headers.get("retry-after", "")
    try:
        if milliseconds := headers.get("retry-after-ms"):
            seconds = max(0.0, float(milliseconds) / 1000)
        elif after.replace(".", "", 1).isdecimal():
            seconds = float(after)
        else:
            # loaded here, because few servers give a date
            from email.utils import parsedate_to_datetime

            # The server's clock says how long that is, as far as it is told: ours may be wrong, and may jump.
            sent = headers.get("date")
            now = parsedate_to_datetime(sent).timestamp() if sent else time.time()
            seconds = max(0.0, parsedate_to_datetime(after).timestamp() - now)
    except (ValueError, OverflowError):
        return None
    return seconds if isfinite(seconds) else None


def _kind(error: BaseException) -> type[ModelError] | None:
    if _held(error, "code") == NO_QUOTA:
        return AccessRefused
    status = _status(error)
    if status is not None:
        return kind_of_status(status)
    names = " ".join(each.__name__ for each in type(error).__mro__)
    if "Timeout" in names:
        return ModelTimeout
    if any(part in names for part in _DENIED):
        return AccessRefused
    return TransientModelError if any(part in names for part in _LOST) else None


def _status(error: BaseException) -> int | None:
    """The HTTP status of a failure, from where clients put it: 400 to 599."""
    response, metadata = _response(error)
    # one after the other: a later one may be deprecated where an earlier one is there, and warn
    told = (_held(*place) for place in ((response, "status_code"), *((error, name) for name in _STATUSES)))
    statuses = chain([metadata.get("HTTPStatusCode")], told)
    return next((each for each in statuses if isinstance(each, int) and 400 <= each < 600), None)


def _headers(error: BaseException) -> Mapping[str, str]:
    """The response headers of an error, with lower-case names, from where clients put them."""
    response, metadata = _response(error)
    found = metadata.get("HTTPHeaders") or _held(response, "headers") or _held(error, "headers")
    return {str(name).lower(): str(value) for name, value in found.items()} if is_mapping(found) else {}


def _response(error: BaseException) -> tuple[object, Mapping[Any, object]]:
    """The response that an error holds, including botocore's."""
    response = _held(error, "response")
    metadata = response.get("ResponseMetadata") if is_mapping(response) else None
    return response, metadata if is_mapping(metadata) else {}
