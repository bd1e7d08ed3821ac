"""A row as it was found, and the files that rows are found in."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from ragmetrics_core.errors import SampleError

__all__ = ["Found", "kind_of", "opened", "refuse_repeated"]


class Found(NamedTuple):
    """A row as it was found, or what is wrong with it."""

    where: str
    row: object = None
    textual: bool = False
    problem: str | None = None


def kind_of(path: Path) -> str:
    """What a file's name ends in: ".csv" for "samples.CSV" and "samples.csv.gz"."""
    return Path(path.stem if _is_packed(path) else path.name).suffix.lower()


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked where its name ends in ".gz"."""
    return cast("BinaryIO", gzip.open(path, "rb")) if _is_packed(path) else path.open("rb")


def refuse_repeated(columns: Sequence[object], where: str) -> None:
    """Raise `SampleError` when two columns have one name."""
    repeated = next((column for column in columns if columns.count(column) > 1), None)
    if repeated is not None:
        raise SampleError(f"{where} has more than one column {repeated!r}; rename or drop one")


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
