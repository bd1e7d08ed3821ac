"""There are a second run on the same samples, and two people's labels of two of them."""

import shutil
from pathlib import Path

from ragmetrics_core import Run


def given():
    shutil.copytree("runs/demo", "runs/second")
    first, second, *_ = Run.load("runs/demo").sample_ids
    rows = [
        f"{name},{rater},{value}" for name, value in ((first, 2), (second, 5)) for rater in ("ann", "bob")
    ]
    Path("labels.csv").write_text("\n".join(["sample_id,annotator,value", *rows]), encoding="utf-8")
    return {}


def then(names, page):
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
