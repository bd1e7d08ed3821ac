"""Spans in a folder of files that grow, are renamed and are replaced, such as a collector's."""

import gzip
import io
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal, NamedTuple

from ragmetrics_core.boundary.unpacking import ALWAYS_UNPACKED, MOST_UNPACKED, is_packed
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.traces._assembly import SkippedTrace
from ragmetrics_core.traces._files import LONGEST, ZSTD, FileRow, objects_in, rows_of, value_of
from ragmetrics_core.traces._formats import FORMATS
from ragmetrics_core.traces._protobuf import decoded_traces
from ragmetrics_core.traces._reading import format_of
from ragmetrics_core.traces._spans import TraceSpan

__all__ = ["FolderTail", "NewSpan", "SpanPlace", "StoredFile"]

# Bytes at the beginning of a file, and before the place up to which it was read, by which it is known again.
_COMPARED: Final = 4096
# Files that are gone, and may come back under another name.
_MOST_GONE: Final = 1000
_CHUNK: Final = 2**20

Content = gzip.GzipFile | io.BufferedReader
Layout = Literal["lines", "messages", "whole"]


class SpanPlace(NamedTuple):
    """The place of a row: the number of its file and the offset in it.

    `is_known` if an earlier process read it, too.
    """

    file: int
    offset: int
    is_known: bool = False


class NewSpan(NamedTuple):
    """A span with its place, and the seconds since its file was written to."""

    span: TraceSpan
    place: SpanPlace
    age: float = 0.0


class StoredFile(NamedTuple):
    """A file as a later process knows it again.

    Attributes:
        begin: offset from which the later process reads.
        end: offset up to which this one has read.
        head, tail: digests of the file's beginning and of what is before `end`.
    """

    begin: int
    end: int
    head: str
    tail: str


@dataclass
class _File:
    """A file and how far it was read.

    Attributes:
        number: number of the file, also under its next name and in a copy.
        offset: place of the next row.
        end, head, tail: see `StoredFile`.
        known: place up to which an earlier process read it.
        form: name of its format; None if not known yet.
        layout: how its rows are separated; None if not known yet.
        stat: inode, size and time of the file when it was read.
        waits: whether it is looked at again even if it does not change.
        is_told: whether its present problem was reported.
        is_in_long_line: whether the place is inside of a line that is left out.
    """

    number: int
    offset: int = 0
    end: int = 0
    head: str = ""
    tail: str = ""
    known: int = 0
    form: str | None = None
    layout: Layout | None = None
    stat: tuple[int, int, int] = (0, 0, 0)
    waits: bool = False
    is_told: bool = False
    is_in_long_line: bool = False


class FolderTail:
    """Read what is added to the files of a folder, each row once.

    A file is known by its content: at its beginning, and before the place up to which it was read. So
    reading continues after it was renamed, copied or gzipped, and begins again after it was truncated or
    replaced. JSON lines and messages after their size in four bytes are read as they come; an incomplete last
    one is waited for. Other files, such as a document of several lines, are read as a whole once nobody
    writes to them.

    Args:
        folder: the folder; its subfolders are not read.
        format: name of the format. Default: found in each file.
        quiet: seconds after which a file that does not change counts as complete.
        stored: what `stored` returned to an earlier process.

    Raises:
        ConfigError: the folder or the format does not exist.
    """

    def __init__(
        self,
        folder: Path,
        *,
        format: str | None = None,
        quiet: float = 10.0,
        stored: Iterable[StoredFile] = (),
    ) -> None:
        if not folder.is_dir():
            raise ConfigError(f"{folder} is not a folder: give the folder that the collector writes to")
        if format is not None and format not in FORMATS:
            raise ConfigError(f"unknown format {format!r}; the formats of traces are {', '.join(FORMATS)}")
        self._folder, self._format, self._quiet = folder, format, quiet
        self._at: dict[Path, _File] = {}
        self._gone = [
            _File(number, offset=begin, end=end, head=head, tail=tail, known=end)
            for number, (begin, end, head, tail) in enumerate(stored, start=1)
        ]
        self._number = len(self._gone)

    def read(self) -> Iterator[NewSpan | SkippedTrace]:
        """The new spans of all files, oldest file first, and what cannot be read."""
        before = [*self._at.values(), *self._gone]
        listed = sorted(self._listed(), key=lambda each: (each[1][2], each[0]))
        for path, stat in listed:
            file, age = self._at.get(path), max(0.0, time.time() - stat[2] / 1e9)
            if file is not None and file.stat == stat and not (file.waits and age >= self._quiet):
                continue
            try:
                with _opened(path) as content:
                    file = self._at[path] = self._identified(file, before, content)
                    file.stat, file.waits = stat, False
                    yield from self._added(path, file, content, age)
            except FileNotFoundError:  # renamed just now
                continue
            except (OSError, EOFError, zlib.error, SampleError) as error:
                file = self._at.get(path) or self._at.setdefault(path, self._new())
                file.stat, file.offset = stat, file.end
                # it may be gzipped right now
                yield from self._wait(path, file, age, f"cannot be read: {error}")
        gone = self._at.keys() - {path for path, _ in listed}
        self._gone = [*self._gone, *map(self._at.pop, gone)][-_MOST_GONE:]

    def stored(self, begins: Mapping[int, int]) -> list[StoredFile]:
        """The files as a later process knows them again; `begins` has places to read from, by number."""
        return [
            StoredFile(min(file.end, begins.get(file.number, file.end)), file.end, file.head, file.tail)
            for file in (*self._gone, *self._at.values())
            if file.end
        ]

    def _listed(self) -> Iterator[tuple[Path, tuple[int, int, int]]]:
        for path in self._folder.iterdir():
            try:
                found = path.stat()
            except OSError:
                continue
            if path.is_file() and not path.name.startswith("."):
                yield path, (found.st_ino, found.st_size, found.st_mtime_ns)

    def _identified(self, here: _File | None, before: Iterable[_File], content: Content) -> _File:
        """The file that this content continues, or a new one."""
        head = content.read(_COMPARED)
        if here is not None and not here.end:
            return here
        found = [file for file in before if file.end and _digest(head[: file.end]) == file.head]
        # the one that was here first, then the one that was read furthest
        for file in sorted(found, key=lambda each: (each is not here, -each.end)):
            if _digest(_before(content, file.end)) == file.tail:
                return file if file is here else replace(file, is_told=False)
        return self._new()

    def _new(self) -> _File:
        self._number += 1
        return _File(self._number)

    def _added(
        self, path: Path, file: _File, content: Content, age: float
    ) -> Iterator[NewSpan | SkippedTrace]:
        content.seek(0)
        head = content.read(_COMPARED)
        if not head.strip():
            return
        if ZSTD in head[:8]:
            yield from self._wait(path, file, self._quiet, "compressed with zstd")
            return
        file.form = file.form or self._format or format_of(path)
        if file.form is None:
            yield from self._wait(path, file, age, "not a file of traces")
            return
        file.layout = file.layout or _layout(path, head)
        if file.layout == "whole" and age < self._quiet:
            file.waits = True
            return
        content.seek(file.offset)
        if file.layout == "whole":
            rows = _whole(path, file, content)
        elif file.layout == "messages":
            rows = _messages(file, content)
        else:
            rows = _lines(file, content)
        most = max(ALWAYS_UNPACKED, MOST_UNPACKED * file.stat[1])
        for row in rows:
            yield from _spans(path, file, row, age)
            if file.offset > most:
                raise SampleError(f"{path.name} unpacks to over {MOST_UNPACKED} times its size")
        file.is_told = False
        file.end = file.offset
        content.seek(0)
        file.head = _digest(content.read(min(file.end, _COMPARED)))
        file.tail = _digest(_before(content, file.end))

    def _wait(self, path: Path, file: _File, age: float, problem: str) -> Iterator[SkippedTrace]:
        """Report a problem of a file once, if it stays when the file no longer changes."""
        file.waits = age < self._quiet and not file.is_told
        if not file.waits and not file.is_told:
            file.is_told = True
            yield SkippedTrace(path.name, problem)


