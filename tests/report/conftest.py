"""Runs to report on, and a real browser to open the reports in."""

import base64
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy", reason="needs the extra report: pip install 'ragmetrics-core[report]'")

from ragmetrics_core import Run, Sample, evaluate, write_report
from ragmetrics_core.errors import ModelRefused
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

TELECOM = Path(__file__).resolve().parents[2] / "examples" / "data" / "telecom.jsonl"
METRICS = ["faithfulness", "factual_correctness", "context_precision", "context_recall"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def telecom(tmp_path_factory) -> Run:
    """52 real samples, scored by the embedded judge."""
    folder = tmp_path_factory.mktemp("runs") / "telecom"
    return evaluate(TELECOM, metrics=METRICS, judge="embedded", out=folder)


@pytest.fixture(scope="session")
def changed(tmp_path_factory) -> Run:
    """The same with other answers in every third sample, and without the first two."""
    rows = [json.loads(line) for line in TELECOM.read_text(encoding="utf-8").splitlines()][2:]
    for row in rows[::3]:
        row["answer"] = row["reference"]
    return evaluate(rows, metrics=METRICS, judge="embedded", out=tmp_path_factory.mktemp("runs") / "changed")


def scripted(
    samples: Sequence[Sample | dict[str, Any]], reply: Callable[[Generate[Any]], Any], folder: Path
) -> Run:
    """A run of faithfulness whose judge follows a script."""
    return evaluate(samples, metrics=["faithfulness"], judge=ScriptedJudge(reply), out=folder)


@pytest.fixture(scope="session")
def troubled(tmp_path_factory) -> Run:
    """One sample each that is ok, incomplete, failed, undefined and skipped; and one row that is none."""
    samples = [
        {"id": "ok", "question": "When?", "contexts": ["It was in 1793."], "answer": "In Paris. In 1793."},
        {"id": "half", "question": "Half?", "contexts": ["Half."], "answer": "Half of it."},
        {"id": "fails", "question": "Does it fail?", "contexts": ["Yes."], "answer": "It fails."},
        {"id": "declines", "question": "Who?", "contexts": ["Nobody."], "answer": "I do not know."},
        {"id": "bare", "question": "Without contexts?", "answer": "Yes."},
        {"id": "ok", "question": "The same id?", "answer": "Yes."},
    ]

    def reply(request: Generate[Any]) -> Any:
        answer = str(request.variables.get("answer", ""))
        if request.prompt.name == "statements":
            if answer == "It fails.":
                return ModelRefused("401: the key is not valid")
            if answer == "I do not know.":
                return {"statements": [], "declined": True, "reason": "it says so"}
            return {"statements": ["It was in Paris.", "It was in 1793."], "declined": False}
        known = {
            "It was in Paris.": {"number": 1, "reason": "", "evidence": "in Lyon", "verdict": "no"},
            "It was in 1793.": {"number": 2, "reason": "so it says", "evidence": "in 1793", "verdict": "yes"},
        }
        if request.variables["contexts"] == ("Half.",):
            return {"verdicts": [known["It was in Paris."]]}
        return {"verdicts": [known[item.text] for item in request.variables["items"]]}

    return scripted(samples, reply, tmp_path_factory.mktemp("runs") / "troubled")


def data_of(path: Path) -> dict[str, Any]:
    """The chunks of a report, by name."""
    found = re.findall(r'id="d-(\w+)">([A-Za-z0-9+/=]*)<', path.read_text(encoding="utf-8"))
    return {name: json.loads(zlib.decompress(base64.b64decode(text))) for name, text in found}


class Opened:
    """A page of a report, with everything that it did."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.errors.append("a dialog"), dialog.dismiss()))

    def go(self, path: Path, fragment: str = "") -> Any:
        """Open a file, wait until it shows something."""
        self.page.goto("about:blank")
        self.page.goto(f"{path.as_uri()}{fragment}")
        self.page.wait_for_selector("h1")
        return self.page

    @property
    def left(self) -> list[str]:
        """The requests that are neither the file itself nor data inside it."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "about:"))]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = os.environ.get("RAGMETRICS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no chromium on the PATH; install it, or name one in RAGMETRICS_CHROMIUM")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(20_000)
    yield Opened(page)
    page.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory, telecom, changed, troubled) -> dict[str, Path]:
    """The reports, written once."""
    folder = tmp_path_factory.mktemp("reports")
    return {
        "telecom": write_report(telecom, folder / "telecom.html"),
        "two": write_report(telecom, folder / "two.html", other=changed),
        "troubled": write_report(troubled, folder / "troubled.html"),
    }
