"""Proxies and certificates: what the environment says of the way to a server, and what always holds."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import evaluate, prompts
from ragmetrics_core.errors import AccessRefused, ModelError, RunStopped
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.protocol import Generate
from tests.servers import Answer, OpenAIServer, chat

KEY = "sk-very-secret-4711"
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def asked(url: str) -> str:
    """The reply of a server to one question."""
    judge = OpenAIJudge("m", base_url=url, api_key=KEY)
    prompt, variables = prompts.PAPER_QUESTION, {"answer": "In France."}
    request = Generate(prompt=prompt, variables=variables, messages=prompt.render(variables))
    (reply,) = asyncio.run(judge.agenerate(request))
    return reply.text


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_asked(name: str, monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer(chat("It is so.")) as proxy:
        monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))

        assert asked("http://models.invalid/v1") == "It is so."
        assert [each.path for each in proxy.seen] == ["http://models.invalid/v1/chat/completions"]


def test_a_host_of_no_proxy_is_asked_itself(monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer(chat("From the proxy.")) as proxy, OpenAIServer(chat("From the server.")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")

        assert asked(server.base_url) == "From the server."
        assert proxy.seen == []


def test_a_password_of_a_proxy_is_in_no_error(monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer(Answer(raw=b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")) as proxy:
        place = proxy.base_url.removesuffix("/v1").replace("//", "//me:very-private-4711@")
        monkeypatch.setenv("HTTPS_PROXY", place)
        with pytest.raises(ModelError) as raised:
            asked("https://models.invalid/v1")

    assert "very-private" not in str(raised.value)
    assert KEY not in str(raised.value)


# Certificates


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody but its owner vouches for, and its key beside it."""
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl is not installed")
    place = tmp_path_factory.mktemp("certificate")
    words = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    subprocess.run(
        ["openssl", *words.split(), "-addext", "subjectAltName=DNS:localhost"],
        cwd=place,
        check=True,
        capture_output=True,
    )
    return place / "cert.pem"


@pytest.fixture
def secure(certificate: Path) -> Iterator[tuple[OpenAIServer, int]]:
    """A server that speaks TLS with it, and its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with OpenAIServer(chat('{"statements": ["In Ulm."]}'), tls=context) as server:
        yield server, int(server.base_url.split(":")[2].removesuffix("/v1"))


def test_a_server_that_nobody_vouches_for_sees_no_prompt_and_no_key(secure: tuple[OpenAIServer, int]):
    server, port = secure
    with pytest.raises(AccessRefused, match=r"certificate that is not trusted here.*SSL_CERT_FILE"):
        asked(f"https://localhost:{port}/v1")

    row = {"id": "1", "question": "Where?", "answer": "In Ulm.", "contexts": ["In Ulm."]}
    judge = OpenAIJudge("m", base_url=f"https://localhost:{port}/v1", api_key=KEY)
    with pytest.raises(RunStopped, match="SSL_CERT_FILE"):
        evaluate([row], metrics="faithfulness", judge=judge)

    assert server.seen == []


def test_ssl_cert_file_says_who_vouches(
    secure: tuple[OpenAIServer, int], certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    assert asked(f"https://localhost:{secure[1]}/v1") == '{"statements": ["In Ulm."]}'


def test_a_certificate_of_another_host_is_refused(
    secure: tuple[OpenAIServer, int], certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    with pytest.raises(AccessRefused, match="certificate that is not trusted"):
        asked(f"https://127.0.0.1:{secure[1]}/v1")
    assert secure[0].seen == []
