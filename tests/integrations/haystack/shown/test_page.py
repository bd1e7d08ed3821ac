"""docs/capture.md: its section on Haystack has the tests of this folder, by their names."""

import re
from pathlib import Path

from tests.integrations.haystack.shown.applications import OUTCOMES


def test_the_page_has_each_application():
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    names = [
        name
        for file in files
        if file.name != Path(__file__).name
        for name in re.findall(r"^def test_(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert [name.replace("_", " ") for name in names] == list(OUTCOMES)
