"""What the errors of the clients that people use mean for asking again."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip(
    "httpx", reason="needs httpx, the client of several extras: pip install 'ragmetrics-core[haystack]'"
)

import httpx

from ragmetrics_core.errors import (
    AccessRefused,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.models import foreign_answer, model_error
from tests.servers import Answer, OpenAIServer

REQUEST = httpx.Request("POST", "http://127.0.0.1:1/v1")


def answered(status: int) -> httpx.HTTPStatusError:
    """As httpx tells a status: on the response, not on the error."""
    return httpx.HTTPStatusError(f"{status}", request=REQUEST, response=httpx.Response(status))


class StatusError(Exception):
    """As openai, anthropic and others tell a status: on the error."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"the server said {status_code}")
        self.status_code = status_code


class ClientResponseError(Exception):
    """As aiohttp tells a status."""

    status = 429


class ResourceExhausted(Exception):
    """As Google's clients tell a status."""

    code = 429


class ThrottlingException(Exception):
    """As AWS's client tells a status."""

    response: dict[str, Any] = {"ResponseMetadata": {"HTTPStatusCode": 429}}  # noqa: RUF012  as there


class QuotaError(StatusError):
    """As openai tells that a quota is used up: with the status of a rate limit."""

    code = "insufficient_quota"


class ServerDisconnectedError(Exception):
    """As aiohttp names it."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (answered(429), ModelOverloaded),
        (StatusError(429), ModelOverloaded),
        (ClientResponseError("slow down"), ModelOverloaded),
        (ResourceExhausted("slow down"), ModelOverloaded),
        (ThrottlingException("slow down"), ModelOverloaded),
        (StatusError(503), ModelOverloaded),
        (answered(529), ModelOverloaded),
        (StatusError(500), TransientModelError),
        (answered(504), TransientModelError),
        (StatusError(408), TransientModelError),
        (StatusError(409), TransientModelError),
        (StatusError(425), TransientModelError),
        (answered(401), AccessRefused),
        (StatusError(404), AccessRefused),
        (QuotaError(429), AccessRefused),
        (StatusError(418), ModelRefused),
        (httpx.ReadTimeout("slow"), ModelTimeout),
        (TimeoutError("slow"), ModelTimeout),
        (httpx.ConnectError("nobody there"), TransientModelError),
        (httpx.RemoteProtocolError("hung up"), TransientModelError),
        (httpx.ReadError("broken"), TransientModelError),
        (ServerDisconnectedError("gone"), TransientModelError),
        (ConnectionResetError("gone"), TransientModelError),
        (ValueError("odd"), ModelError),
        (StatusError(200), ModelError),
    ],
    ids=repr,
)
def test_an_error_of_a_client_says_whether_it_may_pass(error: Exception, kind: type[ModelError]):
    told = model_error(error)

    assert type(told) is kind
    assert str(error) in str(told)


def test_an_error_that_a_framework_wraps_is_told_by_its_cause():
    try:
        try:
            raise answered(429)
        except httpx.HTTPStatusError as cause:
            raise RuntimeError("the generator failed") from cause
    except RuntimeError as wrapped:
        told = model_error(wrapped)

    assert type(told) is ModelOverloaded
    assert str(told) == "RuntimeError: the generator failed"


def test_the_message_names_the_model_and_is_one_short_line():
    told = str(model_error(ValueError("a\n\nb" + "c" * 1000), identity="mine"))

    assert told.startswith("mine: ValueError: a bccc")
    assert told.endswith("c...")
    assert len(told) < 400


def test_a_clients_error_is_neither_the_cause_nor_the_context_of_ours():
    # it may hold the request, and with it the key
    async def call() -> str:
        raise answered(429)

    with pytest.raises(ModelOverloaded) as raised:
        asyncio.run(foreign_answer(call(), model_error))

    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_an_answer_and_an_error_of_ours_come_as_they_are():
    refused = ModelRefused("no")

    async def call(error: ModelError | None = None) -> str:
        if error is not None:
            raise error
        return "Paris"

    assert asyncio.run(foreign_answer(call(), model_error)) == "Paris"
    with pytest.raises(ModelRefused) as raised:
        asyncio.run(foreign_answer(call(refused), model_error))
    assert raised.value is refused


# How long a server asks to wait


def of_httpx(url: str) -> None:
    httpx.post(f"{url}/chat/completions", json={}).raise_for_status()


def of_requests(url: str) -> None:
    requests = pytest.importorskip("requests", reason="needs the package requests")
    requests.post(f"{url}/chat/completions", json={}, timeout=60).raise_for_status()


def of_openai(url: str) -> None:
    openai = pytest.importorskip("openai", reason="needs the openai package")
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        client.chat.completions.create(model="m", messages=[])


def of_aiohttp(url: str) -> None:
    aiohttp = pytest.importorskip("aiohttp", reason="needs the package aiohttp")

    async def post() -> None:
        async with aiohttp.ClientSession() as session:
            (await session.post(f"{url}/chat/completions", json={})).raise_for_status()

    asyncio.run(post())


@pytest.mark.parametrize("call", [of_httpx, of_requests, of_openai, of_aiohttp])
@pytest.mark.parametrize(("status", "kind"), [(429, ModelOverloaded), (500, TransientModelError)])
def test_the_wait_that_a_server_asks_for_is_kept(
    call: Callable[[str], None], status: int, kind: type[TransientModelError]
):
    with OpenAIServer(Answer(status=status, body={}, headers={"Retry-After": "7"})) as server:
        try:
            call(server.base_url)
        except Exception as error:  # whatever the client raises is what is tried here
            told = model_error(error)

    assert type(told) is kind
    assert told.retry_after == 7.0


def test_the_wait_of_an_answer_of_aws_is_kept():
    error = ThrottlingException("slow down")
    error.response = {"ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}}}
    told = model_error(error)

    assert isinstance(told, ModelOverloaded)
    assert told.retry_after == 3.0


def test_an_error_that_cannot_be_printed_or_looked_at_is_told_by_its_class():
    class Broken(Exception):
        @property
        def response(self) -> object:
            raise RuntimeError("there is no response")

        def __str__(self) -> str:
            raise ValueError("there are no words")

    told = model_error(Broken(), identity="a model")

    assert (type(told), str(told)) == (ModelError, "a model: Broken: ")
