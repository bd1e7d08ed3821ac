"""A server that repeats the key it was sent, in every way it can fail: over real HTTP; nothing shows it."""

import asyncio
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import SecretStr

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import Run, evaluate, prompts, write_report
from ragmetrics_core.errors import ConfigError, ModelError, RunStopped
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.protocol import Generate
from tests.secrets.planted import KEY, PASSWORD, SAMPLE, Log, found, held, shown, told, written
from tests.servers import Answer, OpenAIServer, Seen, chat

SAID = f"no: key {KEY}, password {PASSWORD}, also {quote(PASSWORD, safe='')}"


def echo(seen: Seen) -> Answer:
    """Status 400, with the whole request in the message, as gateways do: what is secret comes first."""
    headers = dict(sorted(seen.headers.items()))
    return Answer(status=400, body={"error": {"message": f"{seen.path} {headers} {seen.body}"[:5000]}})


ANSWERS: dict[str, Answer | Callable[[Seen], Answer]] = {
    **{
        str(status): Answer(status=status, body={"error": {"message": SAID}})
        for status in (400, 401, 403, 404)
    },
    "429": Answer(status=429, body={"error": {"message": SAID, "code": SAID}}),
    "500 in plain text": Answer(status=500, body=SAID.encode(), content_type="text/plain"),
    "the request in a 400": echo,
    "an error with status 200": Answer(body={"error": SAID}),
    "a page": Answer(body=f"<html>{SAID}".encode(), content_type="text/html"),
    "no object": Answer(body=[SAID]),
    "JSON that is cut off": Answer(body=f'{{"error": "{SAID}'.encode()),
    "no HTTP": Answer(raw=f"HTTP/1.1 {SAID}\r\n\r\n".encode()),
    "a header that cannot be": Answer(headers={"x\x00": SAID}),
    "a reset": Answer(cut=0),
    "a reply": chat(SAID, usage={"prompt_tokens": 1, "completion_tokens": 1}),
}


def asked(judge: OpenAIJudge) -> Any:
    prompt, variables = prompts.PAPER_QUESTION, {"answer": "In France."}
    return asyncio.run(
        judge.agenerate(Generate(prompt=prompt, variables=variables, messages=prompt.render(variables)))
    )


def with_password(url: str) -> str:
    return url.replace("://", f"://user:{quote(PASSWORD, safe='')}@") + "?api-version=2024"


@pytest.mark.parametrize("name", [each for each in ANSWERS if each != "a reply"])
def test_no_error_tells_a_key_whatever_is_read_off_it(name: str):
    with OpenAIServer(ANSWERS[name]) as server, Log() as log:
        judge = OpenAIJudge("m", base_url=with_password(server.base_url), api_key=KEY)
        with pytest.raises(ModelError) as raised:
            asked(judge)
        sent = server.seen[0].headers["authorization"]

    assert sent.startswith("Basic "), "the password did reach the server"
    assert found(told(raised.value)) == []
    assert found("\n".join(log.lines)) == []


def test_a_key_of_the_environment_is_told_as_little_as_one_that_was_passed(monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer(echo) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with pytest.raises(ModelError) as raised:
            asked(OpenAIJudge("m"))

    assert "Bearer ***" in str(raised.value)
    assert found(told(raised.value)) == []


def test_a_call_that_is_cancelled_leaves_no_frame_of_the_client_that_holds_the_key():
    async def cancelled(judge: OpenAIJudge, server: OpenAIServer) -> None:
        prompt, variables = prompts.PAPER_QUESTION, {"answer": "In France."}
        request = Generate(prompt=prompt, variables=variables, messages=prompt.render(variables))
        task = asyncio.create_task(judge.agenerate(request))
        await asyncio.to_thread(server.sees, 1)
        task.cancel()
        await task

    with OpenAIServer(Answer(silent=True)) as server, pytest.raises(asyncio.CancelledError) as raised:
        asyncio.run(cancelled(OpenAIJudge("m", base_url=server.base_url, api_key=KEY), server))

    assert found(told(raised.value)) == []


def test_a_judge_shows_neither_its_key_nor_its_password_nor_what_it_sends_besides():
    judge = OpenAIJudge(
        "m",
        base_url=f"https://user:{quote(PASSWORD, safe='')}@host/v1",
        api_key=KEY,
        extra_body={"provider": {"api_key": KEY}},
    )
    embedder = OpenAIEmbedder("m", base_url=judge.base_url, api_key=KEY)

    assert found(shown(judge) + shown(embedder) + judge.identity + embedder.identity) == []
    assert found(shown(vars(judge)["api_key"])) == []


def test_a_judge_with_a_key_of_its_own_is_not_pickled_and_one_without_comes_out_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    for kept in (
        OpenAIJudge("m", api_key=KEY),
        OpenAIJudge("m", base_url=f"https://user:{quote(PASSWORD, safe='')}@host/v1"),
        OpenAIJudge("m", base_url="https://host/v1", extra_body={"api_key": KEY}),
    ):
        with pytest.raises(ConfigError, match="the pickle would hold its key"):
            pickle.dumps(kept)

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    sent = pickle.dumps(OpenAIJudge("m", temperature=0.5))
    assert found(sent) == []
    assert pickle.loads(sent) == OpenAIJudge("m", temperature=0.5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base_url": f"user:{PASSWORD}@host/v1"}, "an address such as"),
        ({"base_url": f"ftp://user:{PASSWORD}@host/v1?api_key={KEY}"}, "an address such as"),
        ({"base_url": f"http://[user:{PASSWORD}@host/v1"}, "cannot be read"),
        ({"base_url": f"http://host/v1?api_key={KEY}"}, "holds a key as its parameter 'api_key'"),
        ({"base_url": f"http://host/v1?X-Token={KEY}"}, "holds a key as its parameter 'X-Token'"),
        ({"api_key": f"{KEY}é"}, "characters that are not allowed in an HTTP header"),
        ({"temperature": 9}, "temperature must be"),
    ],
)
def test_a_setting_that_is_refused_is_not_repeated_where_it_holds_a_secret(
    settings: dict[str, Any], words: str
):
    given = {"base_url": "https://host/v1", "api_key": SecretStr(KEY), **settings}
    with pytest.raises(ConfigError, match=words) as raised:
        OpenAIJudge("m", **given)

    assert found(str(raised.value) + pickle.dumps(raised.value).decode("latin-1")) == []


def test_a_key_that_is_passed_as_a_secret_shows_in_no_frame_of_a_setting_that_is_refused():
    with pytest.raises(ConfigError) as raised:
        OpenAIJudge("m", api_key=SecretStr(KEY), temperature=9)

    assert found(told(raised.value)) == []


def test_no_file_of_a_run_holds_a_key_that_a_server_repeats(tmp_path: Path):
    for name, answer in ANSWERS.items():
        with OpenAIServer(answer) as server:
            judge = OpenAIJudge("m", base_url=with_password(server.base_url), api_key=KEY)
            with suppress(RunStopped):  # where the key is refused
                evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / name, attempts=1)
        run = Run.load(tmp_path / name)
        assert found(shown(list(run.records())) + shown(run.manifest)) == []
    write_report(run, tmp_path / "report.html")

    assert len(written(tmp_path)) > 5 * len(ANSWERS)
    assert held(tmp_path) == {}