def _opened(path: Path) -> Content:
    return gzip.open(path, "rb") if is_packed(path) else path.open("rb")


def _digest(data: bytes) -> str:
    return blake2b(data[:_COMPARED], digest_size=8).hexdigest()


def _before(content: Content, end: int) -> bytes:
    """The bytes before a place."""
    size = min(end, _COMPARED)
    content.seek(end - size)
    return content.read(size)


def _spans(path: Path, file: _File, found: FileRow, age: float) -> Iterator[NewSpan | SkippedTrace]:
    """The spans of a row that begins at the file's offset."""
    where, row, problem = found
    where, form = f"{path.name}, {where}", FORMATS[file.form or ""]
    place = SpanPlace(file.number, file.offset, is_known=file.offset < file.known)
    if row is None or not form.recognises(row):
        if not place.is_known:
            yield SkippedTrace(where, problem or f"not in the format {file.form}")
        return
    for span in form.spans_of([row]):
        if span.trace and span.id:
            yield NewSpan(span, place, age)
        elif not place.is_known:
            yield SkippedTrace(where, "a span without ids")


def _layout(path: Path, head: bytes) -> Layout | None:
    """The separation of the rows of a file; None if its first line is not complete yet."""
    if head[:1] == b"\0" and head[4:5] == b"\n":
        return "messages"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return "whole"
    with _opened(path) as content:
        line = content.readline(LONGEST + 1)
    if isinstance(value_of(line), str):
        return "whole" if line.endswith(b"\n") else None
    return "lines"


def _lines(file: _File, content: Content) -> Iterator[FileRow]:
    """The objects in complete lines; the file's offset is then behind these."""
    while line := content.readline(LONGEST + 1):
        is_whole = line.endswith(b"\n")
        if file.is_in_long_line:
            file.is_in_long_line = not is_whole
        elif len(line) > LONGEST:
            file.is_in_long_line = not is_whole
            yield from objects_in(f"byte {file.offset}", value_of(None))
        else:
            value = None if line.isspace() else value_of(line)
            if not is_whole and (value is None or isinstance(value, str)):
                return  # no beginning of an object is one itself
            yield from objects_in(f"byte {file.offset}", value)
        file.offset += len(line)


def _messages(file: _File, content: Content) -> Iterator[FileRow]:
    """Complete messages after their size in four bytes; the file's offset is then behind these."""
    while len(head := content.read(4)) == 4:
        where, length = f"byte {file.offset}", int.from_bytes(head)
        if length > LONGEST:
            if _skipped(content, length) < length:
                return
            yield from objects_in(where, value_of(None))
        else:
            message = content.read(length)
            if len(message) < length:
                return
            try:
                yield FileRow(where, decoded_traces(message))
            except ValueError as error:
                yield FileRow(where, problem=f"not a message of spans: {error}")
        file.offset += 4 + length


def _whole(path: Path, file: _File, content: Content) -> Iterator[FileRow]:
    """The objects of a file that is read as a whole."""
    file.offset = 0
    yield from rows_of(path)
    content.seek(0)
    file.offset = _skipped(content)


def _skipped(content: Content, length: float = float("inf")) -> int:
    """Skip a number of bytes, or all up to the end; return the number of those that are there."""
    passed = 0
    while passed < length and (chunk := content.read(int(min(_CHUNK, length - passed)))):
        passed += len(chunk)
    return passed
