"""A server that speaks the OpenAI protocol: its address, its key, its connections, and its errors as ours."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from ragmetrics_core.errors import (
    AccessRefused,
    ConfigError,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.models._openai_transport import fastest_transport, missing_package
from ragmetrics_core.models._secrets import (
    HIDDEN,
    SHORTEST,
    bare_address,
    secrets_in,
    without_secrets,
)
from ragmetrics_core.models._server_address import address_of
from ragmetrics_core.models._waits import retry_after
from ragmetrics_core.shapes import Json, is_mapping

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Endpoint", "encodable", "without_key"]

_DEFAULT_URL = "https://api.openai.com/v1"
_NO_KEY = "not-needed"
_KEY, _URL = "OPENAI_API_KEY", "OPENAI_BASE_URL"
_CONNECT_SECONDS = 10.0
_LONGEST_QUOTE = 300
# Of the words of a server, so many characters are looked at.
_LONGEST_WORDS = 20_000
# What to do about a parameter that a server refuses, by its name.
_REMEDIES = {
    "temperature": "pass temperature=None, on the command line --judge-option temperature=none",
    "max_tokens": "pass max_tokens=None, on the command line --judge-option max_tokens=none; "
    "extra_body={'max_completion_tokens': N} may set the limit",
    "response_format": "pass response_format='text', on the command line --judge-option response_format=text",
    "seed": "pass seed=None, on the command line --judge-option seed=none",
    "dimensions": "pass dimensions=None",
}
_OVERLOADED = frozenset({429, 503, 529})
_PASSING_4XX = frozenset({408, 409, 425, 429})


class _Connected(NamedTuple):
    """A client, and the generator that closes it when its event loop ends."""

    client: "AsyncOpenAI"
    closing: AsyncGenerator["AsyncOpenAI", None]


class Endpoint:
    """Posts to an OpenAI-compatible server through the official client, with one client per event loop.

    The client's own retries are switched off and no time limit is set but for connecting: both belong to
    the caller. The fastest transport that is installed carries the requests (`fastest_transport`).

    Nothing that a server says makes it go elsewhere or unpack anything: no redirect is followed, no
    compressed answer is read, and one beyond `largest` bytes is not read to its end.

    Args:
        user: the class that posts, for messages.
        model: the model's name.
        base_url: the server; None reads OPENAI_BASE_URL, else means OpenAI's own. User and password in it
            are sent as HTTP has it ("Basic"), in place of the key.
        api_key: the key; None reads OPENAI_API_KEY. A server given by `base_url` may need none.
        body: what every request holds; a server may repeat keys in it, too.
        largest: bytes of an answer, at most.
        asked: False where a missing package or key is no error before something is posted.

    Raises:
        ConfigError: the openai package or the key is missing, or the address or key cannot be used.
    """

    def __init__(
        self,
        user: str,
        *,
        model: str,
        base_url: str | None,
        api_key: SecretStr | None,
        body: Mapping[str, Any] | None = None,
        largest: int,
        asked: bool = True,
    ) -> None:
        # Keys stand in no variable of their own here: a traceback may come with the values of all of them.
        key = SecretStr(
            ((api_key.get_secret_value() if api_key else "") or os.environ.get(_KEY) or "").strip()
        )
        address = address_of(base_url or os.environ.get(_URL) or _DEFAULT_URL)
        if not model:
            raise ConfigError(f"{user} needs the name of a model")
        self._lacks = _lacking(user, has_key=bool(key or base_url or os.environ.get(_URL)))
        if asked and self._lacks is not None:
            raise ConfigError(self._lacks)
        if not _can_be_sent(key):
            raise ConfigError(f"{user}: the key holds characters that no HTTP header can carry")
        if isinstance(address, str):
            raise ConfigError(f"{user}: {address}")
        self.model = model
        self.url = address.url
        self._address = address
        self._largest = largest
        # Given the whole address, the client need not put it together again for every call.
        self._root = "" if address.query else address.url
        self._key = key if key else SecretStr(_NO_KEY)
        self._secrets = (*filter(None, [key.get_secret_value()]), *address.secrets, *secrets_in(body))
        self._in_bytes = tuple(each.encode() for each in self._secrets if len(each) >= SHORTEST)
        self._connected: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connected] = WeakKeyDictionary()

    async def post(self, path: str, body: Mapping[str, object]) -> Mapping[str, Any]:
        """Post a JSON object, get one back.

        Raises:
            ModelError: the class and the message say what went wrong; the message never holds the key.
        """
        if self._lacks is not None:
            raise ModelRefused(self._lacks)
        failure: BaseException
        client = None
        try:
            client = await self._client()
            from openai import HttpxBinaryResponseContent as Raw

            # The raw body: the client's typed methods take longer than the whole transport, and hand back
            # a page of HTML as if it were a reply.
            response = await client.post(self._root + path, cast_to=Raw, body=body)
            content = self._unechoed(response.content)
        except asyncio.CancelledError as stop:
            failure = asyncio.CancelledError(*stop.args)
        except Exception as error:  # the boundary to the client; errors of its transport may pass through it
            failure = self._unmade(error) if client is None else self._failure(error)
        else:
            return self._object(content)
        # Raised outside the handlers, so that no error of the client hangs on it: they and the variables of
        # their frames hold the request, and with it the key.
        raise failure

    async def aclose(self) -> None:
        """Close the connections of the running event loop; without this they close when the loop ends."""
        connected = self._connected.get(asyncio.get_running_loop())
        if connected is not None:
            await connected.closing.aclose()

    async def _client(self) -> "AsyncOpenAI":
        loop = asyncio.get_running_loop()
        connected = self._connected.get(loop)
        if connected is None:
            for ended in [each for each in self._connected if each.is_closed()]:
                del self._connected[ended]
            closing = self._open(loop)
            connected = self._connected[loop] = _Connected(await anext(closing), closing)
        return connected.client

    async def _open(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator["AsyncOpenAI", None]:
        # A generator, because asyncio finishes those that are left when it ends a loop: the connections
        # of `evaluate`, whose loop the caller never sees, are closed in that loop.
        import openai

        client = openai.AsyncOpenAI(
            base_url=self.url,
            api_key=self._key.get_secret_value(),
            default_headers={"Accept-Encoding": "identity", **self._address.headers},
            default_query=self._address.query,
            max_retries=0,
            timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
            http_client=fastest_transport(self._receive),
        )
        try:
            yield client
        finally:
            self._connected.pop(loop, None)
            await client.close()

    async def _receive(self, response: Any) -> None:
        """Read an answer as far as it may go, before the client does; the error of one that is a failure.

        Raises:
            ModelError: it is too large or compressed, or its status is no success.
        """
        packed = response.headers.get("content-encoding", "identity").strip().lower()
        if packed not in {"", "identity"}:
            raise ModelError(f"{self.url} sent a compressed answer, which was not asked for")
        content = bytearray()
        async for part in response.stream:
            content += part
            if len(content) > self._largest:
                raise ModelError(f"{self.url} sent an answer of more than {self._largest:,} bytes")
        await response.stream.aclose()
        if not 200 <= response.status_code < 300:
            raise self._status_error(response.status_code, response.headers, bytes(content))
        library = sys.modules[type(response).__module__.partition(".")[0]]
        response.stream = library.ByteStream(bytes(content))

    def _unechoed(self, content: bytes) -> bytes:
        """An answer without our secrets, which a server may repeat: in a reply, too."""
        for secret in self._in_bytes:
            if secret in content:
                content = content.replace(secret, HIDDEN.encode())
        return content

    def _object(self, content: bytes) -> Mapping[str, Any]:
        """The JSON object of a successful answer."""
        try:
            found: Json = json.loads(content)
        except (ValueError, RecursionError):
            said = self._quoted(content.decode("utf-8", "replace"))
            if content.lstrip()[:1] == b"{":
                raise TransientModelError(
                    f"{self.url} sent an answer that is cut off or not JSON: {said}"
                ) from None
            raise ModelError(
                f"{self.url} did not answer with JSON but with {said or 'nothing'}: "
                "is this the base URL of an OpenAI-compatible server? It usually ends in /v1"
            ) from None
        if not isinstance(found, dict):
            raise ModelError(f"{self.url} answered with JSON that is no object: {self._quoted(str(found))}")
        if found.get("error"):
            # Some routers report the failure of the server behind them in an answer with status 200.
            raise TransientModelError(
                f"{self.url} reported an error: {self._quoted(_message(found['error']))}"
            )
        return found

    def _unmade(self, error: Exception) -> ModelError:
        """Why there is no client to ask with: asking again would not help."""
        remedy = ": pip install 'ragmetrics[openai]'" if isinstance(error, ModuleNotFoundError) else ""
        what = f"{type(error).__name__}: {self._quoted(str(error))}"
        return ModelRefused(f"{self.url} cannot be asked, the openai package has no client: {what}{remedy}")

    def _failure(self, error: Exception) -> ModelError:
        """The error of ours that fits; nothing of the client's error is kept but words without the key."""
        import openai

        chain = tuple(_chain(error))
        for each in chain:
            if isinstance(each, ModelError):
                # Without what the client hung on it.
                each.__cause__ = each.__context__ = each.__traceback__ = None
                return each
        if isinstance(error, openai.OpenAIError) and not isinstance(error, openai.APIConnectionError):
            return ModelError(f"{self.url}: {type(error).__name__}: {self._quoted(str(error))}")
        if (missing := next((each for each in chain if isinstance(each, ImportError)), None)) is not None:
            return self._unmade(missing)
        # Only connecting has a time limit here. The transports do not agree on which error of theirs is a
        # timeout (aiohttp's counts a refused connection as one), so the cause decides.
        if any(isinstance(each, TimeoutError) for each in chain):
            return ModelTimeout(f"no connection to {self.url} within {_CONNECT_SECONDS:g} s")
        # the innermost: aiohttp's own is one, too, and says less
        untrusted = next((each for each in chain[::-1] if isinstance(each, SSLCertVerificationError)), None)
        if untrusted is not None:
            return AccessRefused(
                f"{self.url} shows a certificate that is not trusted here ({self._quoted(str(untrusted))}): "
                "name a file of those who vouch for it in SSL_CERT_FILE, if it is what it should be"
            )
        names = {type(each).__name__ for each in chain}
        cause = next((text for each in reversed(chain) if (text := str(each))), type(chain[-1]).__name__)
        what = "no connection to" if names & _CONNECTING else "lost the connection to"
        return TransientModelError(f"{what} {self.url}: {self._quoted(cause)}")

    def _status_error(self, status: int, headers: Mapping[str, str], content: bytes) -> ModelError:
        if 300 <= status < 400:
            # no refusal of the request: asked in another way it would point elsewhere, too
            return ModelError(
                f"{self.url} points elsewhere ({status}), and prompts go nowhere but to the base URL: "
                f"{self._pointed(headers.get('location', ''))}"
            )
        body = _body(content)
        said = self._quoted(_message(body))
        told = f"({status}): {said}" if said else f"({status})"
        if status == 401:
            # Without the server's words: they often repeat the key or a part of it.
            return AccessRefused(f"{self.url} refused the key (401): set OPENAI_API_KEY or pass api_key")
        if status == 403:
            return AccessRefused(f"{self.url} does not let this key use the model {self.model!r} {told}")
        if status == 404:
            return AccessRefused(f"{self.url} knows no model {self.model!r}, or the base URL is wrong {told}")
        if status == 429 and _detail(body, "code") == "insufficient_quota":
            return AccessRefused(f"{self.url}: the quota of this key is used up {told}")
        if status >= 500 or status in _PASSING_4XX:
            what = "asks to slow down" if status == 429 else "failed"
            kind = ModelOverloaded if status in _OVERLOADED else TransientModelError
            return kind(f"{self.url} {what} {told}", retry_after=retry_after(headers))
        remedy = _REMEDIES.get(_detail(body, "param"), "")
        return ModelRefused(f"{self.url} refused the request {told}{remedy and f' ({remedy})'}")

    def _pointed(self, location: str) -> str:
        """Where a redirect points, without what may be secret in it."""
        try:
            return self._quoted(bare_address(urljoin(self.url, location))) if location else "nowhere"
        except ValueError:
            return "an address that cannot be read"

    def _quoted(self, text: str) -> str:
        """Words of a server or a transport: one short line, without our secrets."""
        if len(text) > _LONGEST_WORDS:
            # Not within a word, which may be one of the secrets.
            text = text[:_LONGEST_WORDS].rpartition(" ")[0] or text[: 2 * _LONGEST_QUOTE]
        text = " ".join(without_secrets(text, self._secrets).split())
        return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "..."


