"""Rows of an Excel workbook, whose cells have types."""

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.runs._csv_rows import header_of
from ragmetrics_core.runs._source_files import ReadRow, refuse_unpacked

__all__ = ["rows_of_excel"]

# Excel cuts a longer text off, and so does what writes its files
MOST_CHARACTERS: Final = 32_767
# how Excel writes a control character, such as the first of a line end of Windows
_CONTROL: Final = re.compile(r"_x00([01][0-9A-Fa-f])_")


def rows_of_excel(path: Path) -> Generator[ReadRow]:
    """Rows of the only sheet with rows, with the results of formulas.

    Raises:
        SampleError: the file is not a workbook, or several sheets have rows.
        ConfigError: openpyxl is not installed.
    """
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        raise ConfigError("Excel files need openpyxl: pip install 'ragmetrics-core[excel]'") from None
    try:
        with ZipFile(path) as parts:
            refuse_unpacked(path, sum(part.file_size for part in parts.infolist()), "save it as CSV UTF-8")
        with (
            closing(load_workbook(path, read_only=True, data_only=True)) as results,
            closing(load_workbook(path, read_only=True)) as formulas,
        ):
            name = _sheet(path, results)
            yield from _rows(path, results[name], formulas[name])
    except (BadZipFile, KeyError, OSError, SyntaxError, ValueError) as error:  # bad XML is a syntax error
        reason = " ".join(str(error).split())
        raise SampleError(f"cannot read {str(path)!r}: {reason}") from error


def _sheet(path: Path, workbook: Any) -> str:
    """The name of the only sheet with rows."""
    filled: list[str] = []
    for sheet in workbook.worksheets:
        sheet.reset_dimensions()  # some programs write wrong ones, and rows beyond them would be lost
        if any(not _is_blank(row) for row in sheet.iter_rows()):
            filled.append(sheet.title)
    if len(filled) > 1:
        names = ", ".join(map(repr, filled))
        raise SampleError(f"{str(path)!r} has several sheets with rows ({names}); save one of them by itself")
    if not filled:
        raise SampleError(f"{str(path)!r} holds no samples")
    return filled[0]


def _rows(path: Path, results: Any, formulas: Any) -> Iterator[ReadRow]:
    formulas.reset_dimensions()
    header: list[str] | None = None
    both = zip(results.iter_rows(), formulas.iter_rows(), strict=True)
    for number, (cells, sources) in enumerate(both, start=1):
        if _is_blank(sources):
            continue
        if header is None:
            names = ["" if cell.value is None else str(cell.value) for cell in cells]
            header = header_of(path, names)
            continue
        where = f"row {number}"
        try:
            read = [_value(cell, source) for cell, source in zip(cells, sources, strict=True)]
        except SampleError as error:
            yield ReadRow(where, problem=str(error))
            continue
        padded = read + [None] * (len(header) - len(read))
        yield ReadRow(where, {name: cell for name, cell in zip(header, padded, strict=False) if name})


def _is_blank(cells: tuple[Any, ...]) -> bool:
    return all(cell.value is None or cell.value == "" for cell in cells)


def _value(cell: Any, source: Any) -> object:
    """Value of a cell.

    Raises:
        SampleError: the cell holds a formula without a result, an error, or a truncated text.
    """
    value: object = cell.value
    # a result that is an empty text has the type of a text
    if source.data_type == "f" and value is None and cell.data_type == "n":
        raise SampleError(
            f"cell {cell.coordinate} holds a formula without a result; open the file in Excel and save it"
        )
    if cell.data_type == "e":
        if value == "#N/A":
            return None
        raise SampleError(f"cell {cell.coordinate} holds the error {value}")
    if not isinstance(value, str):
        return value
    lengths = {len(value), len(value.encode("utf-16-le")) // 2}
    if MOST_CHARACTERS in lengths:
        raise SampleError(
            f"cell {cell.coordinate} holds {MOST_CHARACTERS:,} characters, the most that Excel keeps, so its "
            "text was cut off; give the data as JSON Lines or CSV"
        )
    return _CONTROL.sub(lambda found: chr(int(found[1], 16)), value)
