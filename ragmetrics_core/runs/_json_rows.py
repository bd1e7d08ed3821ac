"""Rows in JSON: a list, the only table of an object, output of pandas, and JSON Lines."""

import codecs
import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias, TypeGuard

import numpy as np

from ragmetrics_core.boundary.shapes import is_dict, is_list, is_mapping
from ragmetrics_core.boundary.unpacking import opened
from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs._source_files import (
    ReadRow,
    index_columns,
    numbered,
    opened_text,
    refuse_repeated,
)
from ragmetrics_core.samples import Sample, holds_conversation, is_conversation_column, is_dialogue
from ragmetrics_core.samples.columns import TEXT_COLUMNS, field_named, shown, spelled
from ragmetrics_core.texts.wording import number_of

__all__ = ["rows_of_json", "rows_of_jsonl", "rows_of_object"]

Object: TypeAlias = Mapping[str, object]

_DECODE: Final = json.JSONDecoder().decode
# fields that say nothing by themselves: whatever has no other is not a row
_ASIDE: Final = frozenset({"id", "language", "labels", "session", "turn"})


def rows_of_jsonl(path: Path, encoding: str) -> Generator[ReadRow]:
    """Rows of a file with one JSON object per line."""
    if encoding == "utf-16":
        with opened_text(path, encoding, newline="\n") as lines:
            yield from _rows_of_lines(lines)
        return
    with opened(path) as file:  # faster than the lines of a text file
        if file.peek(3).startswith(codecs.BOM_UTF8):
            file.read(3)
        yield from _rows_of_lines(line.decode("utf-8", "surrogateescape") for line in file)


