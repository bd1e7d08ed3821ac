"""What the openai package sends with: it may lack a part, and then says so once and is not asked in vain."""

import asyncio
import logging
from collections.abc import Iterator
from importlib import metadata
from typing import NoReturn

import pytest

pytest.importorskip("openai", reason="needs the extra openai: pip install 'ragmetrics[openai]'")

from ragmetrics_core import prompts
from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.models import _openai_transport as openai_transport
from ragmetrics_core.protocol import Generate
from tests.servers import Answer, OpenAIServer, chat


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    """What is installed, and what was told, is kept for the process."""

    def forget() -> None:
        openai_transport._unmet.cache_clear()
        openai_transport._tell_of_slower_transport.cache_clear()

    forget()
    yield
    forget()


def lacks_aiohttp(**_: object) -> NoReturn:
    """The words of the openai package when its extra is not installed."""
    raise RuntimeError(
        "To use the aiohttp client you must have installed the package with the `aiohttp` extra"
    )


def asked(judge: OpenAIJudge) -> str:
    prompt, variables = prompts.PAPER_QUESTION, {"answer": "In France."}
    request = Generate(prompt=prompt, variables=variables, messages=prompt.render(variables))
    (completion,) = asyncio.run(judge.agenerate(request))
    return completion.text


def test_without_the_transport_on_aiohttp_the_default_one_asks_and_it_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("openai.DefaultAioHttpClient", lacks_aiohttp)
    with OpenAIServer(chat("Where?")) as server, caplog.at_level(logging.WARNING):
        judge = OpenAIJudge("m", base_url=server.base_url)
        assert [asked(judge), asked(judge)] == ["Where?", "Where?"]

    assert [each.getMessage() for each in caplog.records if each.name.startswith("ragmetrics")] == [
        "the openai package lacks its transport on aiohttp, so requests go over its slower one: "
        "pip install 'ragmetrics[openai]'"
    ]


@pytest.mark.parametrize("model", [OpenAIJudge, OpenAIEmbedder])
@pytest.mark.parametrize(
    ("needs", "named"), [(["httpx-of-tomorrow<3,>=2"], "httpx-of-tomorrow"), (["numpy", "absent; x"], None)]
)
def test_a_package_that_the_client_needs_and_lacks_is_named_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, model: type, needs: list[str], named: str | None
):
    monkeypatch.setattr(metadata, "requires", lambda _: needs)
    if named is None:
        model("m", base_url="http://127.0.0.1:1/v1")
        return
    with pytest.raises(ConfigError) as raised:
        model("m", base_url="http://127.0.0.1:1/v1")
    expected = f"{model.__name__} needs the {named} package: pip install 'ragmetrics[openai]'"
    assert str(raised.value) == expected


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (
            ModuleNotFoundError("No module named 'h2'"),
            "ModuleNotFoundError: No module named 'h2': pip install 'ragmetrics[openai]'",
        ),
        # httpx, when the environment names such a proxy
        (ImportError("no 'socksio' for a SOCKS proxy"), "ImportError: no 'socksio' for a SOCKS proxy"),
        (ValueError("Unknown scheme for proxy URL"), "ValueError: Unknown scheme for proxy URL"),
    ],
)
def test_a_client_that_cannot_be_made_is_told_at_once_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, error: str
):
    def no_client(*args: object, **settings: object) -> NoReturn:
        raise failure

    monkeypatch.setattr("openai.AsyncOpenAI", no_client)
    with OpenAIServer(Answer()) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        with pytest.raises(ModelRefused) as raised:
            asked(judge)

    assert str(raised.value) == (
        f"{server.base_url} cannot be asked, the openai package has no client: {error}"
    )
