"""`ragmetrics live follow`: scores for the traces that a collector writes."""

from pathlib import Path

import pytest

from ragmetrics_core import Run
from tests.cli.conftest import Command
from tests.servers import closed_port
from tests.traces.made import run_of, span, written


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with two traces of answers, and one of something else."""
    folder = tmp_path / "logs"
    folder.mkdir()
    written(folder, [*run_of(1), *run_of(2), span(7, trace=7, name="GET /")])
    return folder


def test_what_is_there_is_scored_and_counted(command: Command, logs: Path, tmp_path: Path):
    words = "--judge embedded --metrics faithfulness --once --settle 0"
    first = command("live follow", logs, words, "--out", tmp_path / "run")
    again = command("live follow", logs, words, "--out", tmp_path / "run")

    assert (first.code, again.code) == (0, 0)
    assert (
        "3 traces finished, 0 unfinished\n2 samples scored, 0 failed\n1 skipped: no_model_call\n" in first.out
    )
    assert "0 samples scored" in again.out
    assert Run.load(tmp_path / "run").mean("faithfulness").n == 2


def test_traces_wait_for_a_judge_that_is_down(command: Command, logs: Path, tmp_path: Path):
    words = "--metrics faithfulness --once --settle 0 --attempts 1 --concurrency 1"
    written(logs, [each for number in range(3, 13) for each in run_of(number)], "more.jsonl")
    down = f"--judge openai:judge@http://127.0.0.1:{closed_port()}/v1"
    first = command("live follow", logs, words, down, "--out", tmp_path / "run")
    again = command("live follow", logs, words, "--judge embedded", "--out", tmp_path / "other")

    assert first.code == 1
    assert again.code == 0
    assert "12 samples scored" in again.out


def test_a_budget_skips_what_it_cannot_pay_for(command: Command, logs: Path, tmp_path: Path):
    words = "--judge embedded --metrics faithfulness --once --settle 0 --max-calls 1 --concurrency 1"
    written(logs, [each for number in range(3, 13) for each in run_of(number)], "more.jsonl")
    done = command("live follow", logs, words, "--out", tmp_path / "run")
    assert "skipped: budget_spent" in done.out


def test_missing_contexts_are_explained_by_what_traces_may_hold(
    command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    written(tmp_path, run_of(1, shown=["Nobody knows where these words come from or who wrote them."]))
    command(
        "live follow",
        tmp_path,
        "--judge embedded --metrics faithfulness --once --settle 0",
        "--out",
        tmp_path / "run",
    )
    assert "give --documents or --system-message" in caplog.text


def test_a_new_run_begins_beyond_a_size(command: Command, logs: Path, tmp_path: Path):
    words = "--judge embedded --metrics faithfulness --once --settle 0 --concurrency 1 --rotate 100"
    first = command("live follow", logs, words, "--out", tmp_path / "run")
    again = command("live follow", logs, words, "--out", tmp_path / "run")

    assert (first.code, again.code) == (0, 0)
    parts = sorted(path.parent.name for path in (tmp_path / "run").glob("*/manifest.json"))
    assert parts[:2] == ["part-000001", "part-000002"]
    assert sum(len(Run.load(tmp_path / "run" / part)) for part in parts) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--format csv", "otlp"),
        ("--rotate week", "--rotate takes day or a number of bytes"),
        ("--judge embedded", "give --judge once"),
        ("--documents nowhere", "nowhere"),
    ],
)
def test_wrong_use_is_refused(command: Command, logs: Path, tmp_path: Path, words: str, said: str):
    given = "--judge embedded --metrics faithfulness --once"
    refused = command("live follow", logs, given, words, "--out", tmp_path / "run")
    assert refused.code == 2
    assert said in refused.err
