"""A new metric is one module and one line: tried in a copy of the tree."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "ragmetrics_core").is_dir():
    pytest.skip("the sources are only in a checkout", allow_module_level=True)

MODULE = '''"""Calmness: what share of the answer is not shouted?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.asking import review, split
from ragmetrics_core.measurement import Decision, Labels, Measurement, score, undefined
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Answered

__all__ = ["Calmness"]


@dataclass(frozen=True, kw_only=True)
class Calmness(Metric[Answered]):
    """Share of the answer's sentences that end without an exclamation mark.

    Range [0, 1], higher is better; undefined when the answer has no sentence.
    """

    name = "calmness"
    inputs = Answered
    needs = frozenset()

    def measure(self, sample: Answered) -> Steps[Measurement]:
        """Split the answer, look at the end of each sentence."""
        sentences = yield from split(sample.answer)
        if not sentences:
            return undefined("no_sentences")
        found = [Decision(text, not text.rstrip().endswith("!")) for text in sentences]
        judged = yield from review(found, about="sentence", labels=Labels("said", "shouted"))
        counts = {"said": judged.supported, "sentences": len(judged)}
        return score(scoring.supported_share, judged, counts=counts, spelled="{said} / {sentences}")
'''
LINE = "from ragmetrics_core.metrics._calmness import Calmness as Calmness\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages, their tests and the settings, with one module and one line more."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("ragmetrics_core", "integrations", "tests"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    metrics = tree / "ragmetrics_core" / "metrics"
    (metrics / "_calmness.py").write_text(MODULE, encoding="utf-8")
    definitions = metrics / "_definitions.py"
    definitions.write_text(definitions.read_text(encoding="utf-8") + LINE, encoding="utf-8")
    return tree


def ran(tree: Path, *command: str) -> str:
    """What a program prints in the tree; it must end well."""
    path = os.pathsep.join([str(tree), str(tree / "integrations")])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_command_line_knows_it(tree: Path):
    assert "Share of the answer's sentences that end without an exclamation mark" in ran(
        tree, "-m", "ragmetrics_core.cli", "metrics", "calmness"
    )


def test_it_measures_by_its_name_and_proves_itself(tree: Path, tmp_path: Path):
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"question": "Where?", "answer": "In Ulm! It is on the Danube."}) + "\n")
    out = str(tmp_path / "run")
    evaluating = "evaluate", str(data), "--metrics", "calmness", "--judge", "embedded", "--out", out

    # one of two sentences
    assert "0.500" in ran(tree, "-m", "ragmetrics_core.cli", *evaluating)
    ran(tree, "-m", "ragmetrics_core.cli", "audit", out)


def test_the_contracts_hold_for_it_without_an_edit(tree: Path):
    printed = ran(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contracts", "-k", "calmness")

    assert " passed" in printed


def test_the_layers_hold_for_it_without_an_edit(tree: Path):
    ran(tree, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
