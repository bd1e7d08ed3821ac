"""docs/metrics.md is what the catalogue says, and its examples are measured."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_the_metrics_is_what_the_catalogue_says():
    for package in ("sacrebleu", "rouge_score", "nltk"):
        pytest.importorskip(package, exc_type=ImportError)
    command = [sys.executable, "docs/metrics.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
