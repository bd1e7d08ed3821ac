"""What the examples say is what happens; any model will do, so a local server stands in for the small one."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integrations.running_examples import assert_compared, assert_lost, load_example, needs, run_example
from tests.servers import Answer, OpenAIServer, Seen, chat

pytestmark = [needs("xllamacpp", "wordllama", "scipy"), pytest.mark.integration]


def first_passage(seen: Seen) -> Answer:
    """A model that answers with the first passage of its prompt."""
    prompt = str(seen.body["messages"][-1]["content"])
    return chat(next(line for line in prompt.splitlines()[1:] if line.strip()))


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    monkeypatch.setenv("LOCAL_MODEL_KEY", "")
    with OpenAIServer(first_passage) as server:
        served = SimpleNamespace(listening_address=server.base_url.removesuffix("/v1"))
        yield {"serve_smollm2": lambda: served}


def test_the_example_runs_twice_in_the_same_folder(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    instead: dict[str, Any],
):
    monkeypatch.chdir(tmp_path)
    # what another process does is done in this one: importing Haystack again takes most of the time
    example = load_example(monkeypatch, "haystack_pipeline", instead=instead)
    loaded = SimpleNamespace(run=lambda command, check: example["load_and_run"](Path(command[-1])))
    example["main"].__globals__["subprocess"] = loaded
    for _ in range(2):
        example["main"]()
        printed = capsys.readouterr().out
        assert re.search(r"context_recall +\d\.\d\d +\d\.\d\d", printed)
        assert (tmp_path / "runs" / "haystack-live" / "records.jsonl").exists()


def test_ways_of_retrieving_are_compared_with_intervals(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    instead: dict[str, Any],
):
    arguments = ["--questions", "2", "--out", str(tmp_path)]
    example = run_example(monkeypatch, "haystack_multi_query", *arguments, instead=instead)

    assert_compared(capsys.readouterr().out, example, "multi-query", "reranked")


def test_a_reranker_that_drops_what_is_relevant_is_named(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    instead: dict[str, Any],
):
    arguments = ["--questions", "3", "--keep", "0", "--out", str(tmp_path / "run")]
    run_example(monkeypatch, "haystack_reranker", *arguments, instead=instead)

    assert_lost(capsys.readouterr().out, " ranker")
