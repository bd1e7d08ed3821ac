"""The annotation sheet: one HTML file that needs no network, for people who judge answers."""

import base64
import hashlib
import json
from importlib.resources import files

from ragmetrics_core.study import Sheet

__all__ = ["sheet_html"]


def sheet_html(sheet: Sheet, *, title: str = "Answers to judge") -> str:
    """The sheet as a page whose script may do nothing but what is written in it.

    The data are JSON in which no character can end the script element; the page's script puts them on
    the page as text only. The content security policy allows that one script by its digest, and no
    connection at all.
    """
    folder = files("ragmetrics_core.report") / "annotation"
    page, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("sheet.html", "sheet.css", "sheet.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = {
        "title": title,
        "seed": sheet.seed,
        "items": [
            {
                **item._asdict(),
                "metrics": [
                    {"metric": metric, "statements": [each._asdict() for each in statements]}
                    for metric, statements in item.metrics
                ],
            }
            for item in sheet.items
        ],
    }
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    parts = {"@@SCRIPT_DIGEST@@": digest, "@@STYLE@@": style, "@@DATA@@": text, "@@SCRIPT@@": script}
    # one pass, so that nothing in the data is taken for a place to fill in
    filled, rest = "", page
    for mark, part in parts.items():
        before, _, rest = rest.partition(mark)
        filled += before + part
    return filled + rest
