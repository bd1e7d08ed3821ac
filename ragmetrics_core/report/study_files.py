"""The tables of a study as files: CSV, Markdown and JSON."""

import csv
import json
import re
from collections.abc import Sequence
from io import StringIO
from typing import Any

from ragmetrics_core.runs.verdict_log import csv_cell
from ragmetrics_core.study import StudyTable, flat, shown

__all__ = ["csv_text", "json_text", "markdown_text"]

_MARKUP = re.compile(r"[\\`*\[\]<>|]")
_NUMERIC = ("count", "number", "estimate", "summary", "p")


def csv_text(table: StudyTable) -> str:
    """One table with all digits; a missing value is an empty cell, and no cell can act as a formula."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    header, rows = flat(table)
    writer.writerow(map(csv_cell, header))
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return file.getvalue()


def json_text(tables: Sequence[StudyTable]) -> str:
    """All tables with all digits: name, title, rows as objects, and notes."""
    found: list[dict[str, Any]] = []
    for table in tables:
        header, rows = flat(table)
        objects = [dict(zip(header, row, strict=True)) for row in rows]
        found.append({"name": table.name, "title": table.title, "rows": objects, "notes": table.notes})
    return json.dumps(found, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def markdown_text(tables: Sequence[StudyTable]) -> str:
    """All tables with rounded numbers, for an issue or a document."""
    return "\n".join(map(_markdown, tables))


def _markdown(table: StudyTable) -> str:
    columns = table.columns
    lines = [[column.name for column in columns]]
    lines.append(["---:" if column.kind in _NUMERIC else "---" for column in columns])
    lines += ([shown(cell, columns[at].kind) for at, cell in enumerate(row)] for row in table.rows)
    notes = [*(f"- {_escaped(note)}" for note in table.notes), *([""] if table.notes else [])]
    body = (f"| {' | '.join(map(_escaped, cells))} |" for cells in lines)
    return "\n".join([f"## {_escaped(table.title)}", "", *body, "", *notes])


def _escaped(text: str) -> str:
    """Text from the data in one line of a table, escaped so that it is not markup."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
