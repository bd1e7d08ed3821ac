"""Data frames and tables, row by row, recognized by their methods without importing their packages.

pandas and polars give their own rows. Everything else with Arrow's interface (`__arrow_c_stream__`: pyarrow,
DuckDB, Ibis, narwhals, and others) is read by pyarrow, batch by batch.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol, cast

from ragmetrics_core.boundary.shapes import is_mapping
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.runs._source_files import (
    ReadRow,
    index_columns,
    is_unnamed,
    numbered,
    refuse_repeated,
    refuse_unpacked,
)

__all__ = ["DataFrameLike", "count_parquet", "rows_of_parquet", "rows_of_table"]

# Rows that are unpacked together: a value that a file holds once may stand in each of them.
_TOGETHER: Final = 100


class DataFrameLike(Protocol):
    """Type of data frames of pandas and polars and tables of pyarrow."""

    @property
    def columns(self) -> Any:
        """Column names, or columns."""
        ...

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's interface."""
        ...


def rows_of_table(source: Any) -> Iterable[object] | None:
    """Rows of a data frame or a table; None for anything else.

    Raises:
        SampleError: a column appears twice, or it is a dictionary of several datasets.
        ConfigError: it needs pyarrow, which is not installed.
    """
    kind: type[object] = type(cast("object", source))
    if kind.__name__ == "LazyFrame" and kind.__module__.partition(".")[0] == "polars":
        return rows_of_table(source.collect())
    if is_mapping(source):
        _refuse_splits(source)
        return None
    if hasattr(source, "columns") and hasattr(source, "itertuples"):
        return _rows_of_frame(source)
    if hasattr(source, "iter_rows"):
        rows: Iterable[dict[str, object]] = source.iter_rows(named=True)
        if any(map(is_unnamed, getattr(source, "columns", ()))):
            return ({name: row[name] for name in row if not is_unnamed(name)} for row in rows)
        return rows
    if hasattr(source, "__arrow_c_stream__"):
        return _rows_of_arrow(source)
    return None


def rows_of_parquet(path: Path) -> Generator[ReadRow]:
    """Rows of a Parquet file, batch by batch; an unreadable row is a `ReadRow` with a problem.

    Raises:
        SampleError: it is not a Parquet file, or unpacks to 200 times its size and over 64 MB.
        ConfigError: pyarrow is not installed.
    """
    yield from numbered(_rows_of_parquet(path))


def _rows_of_parquet(path: Path) -> Iterator[object]:
    with _parquet(path) as parquet, parquet.ParquetFile(path) as file:
        names = _names(file.schema_arrow, repr(str(path)))
        size = 0
        for batch in file.iter_batches(batch_size=_TOGETHER):
            size += batch.nbytes
            refuse_unpacked(path, size, "write it as JSON Lines")
            yield from _rows_of_batch(batch, names)


def count_parquet(path: Path) -> int:
    """Number of rows that a Parquet file states.

    Raises:
        SampleError: it is not a Parquet file.
        ConfigError: pyarrow is not installed.
    """
    with _parquet(path) as parquet:
        return int(parquet.read_metadata(path).num_rows)


def _rows_of_frame(source: Any) -> Iterator[object]:
    """Rows of a pandas frame; named index levels are columns."""
    columns = list(source.columns)
    index = getattr(source, "index", None)
    levels = list(getattr(index, "names", None) or [])
    names = index_columns(levels, columns, "the data frame")
    keys = [*names, *(None if is_unnamed(column) else column for column in columns)]
    refuse_repeated((key for key in keys if key is not None), "the data frame")
    cells = source.itertuples(index=False, name=None)
    if any(name is not None for name in names):
        values = zip(*map(source.index.get_level_values, range(len(names))), strict=True)
        cells = ((*before, *row) for before, row in zip(values, cells, strict=True))
    else:
        del keys[: len(names)]
    if None not in keys:
        return (dict(zip(keys, row, strict=True)) for row in cells)
    return ({key: cell for key, cell in zip(keys, row, strict=True) if key is not None} for row in cells)


def _names(schema: Any, where: str) -> dict[str, str]:
    """The columns of a table to read, with their names, including a pandas index."""
    columns = list(schema.names)
    refuse_repeated(columns, where)
    described: Mapping[str, Any] = schema.pandas_metadata or {}
    index = [column for column in described.get("index_columns", ()) if isinstance(column, str)]
    names = {column: None if is_unnamed(column) else column for column in columns}
    names.update(zip(index, index_columns(index, columns, where), strict=True))
    kept = {column: name for column, name in names.items() if name is not None}
    refuse_repeated(kept.values(), where)
    return kept


def _rows_of_arrow(source: object) -> Iterator[object]:
    reader = _pyarrow().RecordBatchReader.from_stream(source)
    try:
        names = _names(reader.schema, "the table")
    except UnicodeDecodeError as error:
        raise SampleError(f"the table has a column whose name is not text: {error}") from error
    return (row for batch in reader for row in _rows_of_batch(batch, names))


def _rows_of_batch(batch: Any, names: Mapping[str, str]) -> Iterator[object]:
    """Rows of a batch; a row that Python cannot hold (such as invalid UTF-8) has a problem."""
    if list(names) != list(names.values()) or len(names) < batch.num_columns:
        batch = batch.select(list(names)).rename_columns(list(names.values()))
    if "dictionary" not in str(batch.schema.types):
        try:
            yield from batch.to_pylist()
            return
        except (ValueError, OverflowError):
            pass
    # one by one: a long value that a dictionary holds once would stand in memory as often as there are rows
    for place in range(batch.num_rows):
        try:
            (row,) = batch.slice(place, 1).to_pylist()
        except (ValueError, OverflowError) as error:
            row = ReadRow("", problem=f"it cannot be read: {' '.join(str(error).split())[:200]}")
        yield row


def _refuse_splits(source: Mapping[Any, object]) -> None:
    """Raise `SampleError` for a dictionary of datasets, as Hugging Face's `load_dataset` returns."""
    values = list(source.values())
    if not values or not all(hasattr(each, "column_names") and hasattr(each, "features") for each in values):
        return
    names = ", ".join(repr(str(name)) for name in source)
    raise SampleError(
        f"the dataset has several splits ({names}): choose one, such as dataset[{next(iter(source))!r}]"
    )


@contextmanager
def _parquet(path: Path) -> Generator[Any]:
    """Parquet module of pyarrow, for `with`; its errors become `SampleError`."""
    arrow = _pyarrow()
    from pyarrow import parquet

    try:
        yield parquet
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SampleError(f"cannot read {str(path)!r}: {' '.join(str(error).split())}") from error


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise ConfigError(
            "tables and Parquet files need pyarrow: pip install 'ragmetrics-core[parquet]'"
        ) from None
    return pyarrow
