"""There is a second run on the same samples."""

import shutil
from pathlib import Path


def given():
    shutil.copytree("runs/demo", "runs/second")
    return {}


def then(names, page):
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