_CONNECTING = frozenset(
    {"ConnectError", "ClientConnectorError", "ClientConnectorDNSError", "ConnectionRefusedError"}
)


def _lacking(user: str, *, has_key: bool) -> str | None:
    """What is missing for anything to be asked, and where it comes from; None when nothing is."""
    if (missing := missing_package()) is not None:
        return f"{user} needs the {missing} package: pip install 'ragmetrics[openai]'"
    if has_key:
        return None
    return (
        f"{user} has no key: set OPENAI_API_KEY or pass api_key (a local server needs base_url only, "
        "on the command line openai:MODEL@URL)"
    )


def encodable(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate, which broken decoding leaves, becomes "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _can_be_sent(key: SecretStr) -> bool:
    return key.get_secret_value().isascii() and key.get_secret_value().isprintable()


def without_key(model: Any, *, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What `__reduce__` gives: how a model is made again from its settings, elsewhere.

    Raises:
        ConfigError: its key, or a password in its address, would be in the pickle.
    """
    settings = {name: getattr(model, name) for name in names}
    if model.api_key is not None or secrets_in(settings):
        raise ConfigError(
            f"this {type(model).__name__} is not pickled, for its key would be in the pickle: set "
            "OPENAI_API_KEY where it is used, in place of api_key, or send a function that makes it"
        )
    return _made, (type(model), settings)


def _made(kind: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
    return kind(**settings)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _body(content: bytes) -> object:
    """What a server says of a failure: JSON, or else its words, whatever encoding it names."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content[: 4 * _LONGEST_WORDS].decode("utf-8", "replace")


def _detail(body: object, name: str) -> str:
    """A short fact in an error body, in "error" or beside it; "" for none."""
    if is_mapping(body):
        inner = body.get("error", body)
        found = inner.get(name) if is_mapping(inner) else None
        return found if isinstance(found, str) else ""
    return ""


def _message(body: object) -> str:
    """The sentence in an error body, in the forms that servers give it."""
    while is_mapping(body):
        body = next((body[name] for name in ("message", "detail", "error") if body.get(name)), None)
    return "" if body is None else str(body)
