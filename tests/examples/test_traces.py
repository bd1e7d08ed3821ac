"""The example of traces prints each turn with what its model was shown, the scores, and a proof."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("wordllama", reason="needs the extra embedded: pip install 'ragmetrics-core[embedded]'")

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_scores_two_turns_and_proves_the_lower_score(tmp_path: Path):
    command = [sys.executable, str(ROOT / "examples" / "traces.py"), "--out", str(tmp_path / "run")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    samples, _, scores = done.stdout.partition("\nFaithfulness\n")
    assert samples.splitlines() == [
        "> How is green tea dried?",
        "Green tea is dried in a pan.",
        "  was shown: Green tea is dried in a pan before it is rolled.",
        "> And the dark one?",
        "Black tea is steamed for an hour before it is sold.",
        "  was shown: Black tea is left to wither and turns dark.",
    ]
    means, _, proof = scores.partition("\nProof of the lowest")
    # what was shown says how green tea is dried, and nothing of steam
    assert [line.split("  (")[0] for line in means.splitlines()] == [
        "  1.00  How is green tea dried?",
        "  0.00  And the dark one?",
    ]
    assert "not supported: Black tea is steamed for an hour" in proof
