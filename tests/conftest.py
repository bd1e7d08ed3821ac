"""What every test may use: data shared beside the checkout, and settings that keep tests repeatable."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RAGMETRICS_SHARED") or ROOT.parent / "shared")

FindFile = Callable[[str], Path]

# A deadline would make a test depend on how busy the machine is. On CI the examples are always the same;
# elsewhere each run looks for new ones. `make test` tries a few, and `make slow` all:
# pytest --hypothesis-profile full.
settings.register_profile("full", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.register_profile("house", settings.get_profile("full"), max_examples=25)
settings.load_profile("house")


# The addresses that the tests of one module connected to; the sockets themselves would be kept alive.
CONNECTED: list[object] = []
sys.addaudithook(lambda event, told: CONNECTED.append(told[1]) if event == "socket.connect" else None)


@pytest.fixture(scope="module", autouse=True)
def connections_are_closed_where_they_were_opened() -> Iterator[None]:
    """A connection left open is an error of its own module, not of the test that happens to collect it."""
    CONNECTED.clear()
    yield
    if CONNECTED:
        gc.collect()


@pytest.fixture(scope="session")
def shared_data() -> FindFile:
    """Find a labelled data set: `shared_data("ragtruth_qa.jsonl")`; the test is skipped when it is absent."""
    return lambda name: _find("data", name)


@pytest.fixture(scope="session")
def conformance() -> FindFile:
    """Find cases that other implementations computed: `conformance("ragas_formula_cases.json")`."""
    return lambda name: _find("conformance", name)


def _find(folder: str, name: str) -> Path:
    path = SHARED / folder / name
    if not path.is_file():
        pytest.skip(f"shared {folder} {name!r} is not present; set RAGMETRICS_SHARED")
    return path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how much was left out, so that a green run without the data cannot mislead."""
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if _lacked_shared_files(report)]
    told = f"{len(skipped)} tests skipped without it" if skipped else "no test missed it"
    terminalreporter.write_line(f"shared data ({SHARED}): {told}")


def _lacked_shared_files(report: pytest.TestReport) -> bool:
    # A skip's longrepr is (file, line, reason).
    return isinstance(report.longrepr, tuple) and "set RAGMETRICS_SHARED" in report.longrepr[2]
