"""Files that may be packed with gzip, and how they are named."""

import gzip
import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragmetrics_core.errors import SampleError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["ALWAYS_UNPACKED", "MOST_UNPACKED", "is_packed", "kind_of", "opened"]

# Text becomes three to ten times smaller; gzip makes what is nothing but repeated a thousand times smaller.
MOST_UNPACKED: Final = 200
ALWAYS_UNPACKED: Final = 2**26


def kind_of(path: Path) -> str:
    """Normalized suffix of a file name: ".csv" for "samples.CSV" and "samples.csv.gz"."""
    return Path(path.stem if is_packed(path) else path.name).suffix.lower()


def opened(path: Path) -> io.BufferedReader:
    """The bytes of a file, unpacked on the fly if its name ends in ".gz".

    Raises:
        SampleError: while reading, if it is truncated, or unpacks to 200 times its size and over 64 MB.
    """
    return io.BufferedReader(_Unpacked(path)) if is_packed(path) else path.open("rb")


def is_packed(path: Path) -> bool:
    """Whether a file's name says that it is packed."""
    return path.suffix.lower() == ".gz"


class _Unpacked(io.RawIOBase):
    """Content of a gzip file, with a limit on its size."""

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
