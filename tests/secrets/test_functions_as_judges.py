"""Functions and models of one's own as judges: what can be seen of their keys is in no record."""

import asyncio
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError, ModelError, ModelOverloaded, ModelTimeout
from ragmetrics_core.models import CallableJudge, Line, Traffic
from ragmetrics_core.models._secrets import secrets_in, without_secrets
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.secrets.planted import KEY, PASSWORD, SAMPLE, found, held, shown

API_KEY = KEY


def closed_over() -> Callable[[str], str]:
    api_key = KEY
    return lambda prompt: _raises(f"401: {api_key}")


def in_default() -> Callable[[str], str]:
    def judge(prompt: str, *, token: SecretStr = SecretStr(KEY)) -> str:  # noqa: B008
        return _raises(f"401: {token.get_secret_value()}")

    return judge


def in_global() -> Callable[[str], str]:
    return lambda prompt: _raises(f"401: {API_KEY}")


def in_environment() -> Callable[[str], str]:
    return lambda prompt: _raises(f"401: {os.environ['ANY_SERVICE_API_KEY']}")


def in_partial() -> Callable[[str], str]:
    return functools.partial(lambda api_key, prompt: _raises(f"401: {api_key}"), KEY and SecretStr(KEY))


class Client:
    def __init__(self) -> None:
        self.headers = {"Authorization": f"Bearer {KEY}", "X-Other": "plain"}
        self.proxy = f"http://me:{PASSWORD.replace('/', '%2F')}@proxy:3128"


class Service:
    """A judge that keeps its key two objects deep, and repeats it in its replies, too."""

    identity = "service"
    says = ""

    def __init__(self) -> None:
        self._client = Client()

    def ask(self, prompt: str) -> str:
        _raises(f"{self._client.headers} through {self._client.proxy}")
        return ""


def _raises(words: str) -> str:
    raise ConnectionError(words)


@pytest.mark.parametrize(
    "make", [closed_over, in_default, in_global, in_environment, in_partial, lambda: Service().ask]
)
def test_a_key_that_a_function_reaches_is_in_no_file_when_its_errors_repeat_it(
    make: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANY_SERVICE_API_KEY", KEY)
    run = evaluate([SAMPLE], metrics="faithfulness", judge=make(), out=tmp_path / "run", attempts=1)

    (record,) = run.records()
    assert record.status == "model_error"
    assert "***" in (record.reason or "")
    assert held(tmp_path) == {}


def test_a_function_shows_nothing_of_its_arguments():
    judge = CallableJudge(function=functools.partial(print, KEY), identity="mine")

    assert found(shown(judge)) == []


def test_an_identity_that_holds_a_key_is_refused_before_anything_is_written(tmp_path: Path):
    class Named(Service):
        identity = f"service at https://host?k={KEY}"

    class Addressed(Service):
        identity = f"service at https://me:{PASSWORD.replace('/', '%2F')}@host/v1"

    for made in (Named(), Addressed()):
        judge = CallableJudge(function=made.ask, identity=made.identity)
        with pytest.raises(
            ConfigError, match="the identity of the judge holds a key or a password"
        ) as raised:
            evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "run")
        assert found(str(raised.value)) == []
    assert list(tmp_path.iterdir()) == []


def test_a_reply_that_repeats_the_key_is_stored_and_read_without_it(tmp_path: Path):
    api_key = KEY

    def judge(prompt: str) -> str:
        return f'{{"statements": ["The key is {api_key}."]}}'

    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "run")

    assert "The key is ***." in next(next(run.records()).generate_steps).reply
    assert held(tmp_path) == {}
    assert list(run.audit()) == []


def test_errors_of_embedders_are_told_without_keys_too(tmp_path: Path):
    class Failing(HashEmbedder):
        api_key = SecretStr("of the class")

        async def aembed(self, texts: Any) -> Any:
            raise ValueError(f"{vars(self)['token'].get_secret_value()} is no key")

    embedder = Failing()
    object.__setattr__(embedder, "token", SecretStr(KEY))
    rows = [{"id": "1", "answer": "a", "reference": "b"}]
    evaluate(rows, metrics="answer_similarity", embedder=embedder, out=tmp_path / "run", attempts=1)

    assert held(tmp_path) == {}


def test_what_an_error_is_stays_when_its_words_are_changed():
    error = ModelOverloaded(f"busy, {KEY}", retry_after=7.0)
    judge = discreet(lambda request: error, "[state]")
    with pytest.raises(ModelOverloaded, match=r"^\[state\], ") as raised:
        asyncio.run(judge.agenerate(request()))
    assert raised.value.retry_after == 7.0

    for error, kind in ((TimeoutError("late busy"), ModelTimeout), (ValueError("odd busy"), ModelError)):
        other = discreet(lambda request, error=error: error, "-")
        with pytest.raises(kind):
            asyncio.run(other.agenerate(request()))


def discreet(reply: Callable[[Any], Any], state: str) -> Line:
    """A judge of which nobody shall know that it is busy."""
    judge = ScriptedJudge(reply)
    hidden = Redactor(judge, redact=lambda text: text.replace("busy", state))
    return Line(judge, Traffic(attempts=1), redactor=hidden)


def request() -> Any:
    from ragmetrics_core.prompts import QUESTIONS, Message
    from ragmetrics_core.protocol import Generate

    return Generate(prompt=QUESTIONS, variables={}, messages=(Message("user", "Tea?"),))


# -- what is a key and what is not


def test_words_that_only_share_a_name_with_keys_stay_in_replies():
    class Model:
        input_key = "question"
        tokenizer = "a-long-tokenizer-name"
        pad_token = "<|endoftext|>"
        max_tokens = "1000000000"

        def __init__(self) -> None:
            self.__dict__.update({name: value for name, value in vars(Model).items() if name[0] != "_"})

    assert secrets_in(Model()) == frozenset()


def test_placeholders_for_keys_are_no_keys():
    for placeholder in ("EMPTY", "none", "ollama", "sk-test"):
        assert secrets_in({"api_key": placeholder}) == frozenset()


def test_what_refers_to_itself_and_what_is_broken_is_looked_through_all_the_same():
    class Breaks(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise RuntimeError("changed meanwhile")

    class Unset:
        def resolve_value(self) -> str:
            raise ValueError("not set")

    loop: dict[str, Any] = {"api_key": KEY, "broken": Breaks(), "unset": Unset()}
    loop["self"] = loop

    assert KEY in secrets_in(loop)


@given(st.text(alphabet=":/@?=&a. b", max_size=60))
def test_taking_secrets_out_of_any_text_leaves_none_and_never_fails(text: str):
    assert KEY not in without_secrets(f"{text}{KEY}{text}", [KEY])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("https://me:pw@host/v1?api_key=abc&n=1", "https://***@host/v1?api_key=***&n=1"),
        ("https://me:p/w@host/v1", "https://***@host/v1"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("https://token@host/v1", "https://***@host/v1"),
        ("Authorization: Bearer abcdefgh12", "Authorization: Bearer ***"),
        ("a bearer of news, basic as it is", "a bearer of news, basic as it is"),
        (f"key {KEY[:14]}*** is wrong", "key *** is wrong"),
    ],
)
def test_what_stands_where_only_secrets_stand_is_taken_out(words: str, told: str):
    assert without_secrets(words, [KEY]) == told
