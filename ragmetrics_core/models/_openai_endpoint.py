"""A server with the OpenAI protocol: its address, key, connections and errors."""

import asyncio
import json
import os
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator, Mapping
from importlib.util import find_spec
from ssl import SSLCertVerificationError
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from pydantic import SecretStr

from ragmetrics_core.adapting import named_in
from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.errors import (
    AccessRefused,
    ConfigError,
    ModelError,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.models._foreign_errors import (
    LONGEST_WORDS,
    NO_QUOTA,
    detail_in,
    kind_of_status,
    message_in,
    names_in,
    retry_after,
)
from ragmetrics_core.models._secrets import (
    HIDDEN,
    SHORTEST,
    bare_address,
    passwords_in,
    secrets_in,
    without_secrets,
)
from ragmetrics_core.models.per_loop import PerLoop

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

__all__ = ["Endpoint", "encodable"]

_DEFAULT_URL = "https://api.openai.com/v1"
_NO_KEY = "not-needed"
_KEY, _URL = "OPENAI_API_KEY", "OPENAI_BASE_URL"
_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_CONNECT_SECONDS = 10.0
_LONGEST_QUOTE = 300
# Bytes that are read of a failed answer.
_LARGEST_FAILURE = 4 * LONGEST_WORDS
# What to do about a parameter that a server refuses, by its name.
_REMEDIES: Final[Mapping[str, str]] = {
    "temperature": "pass temperature=None, on the command line --judge-option temperature=none",
    "max_tokens": "pass max_tokens=None, on the command line --judge-option max_tokens=none; "
    "extra_body={'max_completion_tokens': N} may set the limit",
    "response_format": "pass response_format='text', on the command line --judge-option response_format=text",
    "seed": "pass seed=None, on the command line --judge-option seed=none",
    "dimensions": "pass dimensions=None",
}


class Address(NamedTuple):
    """The address of a server, and the secrets found in it.

    Attributes:
        url: without user, password, parameters and fragment, any of which may hold a secret.
        query: the parameters, with their question mark.
        user: user and password as HTTP sends them ("Basic ..."), or "".
        secrets: the secret parts.
    """

    url: str
    query: str
    user: str
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, base_url: str, user: str) -> "Address":
        """Split an address into its parts.

        Raises:
            ConfigError: the address is invalid; the message does not quote parts that may be secret.
        """
        how = f"{user}: base_url must be an address such as http://127.0.0.1:8080/v1"
        try:
            parts = urlsplit(base_url)
            _ = parts.port
        except ValueError:
            raise ConfigError(f"{how}, and this one cannot be read") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(f"{how}, not {base_url.rpartition('@')[2].partition('?')[0]!r}")
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if without_secrets(f"?{name}=x") != f"?{name}=x" or secrets_in({name: value}):
                raise ConfigError(
                    f"{user}: base_url holds a key as its parameter {name!r}, which logs would show: "
                    "pass api_key"
                )
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        return cls(
            url=bare_address(base_url).rstrip("/"),
            query=parts.query and f"?{parts.query}",
            user="" if pair == ":" else f"Basic {b64encode(pair.encode()).decode()}",
            secrets=(*passwords_in(base_url), *secrets_in(base_url)),
        )


class ServedModel(Protocol):
    """A model on a server, as `OpenAIJudge` and `OpenAIEmbedder` describe it."""

    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def api_key(self) -> str | SecretStr | None: ...
    @property
    def asked(self) -> bool: ...
    @property
    def largest(self) -> int:
        """Maximum size of an answer in bytes."""
        ...