def rows_of_json(path: Path, encoding: str) -> Generator[ReadRow]:
    """Rows of a file with one JSON value, or one per line."""
    with opened_text(path, encoding, newline="\n") as file:
        text = file.read()
    try:
        content: object = json.loads(text)
        rows = list(rows_of_object(content)) if is_dict(content) else content
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            yield from _rows_of_values(path, text, error.pos)
            return
        raise SampleError(f"{str(path)!r}: {_problem(error)}") from None
    except SampleError as error:
        raise SampleError(f"{str(path)!r}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise SampleError(f"{str(path)!r}: {_problem(error)}") from None
    if not is_list(rows):
        raise SampleError(f"{str(path)!r} must hold a list of samples, got {shown(rows)}")
    yield from numbered(rows)


def rows_of_object(source: Object) -> Iterable[object]:
    """Rows of the only table in an object, at any depth, or the object itself as a row.

    A table is a list of rows, an object of columns, an object of rows by id, or a data frame in a form that
    pandas writes.

    Raises:
        SampleError: the object holds several tables, or is a row that holds a table.
    """
    if (rows := _table(source)) is not None:
        return rows
    tables = list(_tables("", source, _is_row))
    names = [name for name, _ in tables]
    if _is_row({key: value for key, value in source.items() if key not in names}):
        if tables:
            raise SampleError(
                f"the object is a row itself, and {tables[0][0]!r} in it holds rows; give one of the two"
            )
        return [source]
    if not tables:  # rows that are not readable say so, one by one
        tables = list(_tables("", source, is_mapping))
    if len(tables) > 1:
        listed = ", ".join(f"{name!r} ({len(rows)})" for name, rows in tables)
        raise SampleError(f"the object holds several lists of rows: {listed}; give one of them")
    if tables:
        return tables[0][1]
    has_empty_list = any(is_list(value) and not value for value in source.values())
    return [] if has_empty_list else [source]


def _tables(
    name: str, value: object, is_row: Callable[[object], bool]
) -> Iterator[tuple[str, Collection[object]]]:
    """Tables inside an object that is not a table, with the keys that lead to them."""
    if not is_mapping(value):
        return
    for key, inner in value.items():
        path = f"{name}.{key}" if name else str(key)
        if not _may_hold_rows(key):
            continue
        if _is_column(inner):
            if any(map(is_row, inner)):
                yield path, inner
        elif is_mapping(inner) and (rows := _table(inner)) is not None:
            yield path, rows
        else:
            yield from _tables(path, inner, is_row)


def _may_hold_rows(key: object) -> bool:
    """Whether this key may hold rows; contexts, messages and labels are parts of a row."""
    if is_conversation_column(key):
        return False
    return field_named(str(key)) is None or spelled(str(key)) in TEXT_COLUMNS


def _table(source: Object) -> Collection[object] | None:
    """Rows of an object that is a table; None for other objects."""
    schema, data = source.get("schema"), source.get("data")
    if is_mapping(schema) and "fields" in schema and is_list(data) and all(map(is_mapping, data)):
        return _indexed(data, schema.get("primaryKey", []))
    if is_list(columns := source.get("columns")):
        for name in ("data", "rows"):
            if is_list(data := source.get(name)) and all(map(is_list, data)):
                return _rows_of_cells(columns, data)
    lists = {column: value for column, value in source.items() if _is_column(value)}
    objects = {column: value for column, value in source.items() if is_mapping(value)}
    if lists and len(lists) == len(source):
        return _rows_of_columns(lists)
    if objects and len(objects) == len(source):
        return _rows_of_mappings(objects)
    return None


def _is_row(value: object) -> bool:
    """Whether it is a sample or a mapping with a sample field."""
    if not is_mapping(value):
        return isinstance(value, Sample)
    if holds_conversation(value):
        return True
    for column, cell in value.items():
        # of LangSmith's `inputs` and `outputs` the fields are one deeper
        names = [f"{column}.{inner}" for inner in cell] if is_mapping(cell) else []
        if any(field_named(name) not in {None, *_ASIDE} for name in [str(column), *names]):
            return True
    return False


def _is_column(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, list | tuple | np.ndarray)


def _rows_of_columns(source: Mapping[str, Collection[object]]) -> Collection[object] | None:
    """Rows of an object of columns; a single row may hold lists, but not a list of questions."""
    texts = [source[column] for column in source if spelled(str(column)) in TEXT_COLUMNS]
    if not texts or any(_is_row(cell) for cells in texts for cell in cells):
        return None
    if any(map(is_dialogue, texts)):
        return None
    lengths = {column: len(values) for column, values in source.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{column!r} has {length}" for column, length in lengths.items())
        raise SampleError(f"the columns differ in length: {sizes}")
    return [dict(zip(source, cells, strict=True)) for cells in zip(*source.values(), strict=True)]


def _rows_of_mappings(source: Mapping[str, Object]) -> Collection[object] | None:
    """The rows of an object of columns by row numbers, or of rows by their ids."""
    if any(spelled(str(column)) in TEXT_COLUMNS for column in source):
        keys = list(next(iter(source.values())))
        if not all(str(key).isdecimal() for key in keys):
            return None
        if any(set(cells) != set(keys) for cells in source.values()):
            return None
        return [{column: cells[key] for column, cells in source.items()} for key in keys]
    if _is_row(source) or not all(map(_is_row, source.values())):
        return None
    # the numbers that pandas counts rows with are not ids
    is_counted = list(map(str, source)) == [str(number) for number in range(len(source))]
    if is_counted:
        return list(source.values())
    return [
        row if any(field_named(str(column)) == "id" for column in row) else {"id": key, **row}
        for key, row in source.items()
    ]


def _rows_of_cells(columns: list[object], data: list[object]) -> Collection[object]:
    """Rows of a table with column names and lists of cells."""
    refuse_repeated([str(column) for column in columns], "the table")
    rows: list[object] = []
    for cells in data:
        assert is_list(cells)
        if len(cells) == len(columns):
            rows.append(dict(zip(map(str, columns), cells, strict=True)))
        else:
            count = f"{number_of(len(cells), 'cell')}, but there are {number_of(len(columns), 'column')}"
            rows.append(ReadRow("", problem=count))
    return rows


def _indexed(data: list[object], levels: object) -> Collection[object]:
    """The rows of pandas' table schema, in which the index is among the columns."""
    index = ["" if level == "index" else level for level in levels] if is_list(levels) else []
    columns = dict.fromkeys(column for row in data if is_mapping(row) for column in row)
    names = (
        dict(zip(levels, index_columns(index, columns, "the table"), strict=True)) if is_list(levels) else {}
    )
    return [
        {name: cell for column, cell in row.items() if (name := names.get(column, column)) is not None}
        for row in data
        if is_mapping(row)
    ]


def _rows_of_values(path: Path, text: str, end: int) -> Generator[ReadRow]:
    """Rows of a text with several JSON values; the first ends before `end`."""
    first = text[:end].rstrip()
    if "\n" in first.lstrip() or "\n" not in text[len(first) : end]:
        raise SampleError(f"{str(path)!r} holds several JSON values; write them as one list, or one per line")
    yield from _rows_of_lines(text.split("\n"))


def _rows_of_lines(lines: Iterable[str]) -> Generator[ReadRow]:
    for number, line in enumerate(lines, start=1):
        text = line.rstrip()
        if not text:
            continue
        try:
            row = ReadRow(f"line {number}", _DECODE(text))
        except (ValueError, RecursionError) as error:
            row = ReadRow(f"line {number}", problem=_problem(error))
        yield row


def _problem(error: Exception) -> str:
    """Reason why a text is not JSON."""
    match error:
        case json.JSONDecodeError(lineno=1):
            return f"not valid JSON: {error.msg} (column {error.colno})"
        case json.JSONDecodeError():
            return f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        case _:  # a number of thousands of digits; brackets nested thousands deep
            return f"JSON that cannot be read: {error}"
