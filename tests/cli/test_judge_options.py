"""`--judge-option`: settings of the judge on every command that takes one; and commands that ask no model."""

import json
import sys
from pathlib import Path

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.judges import judge_by_name
from ragmetrics_core.runs import export_wave, plan
from tests.servers import OpenAIServer, chat

ROW = {"question": "Who?", "contexts": ["Ann did."], "answer": "Ann did it.", "reference": "Ann."}


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    return path


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def asked(command, one: Path, tmp_path: Path, *options: str) -> tuple[dict, str]:
    """What the server was sent first, and the judge of the manifest."""
    given = [part for option in options for part in ("--judge-option", option)]
    with OpenAIServer(chat('{"statements": [], "declined": false}')) as server:
        judge = f"openai:small@{server.base_url}"
        command("evaluate", one, "--metrics faithfulness --judge", judge, *given, "--out", tmp_path / "r")
        body = server.seen[0].body
    return body, json.loads((tmp_path / "r" / "manifest.json").read_text())["judge"]


def test_none_is_not_sent(command, one, tmp_path):
    body, judge = asked(command, one, tmp_path, "temperature=none")
    assert "temperature" not in body
    assert "temperature" not in judge


def test_values_are_sent_with_their_types_and_are_part_of_the_judge(command, one, tmp_path):
    body, judge = asked(
        command, one, tmp_path, "temperature=0.5", "seed=7", "max_tokens=99", "response_format=json_object"
    )
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 7, 99)
    assert body["response_format"] == {"type": "json_object"}
    assert judge.endswith("?temperature=0.5&max_tokens=99&seed=7&response_format=json_object")


def test_a_time_limit_changes_no_reply_and_is_no_part_of_the_judge(command, one, tmp_path):
    _, plain = asked(command, one, tmp_path / "a")
    _, limited = asked(command, one, tmp_path / "b", "timeout=30")
    assert plain.partition("?")[2] == limited.partition("?")[2] == "temperature=0"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("heat=1", "no judge has an option 'heat'; the options are extra_body, logprobs, max_tokens"),
        ("temperature", "--judge-option takes NAME=VALUE, such as temperature=none, not 'temperature'"),
        ("temperature=", "--judge-option takes NAME=VALUE"),
        ("temperature=warm", "the judge's option temperature takes a number or none, not 'warm'"),
        ("temperature=nan", "the judge's option temperature takes a number or none, not 'nan'"),
        ("temperature=9", "temperature must be between 0 and 2, or None, not 9.0"),
        ("seed=1.5", "the judge's option seed takes a whole number or none"),
        ("max_tokens=0", "max_tokens must be at least 1"),
        ("response_format=xml", "response_format must be text, json_object or json_schema"),
        ("timeout=0", "takes seconds above 0 or none"),
    ],
)
@pytest.mark.parametrize("verb", ["evaluate", "plan"])
def test_an_option_that_cannot_be_is_one_sentence(command, one, verb, option, said):
    outcome = command(verb, one, "--judge openai:m@http://127.0.0.1:9 --judge-option", option)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())


def test_the_embedded_judge_has_no_options_but_the_time_limit_and_none_is_given_twice(command, one):
    outcome = command("evaluate", one, "--judge embedded --judge-option temperature=0")
    assert "the judge 'embedded' has no option 'temperature'; its options are timeout" in outcome.err
    assert command("evaluate", one, "--judge embedded --judge-option timeout=9").code == 0
    twice = command("plan", one, "--judge openai:m --judge-option seed=1 --judge-option seed=2")
    assert "seed is given twice" in twice.err


def test_a_panel_gives_each_judge_the_options_that_it_has(command, one):
    judges = ("--judge", "embedded", "--judge", "openai:m", "--judge-option", "seed=3")
    assert command("plan", one, *judges).code == 0
    refused = command("plan", one, "--judge embedded --judge entailment:m", *judges[4:])
    assert "no judge has an option 'seed'" in refused.err


@pytest.mark.parametrize("verb", ["probe", "catch-up", "batch"])
def test_every_command_that_takes_a_judge_takes_its_options(command, one, tmp_path, verb):
    (tmp_path / "run").mkdir()
    data = {
        "probe": ("probe",),
        "catch-up": ("catch-up", tmp_path / "run", "--metrics", "faithfulness"),
        "batch": ("batch", "export", one, "--out", tmp_path / "w", "--requests", tmp_path / "r.jsonl"),
    }
    outcome = command(*data[verb], "--judge openai:m@http://127.0.0.1:9 --judge-option heat=1")
    assert (outcome.code, "no judge has an option 'heat'" in outcome.err) == (2, True)


MODELS = ["openai:gpt-4o-mini", "openai:m@https://host/v1"]


@pytest.mark.parametrize(
    ("words", "metric"),
    [
        *((f"--judge {judge}", "faithfulness") for judge in MODELS),
        ("--judge embedded --embedder openai:text-embedding-3-small", "answer_similarity"),
    ],
)
def test_a_plan_asks_for_no_key_and_no_file(command, one, words, metric):
    assert command("plan", one, words, "--metrics", metric).code == 0


def test_a_run_still_asks_for_the_key_before_it_starts(command, one):
    outcome = command("evaluate", one, "--judge openai:gpt-4o-mini")
    assert (outcome.code, "has no key: set OPENAI_API_KEY" in outcome.err) == (2, True)


@pytest.mark.parametrize("judge", MODELS)
def test_an_export_asks_for_no_key_and_no_file(command, one, judge, tmp_path):
    requests = tmp_path / "requests.jsonl"
    words = ("--judge", judge, "--metrics faithfulness --out", tmp_path / "w", "--requests", requests)
    outcome = command("batch export", one, *words)
    assert (outcome.code, len(requests.read_text().splitlines())) == (0, 1)


def test_an_export_without_the_embedders_key_writes_the_judges_requests_and_names_the_key(tmp_path):
    wave = export_wave(
        [ROW], tmp_path / "r.jsonl", out=tmp_path / "w", metrics=["faithfulness", "answer_similarity"],
        judge=MODELS[0], embedder="openai:e",
    )  # fmt: skip
    assert wave.waiting == 1
    failed = next(record for record in wave.run.records() if record.metric.startswith("answer_similarity"))
    assert (failed.status, "set OPENAI_API_KEY" in str(failed.reason)) == ("model_error", True)


def test_a_plan_needs_no_package_of_the_judge(one, monkeypatch):
    # as on a machine that only plans
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    assert plan([ROW], metrics="faithfulness", judge=MODELS[0]).total.calls == 2
    with pytest.raises(ConfigError, match="needs the aiohttp package"):
        judge_by_name(MODELS[0])