class Endpoint:
    """Post to an OpenAI-compatible server, with separate connections for each event loop.

    Retries and time limits are the caller's task, except the time limit for connecting. Proxy and certificate
    authorities come from the environment (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE).

    Redirects are not followed, compressed answers are refused, and long answers are not read to the end. The
    status counts even if the body cannot be read.

    Args:
        served: the model with its address and key. User and password in the address are sent ("Basic")
            instead of the key.

    Raises:
        ConfigError: the aiohttp package or the key is missing, or the address or key is invalid.
    """

    def __init__(self, served: ServedModel) -> None:
        # Keys stand in no variable of their own here: a traceback may come with the values of all of them.
        user, given = type(served).__name__, cast("SecretStr | None", served.api_key)
        key = SecretStr(((given.get_secret_value() if given else "") or os.environ.get(_KEY) or "").strip())
        base_url = (served.base_url or os.environ.get(_URL) or "").strip()
        if not served.model:
            raise ConfigError(f"{user} needs the name of a model")
        self._lacks = _lacking(user, has_key=bool(key or base_url))
        if served.asked and self._lacks is not None:
            raise ConfigError(self._lacks)
        if not (key.get_secret_value().isascii() and key.get_secret_value().isprintable()):
            raise ConfigError(f"{user}: the key contains characters that are not allowed in an HTTP header")
        self._address = Address.of(base_url or _DEFAULT_URL, user)
        self.model = served.model
        self.url = self._address.url
        self._largest = served.largest
        self._key = key if key else SecretStr(_NO_KEY)
        # a server may repeat keys that stand in what every request holds, too
        beside = secrets_in(getattr(served, "extra_body", None))
        self._secrets = (*filter(None, [key.get_secret_value()]), *self._address.secrets, *beside)
        self._in_bytes = tuple(key.encode() for key in self._secrets if len(key) >= SHORTEST)
        self._sessions = PerLoop(self._opened)

    async def post(self, path: str, body: Mapping[str, object]) -> Mapping[str, Any]:
        """Post a JSON object and return the JSON object of the answer.

        Raises:
            ModelError: the call failed; the class and the message say why, and the message never holds the
                key.
        """
        return self._object(await self._content(path, body))

    async def post_whole(self, path: str, body: Mapping[str, object]) -> tuple[str, Mapping[str, Any]]:
        """Post a JSON object and return the answer's text as the server sent it, and its JSON object.

        Raises:
            ModelError: the call failed; see `post`.
        """
        content = await self._content(path, body)
        return content.decode("utf-8", "replace"), self._object(content)

    async def _content(self, path: str, body: Mapping[str, object]) -> bytes:
        if self._lacks is not None:
            raise ModelRefused(self._lacks)
        failure: BaseException
        try:
            data = json.dumps(body, ensure_ascii=False).encode()
            place = f"{self.url}{path}{self._address.query}"
            session = await anext(self._sessions())
            async with session.post(place, data=data, allow_redirects=False) as answer:
                content = await self._read(answer)
        except asyncio.CancelledError as stop:
            failure = asyncio.CancelledError(*stop.args)
        except Exception as error:  # the boundary to the client
            failure = self._failure(error)
        else:
            return content
        # Outside the handlers, so that no error of the client hangs on it: their frames hold the key.
        raise failure

    async def aclose(self) -> None:
        """Close the connections of the running event loop. Otherwise they close when the loop ends."""
        await (await anext(self._sessions())).close()

    async def _opened(self) -> AsyncGenerator["ClientSession", None]:
        """The running loop's session, opened on first use."""
        # A generator, because asyncio finishes those that are left when it ends a loop: the connections
        # of `evaluate`, whose loop the caller never sees, are closed in that loop.
        session = self._session()
        try:
            while True:
                if session.closed:
                    session = self._session()
                yield session
        finally:
            await session.close()

    def _session(self) -> "ClientSession":
        import aiohttp

        account = {header: os.environ[name] for header, name in _ACCOUNT.items() if os.environ.get(name)}
        return aiohttp.ClientSession(
            headers={
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "User-Agent": "ragmetrics",
                **account,
                "Authorization": self._address.user or f"Bearer {self._key.get_secret_value()}",
            },
            connector=aiohttp.TCPConnector(limit=0, ssl=_trusted() if self.url.startswith("https") else True),
            timeout=aiohttp.ClientTimeout(connect=_CONNECT_SECONDS),
            auto_decompress=False,
            proxy=_proxy(self.url),
        )

    async def _read(self, answer: "ClientResponse") -> bytes:
        """The body of a successful answer, without the secrets that a server may repeat.

        Raises:
            ModelError: the answer is too large or compressed, or reports a failure.
        """
        import aiohttp

        headers = {name.lower(): value for name, value in answer.headers.items()}
        is_plain = headers.get("content-encoding", "").strip().lower() in {"", "identity"}
        is_answered = 200 <= answer.status < 300
        most = self._largest if is_answered else _LARGEST_FAILURE
        content = bytearray()
        try:
            async for part in answer.content.iter_any():
                content += part
                if len(content) > most:
                    break
        except aiohttp.ClientError:
            if is_answered:
                raise
        if not is_answered:  # the status counts, however its words came
            body = _body(bytes(content) if is_plain else b"")
            failure = self._status_error(answer.status, headers, body)
            failure.status = answer.status
            failure.names = names_in(body)
            raise failure
        if not is_plain:
            raise ModelError(f"{self.url} sent a compressed answer, which was not requested")
        if len(content) > most:
            raise ModelError(f"{self.url} sent an answer of more than {most:,} bytes")
        for secret in self._in_bytes:
            content = content.replace(secret, HIDDEN.encode())
        return bytes(content)

    def _object(self, content: bytes) -> Mapping[str, Any]:
        """The JSON object of a successful answer."""
        try:
            answer: Json = json.loads(content)
        except (ValueError, RecursionError):
            said = self._quoted(content.decode("utf-8", "replace"))
            if content.lstrip()[:1] == b"{":
                raise TransientModelError(
                    f"{self.url} sent an answer that is truncated or not JSON: {said}"
                ) from None
            raise ModelError(
                f"{self.url} did not answer with JSON but with {said or 'nothing'}: "
                "is this the base URL of an OpenAI-compatible server? It usually ends in /v1"
            ) from None
        if not isinstance(answer, dict):
            raise ModelError(
                f"{self.url} answered with JSON that is not an object: {self._quoted(str(answer))}"
            )
        if answer.get("error"):
            # Some routers report the failure of the server behind them in an answer with status 200.
            said = self._quoted(message_in(answer["error"]))
            failure = TransientModelError(f"{self.url} reported an error: {said}")
            failure.status, failure.names = 200, named_in(said)
            raise failure
        return answer

    def _failure(self, error: Exception) -> ModelError:
        """Translate a client's error; only its message without the key is kept."""
        import aiohttp

        if isinstance(error, ModelError):
            error.__cause__ = error.__context__ = error.__traceback__ = None
            return error
        chain = tuple(_chain(error))
        cause = next((words for link in chain[::-1] if (words := _words(link))), type(chain[-1]).__name__)
        if not isinstance(error, aiohttp.ClientError | OSError) or isinstance(error, aiohttp.InvalidURL):
            # no package for this kind of proxy, or a setting that no request can carry
            return ModelRefused(
                f"{self.url} cannot be called: {type(error).__name__}: {self._quoted(str(error))}"
            )
        if any(isinstance(link, TimeoutError) for link in chain):  # only connecting has a time limit here
            return ModelTimeout(f"no connection to {self.url} within {_CONNECT_SECONDS:g} s")
        # the innermost: aiohttp's own is one, too, and says less
        untrusted = next((link for link in chain[::-1] if isinstance(link, SSLCertVerificationError)), None)
        if untrusted is not None:
            return AccessRefused(
                f"{self.url} shows a certificate that is not trusted here ({self._quoted(str(untrusted))}): "
                "if you trust the server, set SSL_CERT_FILE to a file with its certificate authority"
            )
        what = "no" if isinstance(error, aiohttp.ClientConnectorError) else "lost the"
        return TransientModelError(f"{what} connection to {self.url}: {self._quoted(cause)}")

    def _status_error(self, status: int, headers: Mapping[str, str], body: object) -> ModelError:
        if 300 <= status < 400:
            # no refusal of the request: asked in another way it would point elsewhere, too
            return ModelError(
                f"{self.url} redirects elsewhere ({status}), but prompts are sent only to the base URL: "
                f"{self._pointed(headers.get('location', ''))}"
            )
        if status == 401:
            # Without the server's words: they often repeat the key or a part of it.
            return AccessRefused(f"{self.url} refused the key (401): set OPENAI_API_KEY or pass api_key")
        said = self._quoted(message_in(body))
        told = f"({status}): {said}" if said else f"({status})"
        kind = kind_of_status(status)
        if status == 429 and detail_in(body, "code") == NO_QUOTA:
            return AccessRefused(f"{self.url}: the quota of this key is used up {told}")
        if issubclass(kind, TransientModelError):
            what = "asks to slow down" if status == 429 else "failed"
            return kind(f"{self.url} {what} {told}", retry_after=retry_after(headers))
        what = {
            403: f"does not let this key use the model {self.model!r}",
            404: f"knows no model {self.model!r}, or the base URL is wrong",
        }.get(status, "refused the request")
        remedy = _REMEDIES.get(detail_in(body, "param"), "")
        return kind(f"{self.url} {what} {told}{remedy and f' ({remedy})'}")

    def _pointed(self, location: str) -> str:
        """The target of a redirect, without parts that may be secret."""
        try:
            return self._quoted(bare_address(urljoin(self.url, location))) if location else "nowhere"
        except ValueError:
            return "an address that cannot be read"

    def _quoted(self, text: str) -> str:
        """Words of a server or a transport as one short line, without secrets."""
        if len(text) > LONGEST_WORDS:
            # Not within a word, which may be one of the secrets.
            text = text[:LONGEST_WORDS].rpartition(" ")[0] or text[: 2 * _LONGEST_QUOTE]
        text = " ".join(without_secrets(text, self._secrets).split())
        return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "..."


