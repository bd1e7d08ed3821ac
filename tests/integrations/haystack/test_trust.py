"""A pipeline of somebody else writes, reads and sends only where this process allowed it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline, core
from haystack.components.agents import Agent
from haystack.core.errors import DeserializationError

from haystack_integrations.components.evaluators.ragmetrics import (
    FaithfulnessEvaluator,
    RagMetricsAgentHook,
    RagMetricsConnector,
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.mocks import MockChatGenerator

PARTS = [RagMetricsConnector, RagMetricsLiveEvaluator, RagMetricsEvaluator, FaithfulnessEvaluator]
JUDGE = {"chat_generator": "embedded"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, and nothing allowed."""
    monkeypatch.chdir(tmp_path)
    for name in ("FOLDERS", "HOSTS"):
        monkeypatch.delenv(f"RAGMETRICS_YAML_{name}", raising=False)
    prompt_folder(tmp_path / "prompts")
    return tmp_path


def prompt_folder(folder: Path) -> str:
    folder.mkdir()
    text = "## user\nList the statements of: {{ question }} {{ answer }}\n"
    (folder / "statements.v2.md").write_text(text + 'Reply with JSON only: {"statements": ["first"]}\n')
    return str(folder)


@contextmanager
def refused(words: str = "") -> Iterator[None]:
    """Loading says why not, before Haystack 3 as the cause of its own error."""
    with pytest.raises(DeserializationError) as raised:
        yield
    assert words in f"{raised.value} {raised.value.__cause__}"


def saved(part: Any) -> str:
    pipeline = Pipeline()
    pipeline.add_component("scores", part)
    return pipeline.dumps()


def received(**parameters: Any) -> str:
    """What somebody else wrote: a component with these parameters, whatever they are."""
    return saved(RagMetricsConnector("faithfulness", **JUDGE | parameters))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("out", ["/tmp/elsewhere", "../elsewhere", "runs/../src", ".git", ".", "~/x", "runs/../../x"])  # noqa: S108
def test_no_run_is_written_outside_of_runs(part: Any, out: str):
    text = saved(part(**JUDGE, out=out))

    with refused("RAGMETRICS_YAML_FOLDERS"):
        Pipeline.loads(text)


def test_a_link_in_runs_leads_nowhere(here: Path):
    (here / "runs").mkdir()
    (here / "runs" / "far").symlink_to("/tmp")  # noqa: S108

    with refused("RAGMETRICS_YAML_FOLDERS"):
        Pipeline.loads(received(out="runs/far/x"))


def test_runs_in_the_working_directory_and_prompts_there_need_no_permission():
    text = received(out="runs/first", prompts="prompts")

    assert Pipeline.loads(text).dumps() == text


def test_folders_that_are_allowed_can_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    text = received(out=str(tmp_path / "kept" / "first"))
    monkeypatch.setenv("RAGMETRICS_YAML_FOLDERS", f"/nowhere, {tmp_path / 'kept'}")

    assert Pipeline.loads(text).dumps() == text


def test_prompts_are_read_from_the_working_directory_only(tmp_path_factory: pytest.TempPathFactory):
    with refused("prompts is"):
        Pipeline.loads(received(prompts=prompt_folder(tmp_path_factory.mktemp("elsewhere") / "prompts")))


@pytest.mark.parametrize("name", ["chat_generator", "text_embedder"])
@pytest.mark.parametrize(
    "server",
    [
        "https://evil.example/v1",
        "http://169.254.169.254/latest",
        "https://evil.example:8443/v1",
        "HTTPS://evil.example",
        "https://judge.example.evil.example",
        "https://judge.example:80@evil.example",
        "https://evil.example\\@judge.example",
        "https://evil.example#@judge.example",
        "https://evil.example/judge.example",
        "https://judge.example\n.evil.example",
    ],
)
def test_nothing_is_sent_to_a_server_that_is_not_allowed(name: str, server: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAGMETRICS_YAML_HOSTS", "judge.example")
    data = RagMetricsConnector("faithfulness", **JUDGE).to_dict()
    data["init_parameters"][name] = f"openai:gpt-5-mini@{server}"

    with refused("RAGMETRICS_YAML_HOSTS"):
        RagMetricsConnector.from_dict(data)


@pytest.mark.parametrize("hosts", ["judge.example", "other.example, judge.example:8000"])
def test_servers_that_are_allowed_can_be_asked(hosts: str, monkeypatch: pytest.MonkeyPatch):
    text = received(chat_generator="openai:gpt-5-mini@https://judge.example:8000/v1")
    with refused():
        Pipeline.loads(text)
    monkeypatch.setenv("RAGMETRICS_YAML_HOSTS", hosts)

    assert Pipeline.loads(text).dumps() == text


@pytest.mark.parametrize(
    "model",
    [
        {"chat_generator": "entailment:/etc/model"},
        {"chat_generator": "entailment:../model"},
        {"scorer": "cross-encoder:/m"},
    ],
)
def test_model_files_are_read_from_the_working_directory_only(model: dict[str, str]):
    with refused("RAGMETRICS_YAML_FOLDERS"):
        Pipeline.loads(received(**model))


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "entailment:cross-encoder/nli", "entailment:models/small"])
def test_names_without_a_server_need_no_permission(name: str):
    text = received(chat_generator=name)

    assert Pipeline.loads(text).dumps() == text


def test_the_hook_of_an_agent_is_held_to_the_same():
    hook = RagMetricsAgentHook(**JUDGE, out="/tmp/elsewhere")  # noqa: S108
    text = saved(Agent(chat_generator=MockChatGenerator(responses="x"), hooks={"after_run": [hook]}))

    with refused("RAGMETRICS_YAML_FOLDERS"):
        Pipeline.loads(text)


def test_who_trusts_everything_says_so_as_for_haystack():
    text = received(out="/tmp/elsewhere", chat_generator="openai:m@https://judge.example")  # noqa: S108

    assert Pipeline.loads(text, unsafe=True).dumps() == text


@pytest.mark.skipif(
    not hasattr(core, "serialization_security"), reason="haystack-ai before 3 loads any function that YAML names"
)
@pytest.mark.parametrize("variable", ["RAGMETRICS_YAML_FOLDERS", "RAGMETRICS_YAML_HOSTS"])
def test_no_callback_of_the_yaml_can_allow_more(variable: str):
    module = "haystack_integrations.components.evaluators.ragmetrics.trust"
    for name in ("getenv", "os.environ", "getenv.__globals__"):
        data = RagMetricsConnector("faithfulness", **JUDGE).to_dict()
        data["init_parameters"]["on_result"] = f"{module}.{name}"
        with refused():
            RagMetricsConnector.from_dict(data)
