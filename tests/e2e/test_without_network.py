"""Processes that may not reach any network evaluate, prove, recompute and report as others do."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TELECOM = ROOT / "examples" / "data" / "telecom.jsonl"

# Python reads a module of this name before anything else, in each process that a process starts, too. What a
# caller might take for a network that is down would hide the attempt, so it is written down as well.
REFUSE = """
import os, socket, sys

def refuse(event, args):
    names = event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
    sends = event in ("socket.connect", "socket.sendto", "socket.sendmsg")
    if names or sends and args[0].family != getattr(socket, "AF_UNIX", None):
        with open(os.environ["ATTEMPTS"], "a") as attempts:
            print(event, args[1:] if sends else args, file=attempts)
        raise OSError(f"there is no network: {event}")

sys.addaudithook(refuse)
"""

IMPORT_ALL = """
import importlib, pkgutil
import ragmetrics_core
for name in ("drivers", "live", "metrics", "models", "prompts", "runs", "study", "testing"):
    module = importlib.import_module(f"ragmetrics_core.{name}")
    for public in getattr(module, "__all__", dir(module)):
        getattr(module, public)
"""

EVALUATE = """
import sys
from ragmetrics_core import Run, evaluate, recompute

metrics = ["faithfulness", "factual_correctness", "context_precision", "context_recall"]
evaluate(sys.argv[1], metrics=metrics, judge="embedded", out="run")
run = Run.load("run")
assert len(list(run.records())) == 4 * 52
assert [differences for _, differences in run.audit() if differences] == []
for record in run.records():
    again = recompute(record)
    assert (again.status, again.value) == (record.status, record.value)
"""

COMMAND = "from ragmetrics_core.cli import main; main()"

Apart = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def apart(tmp_path: Path) -> Apart:
    """Run Python in a process that has no network; the file `attempts` in its folder tells what it tried."""
    (tmp_path / "sitecustomize.py").write_text(REFUSE, encoding="utf-8")
    path = os.pathsep.join(map(str, (tmp_path, ROOT, ROOT / "integrations")))
    environment = {**os.environ, "PYTHONPATH": path, "ATTEMPTS": str(tmp_path / "attempts")}
    # the keys of whoever runs the tests are not needed either
    environment = {name: value for name, value in environment.items() if not name.endswith("_API_KEY")}

    def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


def assert_passed(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert not (folder / "attempts").exists(), (folder / "attempts").read_text()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import urllib.request; urllib.request.urlopen('http://localhost:9')",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))",
        "import subprocess, sys; child = 'import socket; socket.gethostbyname(\"localhost\")'; "
        "subprocess.run([sys.executable, '-c', child], check=True)",
    ],
    ids=["connection", "url", "datagram", "child"],
)
def test_an_attempt_to_reach_a_network_is_refused_and_noticed(apart: Apart, tmp_path: Path, code: str):
    # else the tests below would test nothing
    assert apart(code).returncode != 0
    assert (tmp_path / "attempts").read_text().startswith("socket.")


def test_everything_public_is_imported_without_a_network(apart: Apart, tmp_path: Path):
    assert_passed(apart(IMPORT_ALL), tmp_path)


def test_a_run_is_made_audited_and_recomputed_without_a_network(apart: Apart, tmp_path: Path):
    assert_passed(apart(EVALUATE, TELECOM), tmp_path)


def test_the_commands_of_the_demo_and_a_report_need_no_network(apart: Apart, tmp_path: Path):
    pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
    pytest.importorskip("wordllama", reason="needs embedded: pip install 'ragmetrics-core[embedded]'")
    pytest.importorskip("scipy", reason="needs the extra report: pip install 'ragmetrics-core[report]'")
    metrics = "faithfulness,context_precision,answer_relevance"
    models = ["--judge", "embedded", "--embedder", "embedded", "--metrics", metrics]

    assert_passed(apart(COMMAND, "evaluate", TELECOM, *models, "--out", "run"), tmp_path)
    shown = apart(COMMAND, "show", "run", "tc-49", "faithfulness")
    assert_passed(shown, tmp_path)
    assert "1 / 2 = 0.5" in shown.stdout
    assert_passed(apart(COMMAND, "audit", "run"), tmp_path)
    assert_passed(apart(COMMAND, "report", "run", "-o", "report.html"), tmp_path)
    assert (tmp_path / "report.html").stat().st_size > 10_000
