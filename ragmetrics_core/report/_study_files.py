"""The tables of a study as files: CSV, Markdown and JSON."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from ragmetrics_core.runs._verdict_log import csv_cell
from ragmetrics_core.study import StudyTable, flat, shown

__all__ = ["csv_text", "json_text", "markdown_text"]

_MARKUP = re.compile(r"[\\`*\[\]<>|]")
_NUMERIC = ("count", "number", "estimate", "summary", "p")


def csv_text(table: StudyTable) -> str:
    """One table with all digits; an absent value is an empty cell, and no cell acts as a formula."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    header, rows = flat(table)
    writer.writerow(map(csv_cell, header))
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return file.getvalue()


def json_text(tables: Sequence[StudyTable]) -> str:
    """All tables with all digits: for each its name, title, rows as objects, and notes."""
    return json.dumps(list(map(_as_object, tables)), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def markdown_text(tables: Sequence[StudyTable]) -> str:
    """All tables in short, for an issue or a document."""
    return "\n".join(map(_markdown, tables))


def _as_object(table: StudyTable) -> dict[str, Any]:
    header, rows = flat(table)
    return {
        "name": table.name,
        "title": table.title,
        "rows": [dict(zip(header, row, strict=True)) for row in rows],
        "notes": list(table.notes),
    }


def _markdown(table: StudyTable) -> str:
    lines = [f"## {_escaped(table.title)}", ""]
    lines.append(_line(column.name for column in table.columns))
    lines.append(_line("---:" if column.kind in _NUMERIC else "---" for column in table.columns))
    lines += (
        _line(shown(cell, column.kind) for cell, column in zip(row, table.columns, strict=True))
        for row in table.rows
    )
    lines.append("")
    lines += (f"- {_escaped(note)}" for note in table.notes)
    return "\n".join([*lines, *([""] if table.notes else [])])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    """Text of the data in one line of a table, where none of it is markup."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
