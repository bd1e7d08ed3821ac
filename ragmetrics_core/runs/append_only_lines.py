"""Append-only JSON lines with random access, on disk or in memory."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from io import BytesIO, FileIO
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, TypeVar

from ragmetrics_core.boundary.writing import no_link, put_in_place
from ragmetrics_core.errors import RecordError, SampleError

__all__ = ["DAMAGED", "Lines"]

T = TypeVar("T")

# What reading a line raises that is not as it must be: a folder may come from anywhere, and be damaged.
DAMAGED = (
    *(ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError),
    SampleError,
)


class Lines:
    """A file of JSON lines; open only during reads, and between `append` and `close`.

    A last line that a crash cut off is not read, and is removed before the next one is written.

    Args:
        path: the file, which need not exist yet; None keeps the lines in memory.

    Attributes:
        is_there: whether the file existed when it was opened, or the lines were cleared since.
        is_cut: whether the file ended in an incomplete line when it was opened. Another process may have been
            writing that line.

    Raises:
        RecordError: it is not a regular file.
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is not None and path.exists() and not path.is_file():
            raise RecordError(f"{path} is not a regular file")  # a pipe would never end
        self.path = path
        self._memory = BytesIO() if path is None else None
        self._writer: BinaryIO | FileIO | None = None
        self.is_there = path is not None and path.exists()
        self._end, self.is_cut = self._whole()

    @property
    def size(self) -> int:
        """Size of the complete lines in bytes."""
        return self._end

    def append(self, *texts: str | bytes) -> list[int]:
        """Add lines at once; returns their places for `read`.

        Raises:
            RecordError: the file cannot be written, for example because the disk is full; no line was added.
        """
        lines = [each if isinstance(each, bytes) else each.encode("utf-8", "surrogatepass") for each in texts]
        self._write(b"\n".join([*lines, b""]))
        *offsets, self._end = accumulate([len(line) + 1 for line in lines], initial=self._end)
        return offsets

    def load(self) -> None:
        """Copy all lines into memory, because another process may replace the file."""
        with self.opened() as file:
            self._memory = BytesIO(file.read())
        self._end, self.is_cut = self._whole()

    def clear(self) -> None:
        """Remove all lines.

        Raises:
            RecordError: the file cannot be written.
        """
        self.close()
        self._end, self.is_cut, self.is_there = 0, False, True
        if self.path is None:
            self._memory = BytesIO()
        else:
            put_in_place(self.path, "")

    def close(self) -> None:
        """Stop writing; lines can still be read, and written again."""
        if self._writer is not None and self.path is not None:
            self._writer.close()
        self._writer = None

    def read(self, meaning: Callable[[bytes], T], start: int = 0) -> Iterator[tuple[T, int]]:
        """Read the complete lines from a place on, in order, with their places.

        Raises:
            RecordError: a line cannot be read.
        """
        for offset, line in self.placed(start):
            try:
                entry = meaning(line)
            except DAMAGED as error:
                raise self.broken(offset, error) from error
            yield entry, offset

    def placed(self, offset: int = 0) -> Iterator[tuple[int, bytes]]:
        """All complete lines from a place on, in order, with their places."""
        with self.opened() as file:
            while offset < self._end:
                file.seek(offset)
                line = file.readline()
                yield offset, line
                offset += len(line)

    def broken(self, offset: int, error: Exception) -> RecordError:
        """Error for a line that cannot be read, with the reason."""
        with self.opened() as file:
            number = file.read(offset).count(b"\n") + 1
        return RecordError(f"{self.path or 'memory'}, line {number}: {type(error).__name__}: {error}")

    def opened(self) -> AbstractContextManager[BinaryIO]:
        """The file to read, for `with`; an empty one if there is none."""
        if self._memory is not None or self.path is None:
            return nullcontext(self._memory or BytesIO())
        return self.path.open("rb") if self.path.exists() else nullcontext(BytesIO())

    def _write(self, data: bytes) -> None:
        try:
            if self._writer is None:
                self._writer = self._open_writer()
            if self._memory is not None:
                self._memory.seek(0, 2)  # a file is opened to be appended to
            # nothing is buffered: what was written is the operating system's, also if this process dies
            done = self._writer.write(data)
            while done < len(data):
                done += self._writer.write(data[done:])
        except OSError as error:
            with suppress(OSError):
                if self._writer is not None:
                    self._writer.truncate(self._end)
            raise RecordError(
                f"{self.path} cannot be written: {error.strerror or error}; what it holds is kept"
            ) from error

    def _open_writer(self) -> BinaryIO | FileIO:
        """The file, ready for the next line."""
        if self.path is None:
            assert self._memory is not None, "lines without a file are in memory"
            return self._memory
        writer: FileIO = open(self.path, "a+b", buffering=0, opener=no_link)  # noqa: SIM115  kept open
        self._end, _ = self._whole()  # another process may have written since this one looked
        writer.truncate(self._end)
        self.is_cut = False
        if self._end:
            writer.seek(self._end - 1)
            self._end += writer.write(b"\n") if writer.read(1) != b"\n" else 0
        return writer

    def _whole(self) -> tuple[int, bool]:
        """End of the last complete line, and whether anything follows.

        A line without a line break is complete if it is JSON.
        """
        with self.opened() as file:
            size = start = file.seek(0, 2)
            tail = b""
            while start and b"\n" not in tail:
                start = max(0, start - 65536)
                file.seek(start)
                tail = file.read(size - start)
        last = tail[tail.rfind(b"\n") + 1 :]
        try:
            json.loads(last or b"{}")
        except (ValueError, RecursionError):
            return size - len(last), True
        return size, False
