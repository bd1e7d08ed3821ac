"""Files of separated values, with commas, semicolons or tabs."""

import csv
import io
import re
from collections.abc import Generator, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._rows import ReadRow, opened, refuse_repeated
from ragmetrics_core.samples._columns import is_sample_column
from ragmetrics_core.wording import number_of

__all__ = ["rows_of_csv", "separator_in"]

SEPARATORS: Final = ",;\t|"
# what Excel writes, and reads, before the header
_TOLD: Final = re.compile(r"sep=([^ \r\n\"])", re.IGNORECASE)
# of the columns of a file that has none of a sample
_SHOWN: Final = 20


def separator_in(line: str) -> str:
    """What separates the columns of a header: what makes the most of them columns of a sample.

    >>> separator_in('"id";"question, in English";"answer"'), separator_in("question,answer")
    (';', ',')
    """

    def known(separator: str) -> int:
        try:
            rows = list(csv.reader([line], delimiter=separator))
        except csv.Error:
            return 0
        return sum(is_sample_column(cell) for row in rows for cell in row)

    return max(SEPARATORS, key=known)


def rows_of_csv(path: Path) -> Generator[ReadRow]:
    """The rows of a file, in which every cell is text."""
    # the module's limit of 128 kB a cell holds for the whole process; retrieved contexts can be longer
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
    # bytes that are no UTF-8 become lone surrogates, so that one of them spoils its row and not the file
    with (
        opened(path) as packed,
        io.TextIOWrapper(packed, encoding="utf-8-sig", errors="surrogateescape", newline="") as file,
    ):
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
            if not cells:
                continue
            if header is None:
                header = _header(path, cells)
                continue
            count += 1
            yield _row_of_cells(where, header, cells)
    if header is not None and count == 0:
        raise SampleError(f"{str(path)!r} has a header and no rows")


def _header(path: Path, cells: Sequence[str]) -> list[str]:
    # data frames write their index as a first column without a name; pandas reads it back as this
    header = [cell.strip() or f"Unnamed: {place}" for place, cell in enumerate(cells)]
    if _is_broken(header):
        raise SampleError(f"{str(path)!r}: the header is not UTF-8 text")
    refuse_repeated(header, repr(str(path)))
    if not any(map(is_sample_column, header)):
        raise SampleError(
            f"{str(path)!r}: no column is a field of a sample (separated by commas, semicolons or tabs?), "
            f"found {header[:_SHOWN]}{' and more' if len(header) > _SHOWN else ''}"
        )
    return header


def _row_of_cells(where: str, header: Sequence[str], cells: Sequence[str]) -> ReadRow:
    if len(cells) != len(header):
        return ReadRow(
            where,
            problem=f"{number_of(len(cells), 'cell')}, but the header has {number_of(len(header), 'column')}",
        )
    if _is_broken(cells):
        return ReadRow(where, problem="not UTF-8 text")
    return ReadRow(where, dict(zip(header, cells, strict=True)), textual=True)


def _is_broken(cells: Iterable[str]) -> bool:
    """Whether a cell holds bytes that are not UTF-8."""
    return any(not cell.isascii() and any("\ud800" <= c <= "\udfff" for c in cell) for cell in cells)
