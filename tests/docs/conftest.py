"""What readers of the documentation have: a folder with data and runs, and a server for the provider's."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("sybil", reason="sybil is not installed, which finds the blocks of the documentation")

from benchmarks.server import ServerProcess
from ragmetrics_core import evaluate

ROOT = Path(__file__).resolve().parents[2]
BLOCKS: list[dict[str, str]] = []

ReadPages = Callable[..., None]


@pytest.fixture(scope="session")
def provider() -> Iterator[str]:
    """The address of a server that speaks OpenAI's protocol, on this machine."""
    with ServerProcess() as server:
        yield server.base_url


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that every page begins with: some data, and the run of `make demo`."""
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    folder = tmp_path_factory.mktemp("desk")
    lines = (
        (ROOT / "examples" / "data" / "telecom.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    )
    for name in ("data.jsonl", "my_labelled.jsonl", "questions.jsonl"):
        (folder / name).write_text("".join(lines[:6]), encoding="utf-8")
    (folder / "prices.json").write_text(json.dumps({"gpt-4.1-mini": {"prompt": 0.4, "completion": 1.6}}))
    evaluate(
        ROOT / "examples" / "data" / "telecom.jsonl",
        metrics=[
            "faithfulness",
            "factual_correctness",
            "context_precision",
            "context_recall",
            "answer_relevance",
        ],
        judge="embedded",
        embedder="embedded",
        out=folder / "runs" / "demo",
    )
    return folder


@pytest.fixture
def read_pages(tmp_path: Path, desk: Path, provider: str) -> ReadPages:
    """Read pages in a Python of their own, which reaches no other host."""

    def read(pages: Sequence[Path], *, without: str = "") -> None:
        folder = shutil.copytree(desk, tmp_path / "reader")
        for name in ("examples", "benchmarks"):
            (folder / name).symlink_to(ROOT / name)
        paths = [Path(__file__).parent / "no_network", ROOT, ROOT / "integrations"]
        paths += [Path(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
        environment = {
            **os.environ,
            "COLUMNS": "100",
            "HAYSTACK_TELEMETRY_ENABLED": "False",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": provider,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "WITHOUT_PACKAGES": without,
        }
        result = tmp_path / "blocks.json"
        command = [
            sys.executable,
            "-m",
            "tests.docs.reader",
            *map(str, pages),
            "--to",
            str(result),
        ]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout
        BLOCKS.extend(json.loads(result.read_text()))

    return read


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was done with the blocks, and list those that were not run with their reasons."""
    if not BLOCKS:
        return
    counts = Counter(block["outcome"] for block in BLOCKS)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    terminalreporter.write_line(f"code blocks and commands of the documentation: {told}")
    for block in BLOCKS:
        if block["outcome"] == "not run":
            terminalreporter.write_line(f"  {block['page']}:{block['line']}: {block['reason']}")
