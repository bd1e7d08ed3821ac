"""Reading samples from memory, data frames and files, one at a time; a bad row is data, not an exception."""

import hashlib
import zlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, cast

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.redaction import Redact, redacted
from ragmetrics_core.runs._excel import rows_of_excel
from ragmetrics_core.runs._json_rows import rows_of_json, rows_of_jsonl, rows_of_object
from ragmetrics_core.runs._rows import ReadRow, encoding_of, kind_of, numbered, opened
from ragmetrics_core.runs._separated import rows_of_csv
from ragmetrics_core.runs._tables import DataFrameLike, rows_of_parquet, rows_of_table
from ragmetrics_core.samples import Sample
from ragmetrics_core.samples._columns import ColumnNames, check_columns, is_sample_column, shown
from ragmetrics_core.shapes import is_mapping, is_series

__all__ = [
    "AsyncSource",
    "BadRow",
    "DataFrameLike",
    "Row",
    "Source",
    "aread_samples",
    "none_usable",
    "read_rows",
    "read_samples",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class BadRow:
    """A row that is no sample; the rows after it are read all the same.

    Attributes:
        where: the place: "line 7" of a JSONL or CSV file, "row 7" of anything else; the first is 1.
        message: what is wrong with it.
        sample_id: the id that it shares with a sample, where that is what is wrong with it.
    """

    where: str
    message: str
    sample_id: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Place and message in one line."""
        return f"{self.where}: {self.message}"


def none_usable(count: int, first: object) -> SampleError:
    """The error of data whose rows are all no samples."""
    return SampleError(f"none of the rows given ({count:,}) is a sample, the first: {first}")


Row: TypeAlias = Sample | Mapping[str, object]
Source: TypeAlias = Row | Iterable[Row] | DataFrameLike | str | Path
AsyncSource: TypeAlias = Source | AsyncIterable[Row]


def read_samples(
    source: Source, *, redact: Redact | None = None, columns: ColumnNames | None = None
) -> Generator[Sample | BadRow]:
    """Read samples one at a time, in order.

    A source is a sample, a row (any mapping that `Sample.from_mapping` takes), an iterable of both, a mapping
    of columns to lists, a data frame or table (pandas, polars, pyarrow, Hugging Face datasets, and whatever
    else has Arrow's `__arrow_c_stream__`), or the path of a file: `.jsonl` or `.ndjson` (one object a line),
    `.json` (a list of objects, an object that holds one such list at any depth, an object of columns, what
    pandas writes, or one object a line), `.csv` and `.tsv` (a header; commas, semicolons or tabs; an empty
    cell is absent), `.xlsx` (one sheet with rows) or `.parquet`. Texts are UTF-8, or UTF-16 with a byte order
    mark, also packed with gzip (`.jsonl.gz`): a file that is neither is refused as a whole. The named index
    of a data frame is the id, unless a column is; a column without a name is left out. All but JSON and
    lists are streamed: of what was read, only a number for each id is kept, to find an id that is used twice.

    With `redact` nothing that it takes out is in a sample (see `Sample.redacted`) or in what is said of a row
    that is none. `columns` maps fields to columns (see `Sample.from_mapping`).

    Yields:
        A sample, or in its place a `BadRow` that says why there is none.

    Raises:
        SampleError: the source as a whole cannot be read. What can be seen without reading is raised by the
            call, the rest while iterating.
    """
    check_columns(columns)
    return _stream(_rows_of(source, columns), redact, columns)


def read_rows(source: Source) -> Iterator[ReadRow]:
    """The rows of a source as they are, each with its place; what a source is, `read_samples` says.

    Raises:
        SampleError: as `read_samples`.
    """
    return _rows_of(source, are_samples=False)


async def aread_samples(
    source: AsyncSource, *, redact: Redact | None = None, columns: ColumnNames | None = None
) -> AsyncGenerator[Sample | BadRow]:
    """Read samples one at a time, also from an asynchronous iterable; otherwise as `read_samples`.

    A source that is not asynchronous is read on the event loop: an iterable that waits for something holds
    up everything else, and should be an asynchronous one.
    """
    check_columns(columns)
    if not isinstance(source, AsyncIterable):
        with closing(_stream(_rows_of(source, columns), redact, columns)) as samples:
            for sample in samples:
                yield sample
        return
    reader = _SampleReader(redact, columns)
    rows = aiter(source)
    number = 0
    # a generator is closed at once when nobody reads on; other iterators have nothing to close
    async with (
        aclosing(cast("AsyncGenerator[Row]", rows)) if isinstance(rows, AsyncGenerator) else nullcontext()
    ):
        async for row in rows:
            number += 1
            yield reader.read(ReadRow(f"row {number}", row))


@dataclass
class _SampleReader:
    """Makes samples of rows, redacted if that is asked for, and gives each an id of its own.

    Attributes:
        redact, columns: as for `read_samples`.
        used: hashes of the ids so far.
        occurrences: how often a row without an id has occurred, by the hash of its derived id.
    """

    redact: Redact | None = None
    columns: ColumnNames | None = None
    used: set[int] = field(default_factory=set)
    occurrences: dict[int, int] = field(default_factory=dict[int, int])

    def read(self, found: ReadRow) -> Sample | BadRow:
        if found.problem is not None:
            return BadRow(where=found.where, message=found.problem)
        try:
            sample = _sample(found, self.columns)
            if self.redact is not None:
                sample = sample.redacted(self.redact)
        except ConfigError as error:
            return BadRow(where=found.where, message=self._told(error, found))
        key = first = _hash_of(sample.id)
        if key in self.used and not sample.has_derived_id:
            message = f"id {sample.id!r} was already used by another sample"
            return BadRow(where=found.where, message=message, sample_id=sample.id)
        while key in self.used:
            self.occurrences[first] = occurrence = self.occurrences.get(first, 1) + 1
            sample = sample.at_occurrence(occurrence)
            key = _hash_of(sample.id)
        self.used.add(key)
        return sample

    def _told(self, error: ConfigError, found: ReadRow) -> str:
        """What is wrong with a row; a message quotes values, and may cut them where `redact` looks."""
        if self.redact is None or not isinstance(error, SampleError):
            return str(error)
        try:
            _sample(found._replace(row=_redacted_values(self.redact, found.row)), self.columns)
        except SampleError as without:
            return redacted(self.redact, str(without))
        except ConfigError as failed:
            return str(failed)
        return "it is no sample; what is wrong with it is nothing that may be written down"


def _hash_of(sample_id: str) -> int:
    """Eight bytes of a hash: ids may be long, and those of millions of rows are to fit in memory."""
    return int.from_bytes(hashlib.blake2b(sample_id.encode(), digest_size=8).digest())


def _redacted_values(redact: Redact, value: object) -> object:
    """A row with `redact` applied to all texts in it."""
    match value:
        case str():
            return redacted(redact, value)
        case _ if is_mapping(value):
            return {
                _redacted_values(redact, key): _redacted_values(redact, each) for key, each in value.items()
            }
        case _ if is_series(value):
            return [_redacted_values(redact, each) for each in value]
        case None | bool() | int() | float():
            return value
        case _:
            return type(value).__name__


def _sample(found: ReadRow, columns: ColumnNames | None) -> Sample:
    if isinstance(found.row, Sample):
        return found.row
    if is_mapping(found.row):
        return Sample.from_mapping(found.row, textual=found.textual, columns=columns)
    raise SampleError(f"a row must be a sample or a mapping of columns to values, got {shown(found.row)}")


def _stream(
    rows: Generator[ReadRow], redact: Redact | None, columns: ColumnNames | None
) -> Generator[Sample | BadRow]:
    reader = _SampleReader(redact, columns)
    with closing(rows):
        try:
            for found in rows:
                yield reader.read(found)
            return
        except SampleError as error:
            if redact is None:
                raise
            problem = str(error)
    raise SampleError(redacted(redact, problem))


def _rows_of(
    source: object, columns: ColumnNames | None = None, *, are_samples: bool = True
) -> Generator[ReadRow]:
    """Choose the reading by what the source is; mistakes that show at once are raised here."""
    if isinstance(source, str | Path):
        rows = _rows_of_file(Path(source))
        return _with_field(Path(source), rows) if are_samples and not columns else rows
    if isinstance(source, Sample):
        return numbered([source])
    if (table := rows_of_table(source)) is not None:
        return numbered(table)
    if is_mapping(source):
        return numbered(rows_of_object(source))
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return numbered(cast("Iterable[object]", source))
    raise SampleError(
        f"cannot read samples from {shown(source)}; give samples, mappings, a data frame or a path"
    )


def _rows_of_file(path: Path) -> Generator[ReadRow]:
    kind = kind_of(path)
    if kind not in _TEXTS and kind not in _PACKED:
        kinds = ", ".join([*_TEXTS, *_PACKED])
        raise SampleError(f"cannot read {str(path)!r}: a file of samples ends in {kinds}")
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # who opens a pipe may wait for ever
            raise SampleError(f"{str(path)!r} is no regular file; write the samples to one first")
        with opened(path) as file:
            is_empty = not file.read(1)
        if is_empty:
            raise SampleError(f"{str(path)!r} is empty")
        rows = _PACKED[kind](path) if kind in _PACKED else _TEXTS[kind](path, encoding_of(path))
    except FileNotFoundError:
        raise SampleError(f"{str(path)!r} does not exist") from None
    except IsADirectoryError:
        raise SampleError(f"{str(path)!r} is a folder; give a file") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise SampleError(f"cannot read {str(path)!r}: {error}") from error
    return _some(path, rows)


def _some(path: Path, rows: Iterable[ReadRow]) -> Generator[ReadRow]:
    """The rows of a file, of which there must be some."""
    is_empty = True
    for row in rows:
        is_empty = False
        yield row
    if is_empty:
        raise SampleError(f"{str(path)!r} holds no samples")


def _with_field(path: Path, rows: Generator[ReadRow]) -> Generator[ReadRow]:
    """The rows of a file; one with a header must have a column that is a field of a sample."""
    with closing(rows):
        for found in rows:
            if is_mapping(found.row):
                if kind_of(path) in {".csv", ".tsv", ".xlsx"}:
                    _refuse_strange(path, [str(name) for name in found.row])
                yield found
                break
            yield found
        yield from rows


def _refuse_strange(path: Path, columns: Sequence[str]) -> None:
    if not any(map(is_sample_column, columns)):
        raise SampleError(
            f"{str(path)!r}: no column is a field of a sample (separated by commas, semicolons or tabs?), "
            f"found {columns[:_SHOWN]}{' and more' if len(columns) > _SHOWN else ''}"
        )


# of the columns of a file that has none of a sample
_SHOWN: Final = 20
_TEXTS: Final = {
    ".jsonl": rows_of_jsonl,
    ".ndjson": rows_of_jsonl,
    ".json": rows_of_json,
    ".csv": rows_of_csv,
    ".tsv": rows_of_csv,
}
_PACKED: Final = {".xlsx": rows_of_excel, ".parquet": rows_of_parquet}
