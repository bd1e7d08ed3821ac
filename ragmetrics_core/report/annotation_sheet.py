"""Annotation sheet: one HTML file that needs no network, for people who judge answers."""

import json

from ragmetrics_core.report.html.page import asset, digest_of, script_of
from ragmetrics_core.study import Sheet

__all__ = ["sheet_html"]


def sheet_html(sheet: Sheet, *, title: str = "Answers to judge") -> str:
    """HTML page of the sheet, which runs one fixed script.

    The data are JSON in which no character can end the script element; the script shows them as text only.
    The content security policy allows that one script by its digest, and no connections.
    """
    script = script_of(
        *(("html", "script", f"{name}.js") for name in ("building", "bookkeeping", "annotations")),
        ("annotation", "sheet.js"),
    )
    items = [
        {
            **item._asdict(),
            "metrics": [
                {"metric": metric, "statements": [statement._asdict() for statement in statements]}
                for metric, statements in item.metrics
            ],
        }
        for item in sheet.items
    ]
    data = json.dumps({"title": title, "seed": sheet.seed, "items": items}, allow_nan=False)
    for char in "<>&":
        data = data.replace(char, f"\\u{ord(char):04x}")
    return asset("annotation", "sheet.html").format(
        digest=digest_of(script), style=asset("annotation", "sheet.css"), data=data, script=script
    )
