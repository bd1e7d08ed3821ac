"""A row as it was found, and the files that rows are found in."""

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, cast

from ragmetrics_core.errors import SampleError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["ReadRow", "kind_of", "opened", "refuse_repeated"]


# Text becomes three to ten times smaller; gzip makes what is nothing but repeated a thousand times smaller.
MOST_UNPACKED: Final = 200
ALWAYS_UNPACKED: Final = 2**26


class ReadRow(NamedTuple):
    """A row as it was found, or what is wrong with it."""

    where: str
    row: object = None
    textual: bool = False
    problem: str | None = None


def kind_of(path: Path) -> str:
    """What a file's name ends in: ".csv" for "samples.CSV" and "samples.csv.gz"."""
    return Path(path.stem if _is_packed(path) else path.name).suffix.lower()


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked as they are read where its name ends in ".gz".

    Raises:
        SampleError: while it is read: it is not whole, or unpacks to 200 times its size and over 64 MB.
    """
    return cast("BinaryIO", io.BufferedReader(_Unpacked(path))) if _is_packed(path) else path.open("rb")


def refuse_repeated(columns: Sequence[object], where: str) -> None:
    """Raise `SampleError` when two columns have one name."""
    seen: set[object] = set()
    for column in columns:
        if column in seen:
            raise SampleError(f"{where} has more than one column {column!r}; rename or drop one")
        seen.add(column)


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, as far as that is believable."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = gzip.open(path, "rb")  # noqa: SIM115  closed with this
        self._left = max(ALWAYS_UNPACKED, MOST_UNPACKED * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        try:
            count = self._file.readinto(buffer)
        except (OSError, EOFError, zlib.error) as error:
            raise SampleError(f"cannot read {str(self._path)!r}: {error}") from error
        self._left -= count
        if self._left < 0:
            raise SampleError(
                f"{str(self._path)!r} unpacks to over {MOST_UNPACKED} times its size, as no data does: "
                "unpack it first if it is what it should be"
            )
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
