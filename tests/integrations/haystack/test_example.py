"""What the examples say is what happens; any model will do, so a local server stands in for the small one."""

import gc
import importlib.util
import re
import runpy
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.servers import Answer, OpenAIServer, Seen, chat

ROOT = Path(__file__).resolve().parents[3]

needs_models = pytest.mark.skipif(
    any(importlib.util.find_spec(each) is None for each in ("xllamacpp", "wordllama", "scipy")),
    reason="needs the extras embedded and study, and xllamacpp",
)


@pytest.fixture(autouse=True, scope="module")
def clients_of_haystack_end_here() -> Iterator[None]:
    """A pipeline that is thrown away leaves its generators' connections to the collector of garbage."""
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        gc.collect()


def first_passage(seen: Seen) -> Answer:
    """A model that answers with the first passage of its prompt."""
    prompt = str(seen.body["messages"][-1]["content"])
    return chat(next(line for line in prompt.splitlines()[1:] if line.strip()))


@contextmanager
def example(name: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Iterator[dict[str, Any]]:
    """An example with the server in place of the one that takes minutes where it shares its processors."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    found = runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="example")
    with OpenAIServer(first_passage) as server:
        served = SimpleNamespace(listening_address=server.base_url.removesuffix("/v1"))
        found["main"].__globals__["serve_smollm2"] = lambda: served
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
        yield found


@needs_models
@pytest.mark.integration
def test_the_example_runs_twice_in_the_same_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCAL_MODEL_KEY", "")
    with example("haystack_pipeline", monkeypatch) as found:
        # what another process does is done in this one: importing Haystack again takes most of the time
        loaded = SimpleNamespace(run=lambda command, check: found["load_and_run"](Path(command[-1])))
        found["main"].__globals__["subprocess"] = loaded
        for _ in range(2):
            found["main"]()
            printed = capsys.readouterr().out
            assert re.search(r"context_recall +\d\.\d\d +\d\.\d\d", printed)
            assert (tmp_path / "runs" / "haystack-live" / "records.jsonl").exists()


@needs_models
@pytest.mark.integration
def test_ways_of_retrieving_are_compared_with_intervals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("LOCAL_MODEL_KEY", "")
    with example("haystack_multi_query", monkeypatch, "--questions", "2", "--out", str(tmp_path)) as found:
        found["main"]()

    printed = capsys.readouterr().out
    for name in ("multi-query", "reranked"):
        table = printed.partition(f"{name} against plain\n")[2].splitlines()
        assert [line.split()[0].partition("/")[0] for line in table[1:6]] == list(
            found["compare"].__globals__["METRICS"]
        )
        assert all(line.endswith(("cannot tell", "better", "worse")) for line in table[1:6])


@needs_models
@pytest.mark.integration
def test_a_reranker_that_drops_what_is_relevant_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("LOCAL_MODEL_KEY", "")
    arguments = ["--questions", "3", "--keep", "0", "--out", str(tmp_path / "run")]
    with example("haystack_reranker", monkeypatch, *arguments) as found:
        found["main"]()

    printed = capsys.readouterr().out
    lost = printed.partition("where they were lost\n")[2].partition("\n\n")[0].splitlines()
    # one relevant passage for each of the three questions; the search finds all, the ranker keeps none
    assert len(lost) == 3
    assert all(line.endswith(" ranker") for line in lost)
