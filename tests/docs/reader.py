"""Reads pages as their reader would: `python -m tests.docs.reader PAGE... --to RESULT`, in their folder.

`tests/docs/desks/NAME.py` is what the reader of the page NAME.md has on the desk: `given()` makes the
names that the page takes for granted, and `then(names, page)` asserts what holds at its end.
"""

import argparse
import importlib
import importlib.util
import json
import sys
from pathlib import Path

from tests import warning_rule
from tests.docs.blocks import Page

ROOT = Path(__file__).resolve().parents[2]


def read(path: Path) -> Page:
    """Do with each block of a page what is to be done with it."""
    page = Page(path, path.relative_to(ROOT).as_posix())
    name = "tests.docs.desks." + page.name.removeprefix("docs/").removesuffix(".md").replace("/", "_").lower()
    desk = importlib.import_module(name) if importlib.util.find_spec(name) else None
    document = page.document()
    if desk:
        document.namespace.update(desk.given())
    page.run(document)
    if desk and hasattr(desk, "then"):
        desk.then(document.namespace, page)
    return page


def main() -> None:
    """Read the pages one after the other; write what was done with their blocks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, required=True)
    arguments = parser.parse_args()
    warning_rule.apply()
    # As in a folder of the reader's own, with modules of one's own in it.
    sys.path.insert(0, "")
    blocks = [block._asdict() for path in arguments.pages for block in read(path).blocks]
    arguments.to.write_text(json.dumps(blocks))


if __name__ == "__main__":
    main()
