"""Atomic writing of files, never through a link.

A folder may be untrusted. A link in it must not cause a file outside to be overwritten, and a pipe must not
block a command for ever. A hard link may be replaced, because the other name then keeps its content, but not
appended to.
"""

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any, Literal

from ragmetrics_core.errors import ConfigError, RecordError

__all__ = ["no_link", "not_a_link", "put_in_place", "replacing", "unwritable", "write_whole"]

# What not every system has.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_LINK = "is a link, and ragmetrics does not write through links: remove it first"
_OTHER_NAME = "is a hard link, so its other name would change, too: replace it with a copy first"


def no_link(path: str, flags: int) -> int:
    """Open a file for writing, unless it is a symbolic or hard link.

    An `opener` for `open`; not for truncating a file, see `put_in_place`.

    Raises:
        OSError: it is a link, or cannot be opened.
    """
    try:
        file = os.open(path, flags | _NO_LINK | _NO_WAIT, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, f"it {_LINK}") from error
        raise
    found = os.fstat(file)
    if S_ISREG(found.st_mode) and found.st_nlink > 1:
        os.close(file)
        raise OSError(errno.EMLINK, f"it {_OTHER_NAME}")
    return file


def put_in_place(path: Path, text: str) -> None:
    """Replace a small file of a run atomically, through a temporary file that ends in ".new".

    Any existing file or link of that temporary name is removed.

    Raises:
        RecordError: the file cannot be written; the earlier one is kept.
    """
    scratch = path.with_name(f"{path.name}.new")
    try:
        scratch.unlink(missing_ok=True)
        with open(scratch, "x", opener=no_link, encoding="utf-8") as file:
            file.write(text)
        os.replace(scratch, path)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise RecordError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path, mode: Literal["w", "wb"] = "w", **options: Any) -> Generator[Any]:
    """A file to write in a `with` block; it replaces the old file if the block succeeds.

    Raises:
        ConfigError: the file cannot be written; the earlier one is kept.
    """
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "not a regular file"
        raise ConfigError(f"{path} is {what}: give a file name")
    # a name that nobody knew before
    scratch = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}.new")
    with unwritable(path):
        file = open(scratch, mode.replace("w", "x"), opener=no_link, **options)  # noqa: SIM115  closed below
    try:
        with file:
            yield file
        with unwritable(path):
            os.replace(scratch, path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


@contextmanager
def unwritable(path: Path | str) -> Generator[None]:
    """Context that turns an `OSError` on writing into one sentence.

    Raises:
        ConfigError: instead of an `OSError` of the block.
    """
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file atomically; a text is written as UTF-8 with its own line ends.

    Raises:
        ConfigError: the file cannot be written; the earlier one is kept.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    with unwritable(path), replacing(path, "wb") as file:
        file.write(data)


def not_a_link(path: Path) -> Path:
    """Check that a path may be written to, and return it.

    Raises:
        ConfigError: it is a symbolic or hard link.
    """
    if path.is_symlink():
        raise ConfigError(f"{path} {_LINK}")
    if path.is_file() and path.stat().st_nlink - _own_names(path) > 1:
        raise ConfigError(f"{path} {_OTHER_NAME}")
    return path


def _own_names(path: Path) -> int:
    """Number of names that ragmetrics itself gave a file: a crash leaves the temporary one."""
    return sum(each.samefile(path) for each in path.parent.glob(f".{path.name}.*") if each.is_file())
