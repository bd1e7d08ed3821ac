"""The index of a long run, kept beside its files, so that nobody has to read them all to open one score.

The files are the truth, and an audit never reads the index in their place. Its name is made of what the
system says of the very files that were read: device, number, size, and to the nanosecond when they were
changed last. So an index that came with a folder, or one of files that were changed since, has the wrong name
and is not even opened.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path

from ragmetrics_core.journal._connection import Connection
from ragmetrics_core.runs._writing import no_link

__all__ = ["Identity", "identity_of", "keep_index", "keep_written", "kept_index", "remove_kept"]

FORMAT = 2
# Bytes of records: fewer are read in the time that it takes to look for an index.
LONG = 2**20
# Seconds within which two changes may have the same time.
TICK = 0.05

# What the name of an index is made of; None where there is nothing to keep one of.
Identity = str | None


def identity_of(folder: Path) -> Identity:
    """What the system says of the files of a run; None when they are short, or changed this very moment."""
    try:
        found = [os.stat(folder / name) for name in ("records.jsonl", "samples.jsonl")]
    except OSError:
        return None
    changed = max(max(each.st_mtime_ns, each.st_ctime_ns) for each in found)
    if found[0].st_size < LONG or time.time_ns() - changed < TICK * 1e9:
        return None
    told = [(each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in found]
    return blake2b(repr((FORMAT, told)).encode(), digest_size=16).hexdigest()


def kept_index(folder: Path, identity: Identity) -> Connection | None:
    """The index that was kept of the files of a folder; None when there is none, or one that is not whole."""
    if identity is None:
        return None
    path = folder / _name(identity)
    try:
        size = path.stat(follow_symlinks=False).st_size
        rows = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        pages = (rows.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if int(next(pages)) * int(next(pages)) == size:
            return rows
    except (OSError, sqlite3.Error):
        pass
    return None


def keep_index(folder: Path, identity: Identity, rows: sqlite3.Connection) -> None:
    """Keep an index of the files of a folder in place of any other; where that cannot be, nothing happens."""
    if identity is None:
        return
    path = folder / _name(identity)
    scratch = path.with_suffix(".new")
    with suppress(OSError, sqlite3.Error):
        scratch.unlink(missing_ok=True)
        os.close(no_link(str(scratch), os.O_CREAT | os.O_EXCL | os.O_RDWR))
        try:
            with closing(sqlite3.connect(scratch, isolation_level=None)) as copy:
                copy.execute("PRAGMA journal_mode = OFF")
                rows.backup(copy)
            remove_kept(folder, but=(path.name, scratch.name))
            os.replace(scratch, path)
        finally:
            scratch.unlink(missing_ok=True)


def keep_written(folder: Path, rows: Callable[[], sqlite3.Connection]) -> None:
    """Keep the index of a run that this process has just written, where it is long."""
    with suppress(OSError):
        if (folder / "records.jsonl").stat().st_size >= LONG:
            # what is written in the same moment has the same time, and could not be told apart
            time.sleep(TICK)
            keep_index(folder, identity_of(folder), rows())


def remove_kept(folder: Path, *, but: Sequence[str] = ()) -> None:
    """Remove the kept indexes of a folder."""
    for path in folder.glob(_name("?" * 32)):
        if path.name not in but:
            path.unlink(missing_ok=True)


def _name(identity: str) -> str:
    return f".index-{identity}.sqlite"
