"""Takes the picture of a proof in the README from a report: `python docs/pictures.py`.

It evaluates the example data, writes the report and photographs one sample in Chromium, taken from
the PATH or from `RAGMETRICS_CHROMIUM`. Needs the extras `embedded` and `report`, and playwright.
"""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from ragmetrics_core import evaluate, write_report

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data" / "telecom.jsonl"
PICTURE = ROOT / "docs" / "pictures" / "proof.png"
# The width of a phone, where the picture is read at its own size.
WIDTH = 400
MARGIN = 8


def main() -> None:
    """Write the picture."""
    chromium = os.environ.get("RAGMETRICS_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        run = evaluate(DATA, metrics="faithfulness", judge="embedded", out=Path(folder, "run"))
        report = write_report(run, Path(folder, "report.html"))
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, device_scale_factor=2)
        page.goto(f"{report.as_uri()}#sample=tc-49&metric=faithfulness/strict.1")
        page.get_by_text("Diagnosis").first.click()
        page.get_by_text("not supported").first.click()
        page.evaluate("scrollTo(0, 0)")
        top = page.get_by_text("tc-49").first.bounding_box()
        last = page.get_by_text("chunk 2").nth(1).bounding_box()
        assert top is not None
        assert last is not None
        height = last["y"] + last["height"] - top["y"] + 4 * MARGIN
        page.screenshot(
            path=PICTURE,
            full_page=True,
            clip={"x": 0, "y": top["y"] - MARGIN, "width": WIDTH, "height": height},
        )
        browser.close()
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
