"""Takes the pictures of the README and of docs/report.md from reports: `python docs/pictures.py`.

It evaluates the example data, writes reports and photographs them in Chromium, taken from the PATH or
from `RAGMETRICS_CHROMIUM`. Needs the extras `embedded` and `report`, and playwright.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from ragmetrics_core import evaluate, write_report

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data" / "telecom.jsonl"
PICTURES = ROOT / "docs" / "pictures"
SETTINGS: dict[str, Any] = {"judge": "embedded", "embedder": "embedded"}
METRICS = "faithfulness", "factual_correctness", "context_precision", "context_recall", "answer_relevance"
SAMPLE = "#sample=tc-49&metric=faithfulness/strict.1"
# The width of a phone, where the picture is read at its own size.
WIDTH = 400
MARGIN = 8


class View(NamedTuple):
    """A view of a report as the picture shows it; `click` is the text of a statement to highlight."""

    report: str
    fragment: str
    height: int
    click: str = ""
    is_dark: bool = False


VIEWS = {
    "overview": View("demo", "", 1240),
    "samples": View("demo", "#samples", 640),
    "sample": View("demo", SAMPLE, 900, "not supported"),
    "sample-dark": View("demo", SAMPLE, 900, "not supported", is_dark=True),
    "two-runs": View("two", "", 760),
    "what-moved": View("two", SAMPLE, 820),
}


def main() -> None:
    """Write the pictures."""
    chromium = os.environ.get("RAGMETRICS_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        reports = written(Path(folder))
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = started.chromium.launch(executable_path=chromium, args=flags)
        for name, view in VIEWS.items():
            take(browser, reports[view.report], view, PICTURES / f"{name}.png")
        take_proof(browser, reports["proof"], PICTURES / "proof.png")
        browser.close()
    for picture in PICTURES.glob("*.png"):
        Image.open(picture).quantize(256).save(picture, optimize=True)


def written(folder: Path) -> dict[str, Path]:
    """The reports, by name: one metric, five metrics, and two runs of which the second answers better."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    better = [row | {"answer": row["reference"]} if n % 3 == 0 else row for n, row in enumerate(rows)]
    proof = evaluate(rows, metrics="faithfulness", out=folder / "proof", **SETTINGS)
    demo = evaluate(rows, metrics=METRICS, out=folder / "demo", **SETTINGS)
    branch = evaluate(better, metrics=METRICS, out=folder / "branch", **SETTINGS)
    return {
        "proof": write_report(proof, folder / "proof.html"),
        "demo": write_report(demo, folder / "demo.html"),
        "two": write_report(demo, folder / "two.html", other=branch),
    }


def take(browser: Browser, report: Path, view: View, picture: Path) -> None:
    """Photograph a view of a report on a desktop."""
    page = browser.new_page(
        viewport={"width": 1280, "height": view.height}, color_scheme="dark" if view.is_dark else "light"
    )
    page.goto(f"{report.as_uri()}{view.fragment}")
    page.wait_for_selector(".picture, table.samples, .proof")
    if view.click:
        page.get_by_text(view.click).first.click()
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=picture)
    page.close()


def take_proof(browser: Browser, report: Path, picture: Path) -> None:
    """Photograph the proof of one score on a phone, from the sample's name to the last quote."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=2)
    page.goto(f"{report.as_uri()}{SAMPLE}")
    page.get_by_text("Diagnosis").first.click()
    page.get_by_text("not supported").first.click()
    page.evaluate("scrollTo(0, 0)")
    top = page.get_by_text("tc-49").first.bounding_box()
    last = page.get_by_text("chunk 2").nth(1).bounding_box()
    assert top is not None
    assert last is not None
    height = last["y"] + last["height"] - top["y"] + 4 * MARGIN
    page.screenshot(
        path=picture,
        full_page=True,
        clip={"x": 0, "y": top["y"] - MARGIN, "width": WIDTH, "height": height},
    )
    page.close()


if __name__ == "__main__":
    main()
