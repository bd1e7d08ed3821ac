"""Models by name, and what importing them loads."""

import subprocess
import sys

import pytest

from ragmetrics_core import models
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import (
    OpenAIEmbedder,
    OpenAIJudge,
    as_embedder,
    as_judge,
)
from ragmetrics_embedded import LexicalJudge

IMPORT_ALL = """
import sys
from ragmetrics_core.models import *
print(*sorted({"aiohttp", "httpx2", "openai", "wordllama"} & set(sys.modules)))
"""


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def test_a_name_says_which_model_it_is_and_where():
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    assert as_judge("embedded") == LexicalJudge()
    assert as_judge("openai:gpt-x") == OpenAIJudge("gpt-x")
    assert as_embedder("openai:embed-x") == OpenAIEmbedder("embed-x")
    # an address after the model is another server, an at sign alone is a part of the model
    at_server = OpenAIJudge("org/m@v2", base_url="http://127.0.0.1:11434/v1")
    assert as_judge("openai:org/m@v2@http://127.0.0.1:11434/v1") == at_server
    assert as_judge("openai:m@v2") == OpenAIJudge("m@v2")


@pytest.mark.parametrize("address", ["127.0.0.1:11434/v1", "localhost/v1", "vllm.lan:8000"])
def test_an_address_without_http_is_not_taken_for_a_part_of_the_model(address: str):
    with pytest.raises(ConfigError, match=f"^the address '{address}' of a server begins with http"):
        as_judge(f"openai:m@{address}")


@pytest.mark.parametrize(
    "name", ["openai:http://127.0.0.1:8080/v1", "openai:HTTPS://host/v1/qwen?temperature=0"]
)
def test_an_address_without_a_model_is_not_taken_for_the_model(name: str):
    with pytest.raises(ConfigError, match=r"^write the model before the address of its server"):
        as_judge(name)


@pytest.mark.parametrize("name", ["llama", "llama:small.gguf"])
def test_a_model_file_is_told_to_be_served(name: str):
    with pytest.raises(
        ConfigError, match=r"serve the file .* and write openai:MODEL@http://127.0.0.1:8080/v1"
    ):
        as_judge(name)


@pytest.mark.parametrize("name", ["openai", "openai:", "", "LLAMA"])
def test_an_unknown_judge_is_told_with_the_forms_that_there_are(name: str):
    with pytest.raises(ConfigError) as raised:
        as_judge(name)

    assert str(raised.value) == (
        f"there is no judge {name!r}; a judge is one of: "
        '"embedded" (a small support model, no language model), "embedded:FILE.json" for one that you '
        'trained (ragmetrics train-judge), "openai:MODEL", '
        '"openai:MODEL@BASE_URL" for any other OpenAI-compatible server, '
        '"entailment:MODEL" for an NLI model with the embedded rules, '
        '"grounded:MODEL" for MiniCheck, FactCG, LettuceDetect and similar models with the same rules, '
        '"decisions:MODEL" for a decision model, with @URL at another address, '
        '"calibrated:CARD.json,JUDGE" for a judge with calibrated probabilities, '
        '"cascade:CHEAP,EXPENSIVE" for two judges, the cheap one first'
    )


@pytest.mark.parametrize("name", ["minilm", "openai:", "llama"])
def test_an_unknown_embedder_is_told_with_the_forms_that_there_are(name: str):
    with pytest.raises(
        ConfigError, match=f"there is no embedder '{name}'; an embedder is one of: \"embedded\""
    ):
        as_embedder(name)


def test_importing_the_models_loads_no_client_and_no_model_package():
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def test_a_name_that_no_model_has_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Claude'"):
        models.Claude  # noqa: B018
