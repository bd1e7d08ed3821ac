"""What goes wrong with an OpenAI-compatible server, and how it is told: over real HTTP."""

import asyncio
import re
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import prompts
from ragmetrics_core.errors import (
    AccessRefused,
    ConfigError,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    TransientModelError,
)
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.parsers import Expected
from ragmetrics_core.protocol import Generate
from tests.servers import Answer, OpenAIServer, closed_port

KEY = "sk-very-secret-key-4711"
ERROR = {"error": {"message": "it said so"}}


def ask(judge: OpenAIJudge) -> None:
    prompt, variables = prompts.PAPER_QUESTION, {"answer": "In France."}
    held_to = Expected(form=prompt.user)  # lines of text, which no server is asked to hold a model to
    request = Generate(
        prompt=prompt, variables=variables, expected=held_to, messages=prompt.render(variables)
    )
    asyncio.run(judge.agenerate(request))


def failure(answer: Answer, calls: int = 1) -> ModelError:
    """The error that an answer leads to."""
    with OpenAIServer(answer) as server:
        with pytest.raises(ModelError) as raised:
            ask(OpenAIJudge("m", base_url=server.base_url, api_key=KEY))
        assert len(server.seen) == calls, "the judge must not ask again by itself"
    return raised.value


def told(error: ModelError) -> str:
    """The text of an error, with the server's address as URL."""
    return re.sub(r"http://127\.0\.0\.1:\d+/v1", "URL", str(error))


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (
            Answer(status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}}),
            AccessRefused,
            "URL refused the key (401): set OPENAI_API_KEY or pass api_key",
        ),
        (
            Answer(status=403, body=ERROR),
            AccessRefused,
            "URL does not let this key use the model 'm' (403): it said so",
        ),
        (
            Answer(status=404, body=ERROR),
            AccessRefused,
            "URL knows no model 'm', or the base URL is wrong (404): it said so",
        ),
        (
            Answer(status=400, body={"error": {"message": "maximum context length is 8192 tokens"}}),
            ModelRefused,
            "URL refused the request (400): maximum context length is 8192 tokens",
        ),
        (Answer(status=413, body=b""), ModelRefused, "URL refused the request (413)"),
        (
            Answer(status=422, body={"detail": "no such field"}),
            ModelRefused,
            "URL refused the request (422): no such field",
        ),
        (
            Answer(status=429, body={"error": "busy"}),
            ModelOverloaded,
            "URL asks to slow down (429): busy",
        ),
        (
            Answer(status=429, body={"error": {"message": "pay first", "code": "insufficient_quota"}}),
            AccessRefused,
            "URL: the quota of this key is used up (429): pay first",
        ),
        (Answer(status=408, body=ERROR), TransientModelError, "URL failed (408): it said so"),
        (Answer(status=500, body=ERROR), TransientModelError, "URL failed (500): it said so"),
        (
            Answer(status=502, body=b"<html>\n<h1>Bad  Gateway</h1>", content_type="text/html"),
            TransientModelError,
            "URL failed (502): <html> <h1>Bad Gateway</h1>",
        ),
        (
            Answer(body=ERROR),
            TransientModelError,
            "URL reported an error: it said so",
        ),
        (
            Answer(body=b"<html>Welcome</html>", content_type="text/html"),
            ModelError,
            "URL did not answer with JSON but with <html>Welcome</html>: "
            "is this the base URL of an OpenAI-compatible server? It usually ends in /v1",
        ),
        (
            Answer(body=b""),
            ModelError,
            "URL did not answer with JSON but with nothing: "
            "is this the base URL of an OpenAI-compatible server? It usually ends in /v1",
        ),
        (
            Answer(body=b'{"choices": [{"mess'),
            TransientModelError,
            'URL sent an answer that is truncated or not JSON: {"choices": [{"mess',
        ),
        (Answer(body=[1]), ModelError, "URL answered with JSON that is not an object: [1]"),
        (
            Answer(body={"object": "list"}),
            ModelError,
            "URL answered without choices: is it a chat completions server?",
        ),
        (Answer(body={"choices": []}), TransientModelError, "URL answered with an empty list of choices"),
        (
            Answer(status=429, body=b"\x1f\x8b", headers={"content-encoding": "gzip"}),
            ModelOverloaded,
            "URL asks to slow down (429)",
        ),
        (
            Answer(status=401, body=b"x" * 100, cut=10),
            AccessRefused,
            "URL refused the key (401): set OPENAI_API_KEY or pass api_key",
        ),
        (
            Answer(status=500, body={"error": f"{KEY} is no key, nor is {KEY[:13]}..."}),
            TransientModelError,
            "URL failed (500): *** is no key, nor is ***",
        ),
    ],
)
def test_each_failure_of_a_server_is_told_in_one_sentence(answer: Answer, kind: type, text: str):
    error = failure(answer)

    assert (type(error), told(error)) == (kind, text)


