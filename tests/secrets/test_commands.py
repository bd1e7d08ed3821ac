"""Every command, with a key in the environment and a server that repeats it: no output has it."""

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core.cli._app import app
from tests.secrets.planted import KEY, PASSWORD, SAMPLE, found, held
from tests.secrets.test_servers_that_repeat_keys import echo, with_password
from tests.servers import OpenAIServer, Seen, chat


def reply(seen: Seen) -> Any:
    """Statements that repeat the key, and errors that do."""
    asked = seen.body["messages"][-1]["content"]
    if "<items>" in asked:
        return echo(seen)
    return chat(json.dumps({"statements": [f"It is {KEY}.", f"It is {PASSWORD}."], "declined": KEY}))


def test_no_command_shows_or_writes_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = [{**SAMPLE, "id": str(number), "group": "ab"[number % 2]} for number in range(4)]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run, other, wave = tmp_path / "run", tmp_path / "other", tmp_path / "wave.jsonl"
    judge = "--judge", "openai:m", "--metrics", "faithfulness"
    replies = tmp_path / "replies.jsonl"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    told = []

    def command(*words: object, codes: set[int] = frozenset({0, 1, 2})) -> str:  # type: ignore[assignment]
        done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
        assert done.exit_code in codes, done.stderr
        told.append(f"{words}: {done.stdout}{done.stderr}")
        return str(done.stdout)

    with OpenAIServer(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", with_password(server.base_url))
        command("plan", data, *judge, codes={0})
        command("evaluate", data, *judge, "--out", run)
        command("evaluate", data, *judge, "--out", run)
        command("evaluate", data, *judge, "--out", other, "--on-error", "raise")
        assert server.seen
        command("batch", "export", data, *judge, "--out", tmp_path / "batch", "--requests", wave, codes={0})
        address = json.loads(wave.read_text("utf-8").splitlines()[0])["custom_id"]
        failed = {"custom_id": address, "error": {"message": f"no: {KEY}"}}
        replies.write_text(json.dumps(failed) + "\n", encoding="utf-8")
        command("batch", "import", tmp_path / "batch", replies, codes={1})
    replies.unlink()
    command("show", run, codes={0})
    command("show", run, "1", codes={0})
    command("show", run, "1", "faithfulness", "--prompts", "--replies", codes={0})
    command("show", run, "1", "faithfulness", "--json", codes={0, 2})
    command("audit", run, codes={0})
    command("report", run, "-o", tmp_path / "report.html", codes={0})
    command("verdicts", run, codes={0})
    command("verdicts", run, "--out", tmp_path / "verdicts.csv", codes={0})
    command("runs", tmp_path, codes={0})
    command("cache", "stats", run, codes={0})
    command("diff", run, run, "1", "faithfulness")
    command("merge", run, run, "--out", tmp_path / "merged", codes={0})
    command("study", "groups", run, "--by", "group")
    command("study", "compare", run, tmp_path / "merged")
    command("evaluate", data, "--judge", f"openai:m@https://user:{PASSWORD}@host/v1", codes={2})
    command(
        "evaluate", data, "--judge", f"opnai:m@https://user:{PASSWORD.replace('/', '%2F')}@host/v1", codes={2}
    )

    assert "***" in "".join(told), "the server did repeat it"
    for each in told[:-2]:
        assert found(each) == [], each
    for each in told[-2:]:  # what a command was given is shown by whoever gave it
        assert found(each.partition(": ")[2].partition(")")[2]) == [], each
    assert held(tmp_path) == {}


def test_a_mistake_of_our_own_is_told_without_the_variables_of_its_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # a typer that shows local variables would print the key wherever one holds it
    assert app.pretty_exceptions_enable is False

    def fails(*_: object, **__: object) -> None:
        key = KEY
        raise ZeroDivisionError(f"{len(key)}")

    monkeypatch.setattr("ragmetrics_core.cli._runs.list_runs", fails)
    short = CliRunner().invoke(app, ["runs", str(tmp_path)])
    monkeypatch.setenv("RAGMETRICS_TRACEBACK", "1")
    whole = CliRunner().invoke(app, ["runs", str(tmp_path)])

    assert short.exit_code == 70
    assert isinstance(whole.exception, ZeroDivisionError)
    sys.excepthook(type(whole.exception), whole.exception, whole.exception.__traceback__)
    printed = "".join(traceback.format_exception(whole.exception))
    assert found(short.output + whole.output + printed) == []
