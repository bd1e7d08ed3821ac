"""A warning is an error if it is ours to mend; what dependencies say of themselves is shown."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Whose line a warning points at, its category, its text, and whether it is an error.
CASES = [
    ("ragmetrics_core.runs._run", "DeprecationWarning", "it goes", True),
    ("ragmetrics_core.runs._run", "RuntimeWarning", "divided by zero", True),
    ("ragmetrics_langchain", "UserWarning", "several draws are the same", True),
    ("haystack_integrations.components.evaluators.ragmetrics._judge", "FutureWarning", "it goes", True),
    ("tests.live.test_x", "PendingDeprecationWarning", "it will go", True),
    ("example", "FutureWarning", "it goes", True),
    ("<string>", "DeprecationWarning", "it goes", True),
    ("__main__", "DeprecationWarning", "it goes", True),
    ("langsmith.evaluation", "ResourceWarning", "unclosed file", True),
    ("tests.live.test_x", "DeprecationWarning", "The class `X` is in beta.", False),
    ("ragmetrics_langchain", "UserWarning", "'upload_runs' parameter is in beta", False),
    ("tests.live.test_x", "UserWarning", "upload_runs is new", False),
    ("langsmith.evaluation", "DeprecationWarning", "it goes", False),
    ("haystack_integrations.components.other", "DeprecationWarning", "it goes", False),
]

WARN = """
def warn(module, category, message):
    exec(f"import warnings; warnings.warn({message!r}, {category})", {"__name__": module})
"""
TEST = f"""
import pytest
{WARN}
@pytest.mark.parametrize("case", {CASES!r})
def test(case):
    if case[-1]:
        with pytest.raises(Warning):
            warn(*case[:3])
    else:
        warn(*case[:3])
"""
PROGRAM = f"""
{WARN}
for *warning, is_error in {CASES!r}:
    try:
        warn(*warning)
    except Warning:
        assert is_error, warning
    else:
        assert not is_error, warning
"""


def test_pytest_makes_errors_of_the_warnings_that_are_ours_and_shows_the_others(tmp_path):
    test = tmp_path / "test_cases.py"
    test.write_text(TEST, encoding="utf-8")
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *options, str(test)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    shown = len([case for case in CASES if not case[-1]])
    assert f"{len(CASES)} passed, {shown} warnings" in done.stdout, done.stdout


def test_so_does_a_program_that_a_test_starts(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "tests.warning_rule", str(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(message in done.stderr for *_, message, is_error in CASES if not is_error)