def test_a_setting_that_is_refused_even_when_it_is_left_out_is_told_with_its_name():
    answer = Answer(status=400, body={"error": {"message": "Unsupported value", "param": "temperature"}})

    assert told(failure(answer, calls=2)) == (
        "URL refused the request (400): Unsupported value "
        "(pass temperature=None, on the command line --judge-option temperature=none)"
    )


def test_a_long_message_of_a_server_is_shortened():
    text = str(failure(Answer(status=400, body={"error": {"message": "too long " * 1000}})))

    assert len(text) < 400
    assert text.endswith("...")


def test_space_around_an_address_is_no_part_of_it():
    with OpenAIServer(Answer(body={"choices": [{"message": {"content": "yes"}}]})) as server:
        judge = OpenAIJudge("m", base_url=f" {server.base_url}/ ")
        ask(judge)

    assert judge.identity.startswith(f"openai:{server.base_url}/m")
    assert server.seen[0].path == "/v1/chat/completions"


def test_a_port_where_nobody_listens_is_no_connection():
    url = f"http://127.0.0.1:{closed_port()}/v1"

    with pytest.raises(TransientModelError, match=f"^no connection to {url}: .*[Cc]onnect") as raised:
        ask(OpenAIJudge("m", base_url=url))
    assert type(raised.value) is TransientModelError, "a refused connection is no timeout"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body={"choices": "x" * 1000}, cut=100),
        Answer(cut=0),
        Answer(raw=b"garbage that is no HTTP at all\r\n\r\n"),
    ],
    ids=["half a body", "no answer", "no HTTP"],
)
def test_a_connection_that_breaks_may_be_tried_again(answer: Answer):
    error = failure(answer)

    assert type(error) is TransientModelError
    assert re.fullmatch("lost the connection to URL: (?!400).+", told(error))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        *(({"retry-after": odd}, None) for odd in ("soon", "nan", "-5", "inf", "Mon, 99 Foo 2020")),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_kept(headers: dict[str, str], seconds: float | None):
    with (
        OpenAIServer(Answer(status=429, body=ERROR, headers=headers)) as server,
        pytest.raises(TransientModelError) as raised,
    ):
        ask(OpenAIJudge("m", base_url=server.base_url))

    assert raised.value.retry_after == seconds


def test_a_date_to_wait_for_becomes_seconds():
    # the date has whole seconds, and some pass until it is read: between 3500 and 3600
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with (
        OpenAIServer(Answer(status=503, body=ERROR, headers={"retry-after": date})) as server,
        pytest.raises(TransientModelError) as raised,
    ):
        ask(OpenAIJudge("m", base_url=server.base_url))

    assert raised.value.retry_after is not None
    assert 3500 < raised.value.retry_after <= 3600


# What is wrong before a call


@pytest.mark.parametrize("kind", [OpenAIJudge, OpenAIEmbedder])
def test_a_missing_key_is_told_before_any_call(kind: Any):
    with pytest.raises(ConfigError, match=f"^{kind.__name__} has no key: set OPENAI_API_KEY or pass api_key"):
        kind("m")


@pytest.mark.parametrize("kind", [OpenAIJudge, OpenAIEmbedder])
@pytest.mark.parametrize("package", ["aiohttp", "certifi"])
def test_a_missing_package_is_told_with_the_command_that_installs_it(
    kind: Any, package: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ConfigError) as raised:
        kind("m", api_key=KEY)
    fix = "pip install 'ragmetrics-core[openai]'"
    assert str(raised.value) == f"{kind.__name__} needs the {package} package: {fix}"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"base_url": "localhost:8080/v1"}, "base_url must be an address such as http://127.0.0.1:8080/v1"),
        ({"api_key": "sk-ä"}, "characters that are not allowed in an HTTP header"),
        ({"temperature": -1}, "temperature must be between 0 and 2"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"response_format": "xml"}, "response_format must be text"),
        ({"model": ""}, "needs the name of a model"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(settings: dict[str, Any], text: str):
    with pytest.raises(ConfigError, match=text) as raised:
        OpenAIJudge(**({"model": "m", "api_key": KEY} | settings))
    assert "sk-ä" not in str(raised.value)
