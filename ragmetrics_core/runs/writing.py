"""Files as they are written: whole or not at all, and never through a link that somebody put in their place.

A folder may come from somebody else. A link in it must not have a file outside overwritten, and a pipe must
not have a command wait for ever.
"""

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from ragmetrics_core.errors import ConfigError

__all__ = ["new_file", "no_link", "not_a_link", "replacing", "write_whole"]

# What not every system has.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def no_link(path: str, flags: int) -> int:
    """Open a file for writing, but not one that a link in its place leads to; an `opener` for `open`."""
    return os.open(path, flags | _NO_LINK | _NO_WAIT, 0o666)


def new_file(path: Path, mode: Literal["w", "wb"] = "w", **options: Any) -> Any:
    """Open a file of a name that nobody knew before, beside the one that it is to become.

    Its `name` says where it is; `os.replace` puts it in its place.

    Raises:
        ConfigError: in the place stands something that is no regular file.
        OSError: the folder cannot be written.
    """
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file"
        raise ConfigError(f"{path} is {what}: give the name of a file")
    scratch = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}.new")
    return open(scratch, mode.replace("w", "x"), opener=no_link, **options)


@contextmanager
def replacing(path: Path, mode: Literal["w", "wb"] = "w", **options: Any) -> Generator[Any]:
    """A file to write in a `with` block, which takes its place when the block ends without an error.

    Raises:
        ConfigError: it cannot be written; the earlier one is kept.
    """
    try:
        with new_file(path, mode, **options) as file:
            try:
                yield file
                file.flush()
            except BaseException:
                with suppress(OSError):
                    os.unlink(file.name)
                raise
        os.replace(file.name, path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file, whole or not at all; a text is written as UTF-8 with the line ends that it has.

    Raises:
        ConfigError: it cannot be written; the earlier one is kept.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    with replacing(path, "wb") as file:
        file.write(data)


def not_a_link(path: Path) -> Path:
    """The path of a file or a folder that is ours to write to.

    Raises:
        ConfigError: it is a link.
    """
    if path.is_symlink():
        raise ConfigError(f"{path} is a link, and nothing is written through links: remove it first")
    return path