def encodable(text: str) -> str:
    """The text as UTF-8 can encode it: an unpaired surrogate, left by broken decoding, becomes "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _lacking(user: str, *, has_key: bool) -> str | None:
    """The missing package or key and its fix; None if nothing is missing."""
    for name in ("aiohttp", "certifi"):
        if find_spec(name) is None:
            return f"{user} needs the {name} package: pip install 'ragmetrics-core[openai]'"
    if has_key:
        return None
    return (
        f"{user} has no key: set OPENAI_API_KEY or pass api_key (a local server needs base_url only, "
        "on the command line openai:MODEL@URL)"
    )


def _trusted() -> Any:
    """Certificate authorities: those that the environment names, or else those that browsers trust."""
    import ssl

    import certifi

    is_named = not os.environ.keys().isdisjoint({"SSL_CERT_FILE", "SSL_CERT_DIR"})
    return ssl.create_default_context(cafile=None if is_named else certifi.where())


def _proxy(url: str) -> str | None:
    """The proxy from the environment for an address."""
    from urllib.request import getproxies, proxy_bypass

    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its causes."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _words(error: BaseException) -> str:
    """The message of an error, without the status 400 that aiohttp adds to answers it cannot parse."""
    from aiohttp.http import HttpProcessingError

    return str(error.message if isinstance(error, HttpProcessingError) else error)


def _body(content: bytes) -> object:
    """The body of a failure: JSON, or else text, whatever encoding the server names."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")
