"""Files of values separated by commas, semicolons or tabs."""

import csv
import re
from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._source_files import ReadRow, is_unnamed, opened_text, refuse_repeated
from ragmetrics_core.samples.columns import is_sample_column
from ragmetrics_core.texts.wording import number_of

__all__ = ["header_of", "rows_of_csv", "separator_in"]

SEPARATORS: Final = ",;\t|"
# what Excel writes, and reads, before the header
_TOLD: Final = re.compile(r"sep=([^ \r\n\"])", re.IGNORECASE)


def separator_in(line: str) -> str:
    """Separator of a header: the one that gives the most sample columns.

    >>> separator_in('"id";"question, in English";"answer"'), separator_in("question,answer")
    (';', ',')
    """

    def columns(separator: str) -> tuple[int, int]:
        try:
            cells = [cell for row in csv.reader([line], delimiter=separator) for cell in row]
        except csv.Error:
            return 0, 0
        return sum(map(is_sample_column, cells)), len(cells)

    return max(SEPARATORS, key=columns)


def rows_of_csv(path: Path, encoding: str) -> Generator[ReadRow]:
    """Rows of a file; every cell is text."""
    # the module's limit of 128 kB a cell holds for the whole process; retrieved contexts can be longer
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
    with opened_text(path, encoding, newline="") as file:
        first = file.readline()
        told = _TOLD.fullmatch(first.strip("\r\n "))
        begun = [] if told else [first]
        lines = csv.reader(
            chain(begun, file), strict=True, delimiter=told[1] if told else separator_in(first)
        )
        header: list[str] | None = None
        count = 0
        while True:
            where = f"line {lines.line_num + 1 + bool(told)}"
            try:
                cells = next(lines, None)
            except csv.Error as error:
                if header is None:
                    raise SampleError(f"{str(path)!r}: {where} is not valid CSV: {error}") from None
                count += 1
                yield ReadRow(where, problem=f"not valid CSV: {error}")
                continue
            if cells is None:
                break
            if not any(cells):  # a spreadsheet writes an empty row with its separators
                continue
            if header is None:
                header = header_of(path, cells)
                continue
            count += 1
            yield _row_of_cells(where, header, cells)
    if header is not None and count == 0:
        raise SampleError(f"{str(path)!r} has a header and no rows")


def header_of(path: Path, cells: Iterable[str]) -> list[str]:
    """Column names; "" for an unnamed column, which is left out.

    Raises:
        SampleError: two columns have the same name.
    """
    header = ["" if is_unnamed(cell) else cell.strip() for cell in cells]
    refuse_repeated(filter(None, header), repr(str(path)))
    return header


def _row_of_cells(where: str, header: Sequence[str], cells: Sequence[str]) -> ReadRow:
    if len(cells) != len(header):
        return ReadRow(
            where,
            dict.fromkeys(header),
            problem=f"{number_of(len(cells), 'cell')}, but the header has {number_of(len(header), 'column')}",
        )
    row = dict(zip(header, cells, strict=True))
    row.pop("", None)
    return ReadRow(where, row, textual=True)
