"""Rows of a source, and the files that contain them."""

import codecs
import io
import re
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ragmetrics_core.boundary.unpacking import ALWAYS_UNPACKED, MOST_UNPACKED, is_packed, opened
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples.columns import field_named

__all__ = [
    "ReadRow",
    "encoding_of",
    "index_columns",
    "is_unnamed",
    "numbered",
    "opened_text",
    "refuse_repeated",
    "refuse_unpacked",
]

_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK: Final = 2**18
# a NUL, and a byte that is not UTF-8 as `surrogateescape` decodes it
_FAULT: Final = re.compile("[\0\udc80-\udcff]")
# pandas and pyarrow give these names to a column, or a level of an index, that has none
_UNNAMED: Final = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


class ReadRow(NamedTuple):
    """A row of a source, or the reason why it cannot be read."""

    where: str
    row: object = None
    textual: bool = False
    problem: str | None = None


def numbered(rows: Iterable[object]) -> Generator[ReadRow]:
    """Rows with their places, the first of which is "row 1"."""
    for number, row in enumerate(rows, start=1):
        where = f"row {number}"
        yield row._replace(where=where) if isinstance(row, ReadRow) else ReadRow(where, row)


def encoding_of(path: Path) -> str:
    """Detect the encoding by decoding the whole file: UTF-8, or UTF-16 with a byte order mark.

    Raises:
        SampleError: the file is not valid in this encoding, or has a NUL.
    """
    with opened(path) as file:
        chunk = file.read(_CHUNK)
        encoding = "utf-16" if chunk.startswith(_UTF16_MARKS) else "utf-8-sig"
        decoder = codecs.getincrementaldecoder(encoding.removesuffix("-sig"))()
        try:
            while chunk:
                if "\0" in decoder.decode(chunk):
                    break
                chunk = file.read(_CHUNK)
            else:
                decoder.decode(b"", final=True)
                return encoding
        except UnicodeDecodeError:
            pass
    raise SampleError(f"{str(path)!r}{_not_text(path, encoding)}")


def _not_text(path: Path, encoding: str) -> str:
    """End of a message that says why a file is not text."""
    if encoding == "utf-16":
        return " is not valid UTF-16; save it as UTF-8"
    with opened_text(path, encoding, newline=None) as file:
        faults = ((number, _FAULT.search(line)) for number, line in enumerate(file, start=1))
        line, fault = next((number, found[0]) for number, found in faults if found)
    if fault == "\0":
        return (
            f", line {line}, has a NUL byte: it is a binary file, or UTF-16 without a byte order mark; a "
            "file of samples is UTF-8 text"
        )
    name = path.with_suffix("").name if is_packed(path) else path.name
    return (
        f", line {line}, is not UTF-8 (byte 0x{ord(fault) - 0xDC00:02X}); save the file as UTF-8 (in Excel: "
        f"CSV UTF-8), or convert it, such as: iconv -f WINDOWS-1252 -t UTF-8 {name} > utf8-{name}"
    )


def opened_text(path: Path, encoding: str, *, newline: str | None) -> io.TextIOWrapper:
    """The text of a file in its encoding, unpacked as by `opened`."""
    # a byte that changed since the encoding was looked at spoils its row
    return io.TextIOWrapper(opened(path), encoding=encoding, errors="surrogateescape", newline=newline)


def refuse_repeated(columns: Iterable[object], where: str) -> None:
    """Raise `SampleError` if two columns have the same name."""
    seen: set[object] = set()
    for column in columns:
        if column in seen:
            raise SampleError(f"{where} has more than one column {column!r}; rename or drop one")
        seen.add(column)


def refuse_unpacked(path: Path, size: int, remedy: str) -> None:
    """Raise `SampleError` if a compressed file unpacks to 200 times its size and over 64 MB."""
    if size > max(ALWAYS_UNPACKED, MOST_UNPACKED * path.stat().st_size):
        raise SampleError(
            f"{str(path)!r} unpacks to over {MOST_UNPACKED} times its size, as no data does: {remedy} "
            "if it is what it should be"
        )


def is_unnamed(column: object) -> bool:
    """Whether a name marks an unnamed column, such as the row numbers of a data frame or of R."""
    return isinstance(column, str) and _UNNAMED.fullmatch(column) is not None


def index_columns(levels: Sequence[object], columns: Iterable[object], where: str) -> list[str | None]:
    """Columns for the levels of a data frame's index; None for a level that is left out.

    A named index is the id, unless a column is, or the name belongs to another field.

    Raises:
        SampleError: the index has several levels, and there is no id column.
    """
    names = [None if level is None or is_unnamed(str(level)) else str(level) for level in levels]
    fields = {field_named(name) for name in [*names, *columns] if isinstance(name, str)}
    if "id" in fields:
        return names
    if len(names) > 1:
        raise SampleError(
            f"{where} has an index of {len(names)} levels ({', '.join(map(repr, names))}) and no column "
            "'id'; call reset_index() on it, or give it a column 'id'"
        )
    return ["id" if name is not None and field_named(name) is None else name for name in names]
