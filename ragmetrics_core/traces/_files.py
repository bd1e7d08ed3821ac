"""Objects in files of traces: JSON Lines, JSON documents, and OpenTelemetry's protocol in Protobuf."""

import codecs
import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from ragmetrics_core.boundary import is_dict, is_list
from ragmetrics_core.boundary.unpacking import opened
from ragmetrics_core.errors import SampleError
from ragmetrics_core.traces._protobuf import decoded_resource, decoded_traces, varint

__all__ = ["LONGEST", "ZSTD", "FileRow", "objects_in", "rows_of", "value_of"]

# Longer lines and messages are left out: they are read into memory as a whole.
LONGEST: Final = 2**26
# So are JSON documents of several lines, which is an error.
LONGEST_DOCUMENT: Final = 2**27
ZSTD: Final = b"\x28\xb5\x2f\xfd"
_CHUNK: Final = 2**20
# How many lines are looked at to tell lines from a document.
_FIRST: Final = 20


class FileRow(NamedTuple):
    """An object in a file with its place, or the reason why it cannot be read."""

    where: str
    row: Mapping[str, Any] | None = None
    problem: str = ""


def rows_of(path: Path) -> Iterator[FileRow]:
    """The objects of a file, one at a time.

    JSON: one object per line; or objects and lists of them over several lines, as a document of up to
    128 MiB. Protobuf: the messages of the collector's file exporter (each after its size in four bytes), of
    the file exporter's specification (each after its size as a varint), or one request. Both plain or
    gzipped. A line or message over 64 MiB is left out.

    Raises:
        SampleError: the file cannot be read, or is neither.
    """
    try:
        with opened(path) as file:
            head = file.peek(16)[:16]
        if ZSTD in head[:8]:
            raise SampleError(
                f"{str(path)!r} is compressed with zstd: remove `compression` from the file exporter"
            )
        text = head.removeprefix(codecs.BOM_UTF8).lstrip()
        yield from _json_rows(path) if text[:1] in (b"{", b"[") else _messages(path)
    except (OSError, EOFError) as error:
        raise SampleError(f"cannot read {str(path)!r}: {error}") from error


# JSON


def _json_rows(path: Path) -> Iterator[FileRow]:
    with opened(path) as file:
        first = list(islice(_lines(file), _FIRST))
    # elements of a document may be in lines of their own; the first lines of JSON Lines may be broken
    count = 2 if (first[0] or b"").rstrip().endswith((b"[", b"{", b",")) else _FIRST
    if all(isinstance(value_of(line), str) for line in first[:count]):
        yield from _document_rows(path)
        return
    with opened(path) as file:
        for number, line in enumerate(_lines(file), start=1):
            if line is None or not line.isspace():
                yield from objects_in(f"line {number}", value_of(line))


def _lines(file: io.BufferedReader) -> Iterator[bytes | None]:
    """The lines of a file; None for one that is too long."""
    while line := file.readline(LONGEST + 1):
        if len(line) <= LONGEST:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_CHUNK)
        yield None


def value_of(line: bytes | None) -> Any:
    """The value of a line, or the reason why it has none."""
    if line is None:
        return f"longer than {LONGEST // 2**20} MiB"
    try:
        value = json.loads(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError) as error:
        return f"not valid JSON: {error}"
    return value if is_dict(value) or is_list(value) else f"not an object, but {type(value).__name__}"


def objects_in(where: str, value: Any) -> Iterator[FileRow]:
    """The objects of a value that `value_of` read, each with its place."""
    if isinstance(value, str):
        yield FileRow(where, problem=value)
    for number, row in enumerate(value if is_list(value) else [value] * is_dict(value), start=1):
        place = f"{where}, item {number}" if is_list(value) else where
        if is_dict(row):
            yield FileRow(place, row)
        else:
            yield FileRow(place, problem=f"not an object, but {type(row).__name__}")


def _document_rows(path: Path) -> Iterator[FileRow]:
    with opened(path) as file:
        data = file.read(LONGEST_DOCUMENT + 1)
    if len(data) > LONGEST_DOCUMENT:
        raise SampleError(
            f"{str(path)!r} is one JSON document of over {LONGEST_DOCUMENT // 2**20} MiB; write one object "
            f"per line, such as: jq -c '.[]' {path.name}"
        )
    decode = json.JSONDecoder().raw_decode
    place = number = 0
    try:
        text = data.decode("utf-8-sig")
        while text[place:].strip():
            place += len(text[place:]) - len(text[place:].lstrip())
            value, place = decode(text, place)
            number += 1
            yield from objects_in(f"value {number}", value)
    except (ValueError, RecursionError) as error:
        if not number:
            raise SampleError(f"{str(path)!r} is not valid JSON: {error}") from None
        yield FileRow(f"value {number + 1}", problem=f"not valid JSON: {error}")


# Protobuf


def _messages(path: Path) -> Iterator[FileRow]:
    with opened(path) as file:
        head = bytes(file.peek(16)[:16])
        size = _size_of(head)
        for number, (message, problem) in enumerate(_framed(file, size), start=1):
            where = f"message {number}"
            if problem:
                yield FileRow(where, problem=problem)
                continue
            try:
                row = decoded_resource(message) if size == "tag" else decoded_traces(message)
                if number == 1 and not row["resourceSpans"]:
                    raise ValueError("the first message has no spans")
            except ValueError as error:
                if number == 1:
                    raise SampleError(f"{str(path)!r} is neither JSON nor Protobuf: {error}") from None
                yield FileRow(where, problem=f"not a message of spans: {error}")
            else:
                yield FileRow(where, row)


def _size_of(head: bytes) -> str:
    """Form of the sizes of messages in a file: as four bytes, as a varint, or as fields of one request."""
    if head[:1] == b"\0" and head[4:5] == b"\n":
        return "bytes"
    if head[:1] == b"\n":
        return "tag"
    return "varint"


def _framed(file: io.BufferedReader, size: str) -> Iterator[tuple[bytes, str]]:
    """The messages of a file, each with a problem, or empty."""
    while head := file.read(4) if size == "bytes" else _varint_bytes(file, skip=size == "tag"):
        try:
            length = int.from_bytes(head) if size == "bytes" else varint(head, 0)[0]
        except ValueError as error:
            yield b"", str(error)
            return
        message = file.read(min(length, LONGEST))
        left = length - len(message)
        if length > LONGEST:
            yield b"", f"longer than {LONGEST // 2**20} MiB"
            while left > 0 and (chunk := file.read(min(left, _CHUNK))):
                left -= len(chunk)
            continue
        yield message, "cut off" if left else ""


def _varint_bytes(file: io.BufferedReader, *, skip: bool) -> bytes:
    """The bytes of a size, after those of a tag if asked."""
    found = b""
    for _ in range(2 if skip else 1):
        found = b""
        while (byte := file.read(1)) and len(found) < 10:
            found += byte
            if byte < b"\x80":
                break
    return found
