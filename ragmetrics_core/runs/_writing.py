"""Files as they are written: whole or not at all, and never through a link that somebody put in their place.

A folder may come from somebody else. A link in it must not have a file outside overwritten, and a pipe must
not have a command wait for ever. A hard link is a file with another name elsewhere: it may be replaced, for
then the other name keeps what it had, but nothing is added to it.
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
_LINK = "is a link, and nothing is written through links: remove it first"
_OTHER_NAME = "has another name elsewhere (a hard link), and both would change: put a copy in its place first"


def no_link(path: str, flags: int) -> int:
    """Open a file for writing, but none that has another name elsewhere, by a link of either kind.

    An `opener` for `open`; not for a file that is to be emptied, see `put_in_place`.

    Raises:
        OSError: it is such a link, or cannot be opened.
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
    """Replace a small file of a run, whole or not at all, by way of one beside it that ends in ".new".

    What stood in the place of that one is removed, wherever it led.

    Raises:
        RecordError: it cannot be written; the earlier one is kept.
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
    """A file to write in a `with` block, which takes its place when the block ends without an error.

    Raises:
        ConfigError: it cannot be written; the earlier one is kept.
    """
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise ConfigError(f"{path} is {what}: give the name of a file")
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
    """What the system says against writing a file or a folder, as one sentence.

    Raises:
        ConfigError: in place of an `OSError` of the block.
    """
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file, whole or not at all; a text is written as UTF-8 with the line ends that it has.

    Raises:
        ConfigError: it cannot be written; the earlier one is kept.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    with unwritable(path), replacing(path, "wb") as file:
        file.write(data)


def not_a_link(path: Path) -> Path:
    """The path of a file or a folder that is ours to write to.

    Raises:
        ConfigError: it is a link, or a file that has another name elsewhere.
    """
    if path.is_symlink():
        raise ConfigError(f"{path} {_LINK}")
    if path.is_file() and path.stat().st_nlink - _own_names(path) > 1:
        raise ConfigError(f"{path} {_OTHER_NAME}")
    return path


def _own_names(path: Path) -> int:
    """How many names of its own making a file has: a crash leaves the one under which it was begun."""
    return sum(each.samefile(path) for each in path.parent.glob(f".{path.name}.*") if each.is_file())
