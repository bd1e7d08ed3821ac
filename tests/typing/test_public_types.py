"""Mistakes in calls of the public interface are found while they are written, and nothing else is called one.

Each file in `cases` holds lines that must pass and lines that must not. Those end in a comment that names the
rule which refuses them, mypy's first, then pyright's: `# error: arg-type, reportArgumentType`.
"""

import importlib.util
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(__file__).parent / "cases"
CORE = ["evaluating.py", "own_metrics.py", "own_models.py"]
FRAMEWORKS = ["haystack", "langchain_core", "llama_index"]

# The rules that refuse the lines of a file, by the line's number.
Refused = dict[int, set[str]]


def marked(name: str, *, pyright: bool) -> Refused:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    rules = {
        number: {rule for rule in found[1].split(", ") if rule.startswith("report") == pyright}
        for number, line in enumerate(lines, start=1)
        if (found := re.search(r"# error: ([\w, -]+)$", line))
    }
    return {number: named for number, named in rules.items() if named}


def by_file(errors: Iterable[tuple[str, int, str]]) -> dict[str, Refused]:
    found: dict[str, Refused] = defaultdict(lambda: defaultdict(set))
    for path, line, rule in errors:
        found[Path(path).name][line].add(rule)
    return found


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Refused]:
    """What mypy says of the core's files, with the project's own settings."""
    pytest.importorskip("mypy")
    cache = str(tmp_path_factory.mktemp("mypy"))
    command = [sys.executable, "-m", "mypy", "--cache-dir", cache, "--output", "json"]
    files = [str(CASES / name) for name in CORE]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    said = map(json.loads, done.stdout.splitlines())
    return by_file((each["file"], each["line"], each["code"]) for each in said if each["severity"] == "error")


@pytest.fixture(scope="module")
def pyright() -> dict[str, Refused]:
    """What pyright says of all files, with the project's own settings."""
    pytest.importorskip("basedpyright")
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--pythonpath",
        sys.executable,
        "--outputjson",
        str(CASES),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    said = json.loads(done.stdout)["generalDiagnostics"]
    found = by_file(
        (each["file"], each["range"]["start"]["line"] + 1, each.get("rule", "syntax")) for each in said
    )
    for refused in found.values():
        for line, rules in refused.items():
            # what a refused expression gives is unknown, and so is what is made of it
            refused[line] = {rule for rule in rules if not rule.startswith("reportUnknown")} or rules
    return found


@pytest.mark.parametrize("name", CORE)
def test_mypy_refuses_the_marked_lines_and_no_other(mypy: dict[str, Refused], name: str):
    assert mypy[name] == marked(name, pyright=False)


@pytest.mark.parametrize("name", CORE)
def test_pyright_refuses_the_marked_lines_and_no_other(pyright: dict[str, Refused], name: str):
    assert pyright[name] == marked(name, pyright=True)


def test_pyright_refuses_the_marked_lines_of_the_adapters_and_no_other(pyright: dict[str, Refused]):
    missing = [name for name in FRAMEWORKS if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    assert pyright["adapters.py"] == marked("adapters.py", pyright=True)


def test_every_file_of_cases_is_read():
    assert {path.name for path in CASES.glob("*.py")} == {*CORE, "adapters.py"}
