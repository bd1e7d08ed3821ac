"""The words of a command, which everybody on the machine sees: no option takes a key."""

import json
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core.cli._app import app

KEY = "sk-very-secret-4711-0815"
OPTIONS = [
    f"api_key={KEY}",
    f"headers=Bearer {KEY}",
    f'extra_body={{"api_key": "{KEY}"}}',
    f'extra_body={{"provider": {{"auth_token": "{KEY}"}}}}',
    f'extra_body={{"headers": [{{"Authorization": "Bearer {KEY}"}}]}}',
    f'extra_body={{"callback": "https://me:{KEY}@example.org"}}',
]
JUDGES = [
    f"openai:m@https://me:{KEY}@127.0.0.1:9/v1",
    f"openai:m@https://127.0.0.1:9/v1?api_key={KEY}",
    f"openai:m@https://{KEY}@127.0.0.1:9/v1",
]
COMMANDS = ["evaluate DATA --metrics faithfulness", "plan DATA", "probe --limit 1"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.jsonl"
    file.write_text(json.dumps({"id": "1", "question": "a", "answer": "b", "contexts": ["c"]}), "utf-8")
    return file


def refused(words: list[str]) -> None:
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 2, told.output
    assert KEY not in told.output


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", OPTIONS, ids=range(len(OPTIONS)))
def test_an_option_that_holds_a_key_is_refused_without_repeating_it(data: Path, command: str, option: str):
    words = [str(data) if word == "DATA" else word for word in command.split()]

    refused([*words, "--judge", "openai:m@http://127.0.0.1:9/v1", "--judge-option", option])


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("judge", JUDGES, ids=range(len(JUDGES)))
def test_an_address_that_holds_a_key_is_refused_without_repeating_it(data: Path, command: str, judge: str):
    words = [str(data) if word == "DATA" else word for word in command.split()]

    refused([*words, "--judge", judge])
    if command.startswith("evaluate"):
        refused([*words, "--judge", "embedded", "--embedder", judge])
        refused([*words, "--judge", f"cascade:embedded,{judge}"])
