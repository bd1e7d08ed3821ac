"""Reading samples from memory, data frames and files, one at a time; an invalid row does not raise."""

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
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, cast

from ragmetrics_core.boundary.redaction import Redact, Renamed, redacted
from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.boundary.unpacking import kind_of, opened
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.runs._csv_rows import rows_of_csv
from ragmetrics_core.runs._data_frames import DataFrameLike, rows_of_parquet, rows_of_table
from ragmetrics_core.runs._excel import rows_of_excel
from ragmetrics_core.runs._json_rows import rows_of_json, rows_of_jsonl, rows_of_object
from ragmetrics_core.runs._source_files import ReadRow, encoding_of, numbered
from ragmetrics_core.samples import Sample, holds_conversation, is_conversation_column, mapping_of
from ragmetrics_core.samples.columns import ColumnNames, check_columns, is_sample_column, shown
from ragmetrics_core.traces import SkippedTrace, Traces, format_of

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
    "traces_in",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class BadRow:
    """An invalid row; the rows after it are still read.

    Attributes:
        where: the place: "line 7" in a JSONL or CSV file, "row 7" elsewhere; counted from 1.
        message: the reason.
        sample_id: the id, if the row is invalid because another sample has it.
    """

    where: str
    message: str
    sample_id: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Place and message in one line."""
        return f"{self.where}: {self.message}"


def none_usable(count: int, first: object) -> SampleError:
    """Error for data without a valid row."""
    return SampleError(f"none of the rows given ({count:,}) is a sample, the first: {first}")


Row: TypeAlias = Sample | Mapping[str, object]
Source: TypeAlias = Row | Iterable[Row | str | Path] | DataFrameLike | Traces | str | Path
AsyncSource: TypeAlias = Source | AsyncIterable[Row]


def read_samples(
    source: Source, *, redact: Redact | None = None, columns: ColumnNames | None = None
) -> Generator[Sample | BadRow]:
    """Read samples one at a time, in order.

    A source is a sample, a row (any mapping that `Sample.from_mapping` takes), an iterable of both, a mapping
    of columns to lists, a data frame or table (pandas, polars, pyarrow, Hugging Face datasets, or any object
    with Arrow's `__arrow_c_stream__`), or the path of a file: `.jsonl` or `.ndjson` (one object per line),
    `.json` (a list of objects, an object that holds one such list at any depth, an object of columns, output
    of pandas, or one object per line), `.csv` and `.tsv` (a header; commas, semicolons or tabs; an empty cell
    is absent), `.xlsx` (one sheet with rows) or `.parquet`. Text files are UTF-8, or UTF-16 with a byte order
    mark, plain or gzipped (`.jsonl.gz`); other encodings are refused. A file of traces in any format of
    `ragmetrics_core.traces`, a folder or a list of such files is read as traces. The named index of a data
    frame is the id, unless a column is; unnamed columns are left out. Everything but JSON and lists is
    streamed; only a hash of each id is kept, to find duplicates.

    Samples and messages about invalid rows contain nothing that `redact` removes (see `Sample.redacted`).
    `columns` maps fields to columns (see `Sample.from_mapping`).

    Yields:
        A sample, or a `BadRow` with the reason.

    Raises:
        SampleError: the source cannot be read. The call raises what it can see without reading, the iteration
            the rest.
    """
    check_columns(columns)
    return _stream(_rows_of(source, columns), redact, columns)


def read_rows(source: Source) -> Iterator[ReadRow]:
    """Rows of a source with their places; for sources, see `read_samples`.

    Raises:
        SampleError: as `read_samples`.
    """
    return _rows_of(source, are_samples=False)


async def aread_samples(
    source: AsyncSource, *, redact: Redact | None = None, columns: ColumnNames | None = None
) -> AsyncGenerator[Sample | BadRow]:
    """Read samples as `read_samples` does, also from an asynchronous iterable.

    Other sources are read on the event loop. An iterable that waits blocks the loop, so make it asynchronous.
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
            for sample in reader.read(ReadRow(f"row {number}", row)):
                yield sample


@dataclass
class _SampleReader:
    """Makes samples from rows, redacts them if asked, and ensures unique ids.

    Attributes:
        redact, columns: as for `read_samples`.
        used: hashes of the ids so far.
        occurrences: number of equal rows without an id so far, by hash of the derived id.
        sessions: redacted ids of the sessions so far.
    """

    redact: Redact | None = None
    columns: ColumnNames | None = None
    used: set[int] = field(default_factory=set)
    occurrences: dict[int, int] = field(default_factory=dict[int, int])
    sessions: Renamed | None = None

    def read(self, found: ReadRow) -> list[Sample | BadRow]:
        """The samples of a row, more than one if it holds a conversation; or the reason why it has none."""
        if found.problem is not None:
            return [BadRow(where=found.where, message=found.problem)]
        try:
            samples = _samples(found, self.columns)
            if self.redact is not None:
                samples = self._redacted(samples, self.redact)
        except ConfigError as error:
            return [BadRow(where=found.where, message=self._reason(error, found))]
        return [self._with_own_id(sample, found.where) for sample in samples]

    def _redacted(self, samples: Sequence[Sample], redact: Redact) -> tuple[Sample, ...]:
        """The samples without private parts; different sessions stay different."""
        if self.sessions is None:
            self.sessions = Renamed(redact)
        if len(samples) > 1:
            redact = cache(redact)  # each answer has all messages before it
        return tuple(self._renamed(sample, self.sessions).redacted(redact) for sample in samples)

    def _renamed(self, sample: Sample, sessions: Renamed) -> Sample:
        """The sample with the redacted id of its session."""
        if sample.session is None or sample.has_derived_session:
            return sample
        update = {"session": sessions.of(sample.session)}
        if sample.id == f"{sample.session}#{sample.turn}":
            update["id"] = f"{update['session']}#{sample.turn}"
        return sample.model_copy(update=update)

    def _with_own_id(self, sample: Sample, where: str) -> Sample | BadRow:
        """The sample with an id that no earlier one has, or the reason why it cannot have one."""
        key = first = _hash_of(sample.id)
        base = sample
        if key in self.used and not (sample.has_derived_id or sample.has_derived_session):
            message = f"id {sample.id!r} was already used by another sample"
            return BadRow(where=where, message=message, sample_id=sample.id)
        while key in self.used:
            self.occurrences[first] = occurrence = self.occurrences.get(first, 1) + 1
            sample = base.at_occurrence(occurrence)
            key = _hash_of(sample.id)
        self.used.add(key)
        return sample

    def _reason(self, error: ConfigError, found: ReadRow) -> str:
        """Reason why a row is invalid; redacted, because a message quotes values and may cut them."""
        if self.redact is None or not isinstance(error, SampleError):
            return str(error)
        try:
            row = found.row if isinstance(found.row, Sample) else mapping_of(found.row)
            _samples(found._replace(row=_redacted_values(self.redact, row)), self.columns)
        except SampleError as without:
            return redacted(self.redact, str(without))
        except ConfigError as failed:
            return str(failed)
        return "the row is not a sample; the reason is redacted"


def _hash_of(sample_id: str) -> int:
    """Eight bytes of a hash, so that the ids of millions of rows fit in memory."""
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


def _samples(found: ReadRow, columns: ColumnNames | None) -> tuple[Sample, ...]:
    if isinstance(found.row, Sample):
        return (found.row,)
    if (row := mapping_of(found.row)) is not None:
        return Sample.from_conversation(row, textual=found.textual, columns=columns)
    raise SampleError(f"a row must be a sample or a mapping of columns to values, got {shown(found.row)}")


def _stream(
    rows: Generator[ReadRow], redact: Redact | None, columns: ColumnNames | None
) -> Generator[Sample | BadRow]:
    reader = _SampleReader(redact, columns)
    with closing(rows):
        try:
            for found in rows:
                yield from reader.read(found)
            return
        except SampleError as error:
            if redact is None:
                raise
            problem = str(error)
    raise SampleError(redacted(redact, problem))


def _rows_of(
    source: object, columns: ColumnNames | None = None, *, are_samples: bool = True
) -> Generator[ReadRow]:
    """Choose a reader for the source; obvious mistakes are raised at once."""
    if are_samples and not columns and (traces := traces_in(source)) is not None:
        return _rows_of_traces(traces)
    if isinstance(source, str | Path):
        rows = _rows_of_file(Path(source))
        return _with_field(Path(source), rows) if are_samples and not columns else rows
    if isinstance(source, Sample):
        return numbered([source])
    if not is_mapping(source) and (row := mapping_of(source)) is not None and holds_conversation(row):
        return numbered([row])
    if (table := rows_of_table(source)) is not None:
        return numbered(table)
    if is_mapping(source):
        return numbered(rows_of_object(source))
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return numbered(cast("Iterable[object]", source))
    raise SampleError(
        f"cannot read samples from {shown(source)}; give samples, mappings, a data frame or a path"
    )


def traces_in(source: object) -> Traces | None:
    """The traces that a source is: a file, a folder, or a list of files; None for any other source."""
    if isinstance(source, Traces):
        return source
    paths = source if is_series(source) else [source]
    if not paths or not all(isinstance(path, str | Path) for path in paths):
        return None
    places = [Path(str(path)) for path in paths]
    files = [file for path in places for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    return Traces(places) if any(format_of(file) is not None for file in files) else None


def _rows_of_traces(traces: Traces) -> Generator[ReadRow]:
    for found in traces:
        if isinstance(found, SkippedTrace):
            yield ReadRow(found.where, problem=found.reason)
        else:
            yield ReadRow(f"trace {found.labels['trace']}", found)


def _rows_of_file(path: Path) -> Generator[ReadRow]:
    if path.is_dir():
        raise SampleError(f"{str(path)!r} is a folder; give a file")
    kind = kind_of(path)
    if kind not in _TEXTS and kind not in _PACKED:
        kinds = ", ".join([*_TEXTS, *_PACKED])
        raise SampleError(f"cannot read {str(path)!r}: a file of samples ends in {kinds}")
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # who opens a pipe may wait for ever
            raise SampleError(f"{str(path)!r} is not a regular file; write the samples to one first")
        with opened(path) as file:
            is_empty = not file.read(1)
        if is_empty:
            raise SampleError(f"{str(path)!r} is empty")
        rows = _PACKED[kind](path) if kind in _PACKED else _TEXTS[kind](path, encoding_of(path))
    except FileNotFoundError:
        raise SampleError(f"{str(path)!r} does not exist") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise SampleError(f"cannot read {str(path)!r}: {error}") from error
    return _some(path, rows)


def _some(path: Path, rows: Iterable[ReadRow]) -> Generator[ReadRow]:
    """Rows of a file; an empty file is an error."""
    is_empty = True
    for row in rows:
        is_empty = False
        yield row
    if is_empty:
        raise SampleError(f"{str(path)!r} holds no samples")


def _with_field(path: Path, rows: Generator[ReadRow]) -> Generator[ReadRow]:
    """Rows of a file; a header must have at least one sample field."""
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
    if not any(map(is_sample_column, columns)) and not any(map(is_conversation_column, columns)):
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
