"""The journal's file: a checked SQLite database in WAL mode.

Problems of a file raise an error before anything is written to it. A file is checked when it is opened
(`PRAGMA quick_check`, about 0.8 s per cached gigabyte). Otherwise a damaged page may be noticed hours into a
run or never: a broken index loses calls, which are then paid for again. Files larger than `_LOOKED_OVER` are
not checked, because every run that shares such a cache would wait. Each row's digest is checked whenever it
is read, so damage never becomes an answer.
"""

import os
import secrets
import sqlite3
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from ragmetrics_core.errors import RecordError
from ragmetrics_core.journal.connection import Connection

__all__ = ["AnsweredCall", "Database"]

T = TypeVar("T")

_MAGIC = b"SQLite format 3\0"
_APPLICATION = int.from_bytes(b"RGMJ")
_VERSION = 1
_LOOKED_OVER = 2**28
# Another process holds the lock for the milliseconds of a commit, or for a `cache prune`, which takes longer.
_PATIENCE = 60.0
# 6 values for each row stay below the 999 that an old SQLite takes in one statement.
_ROWS_AT_ONCE = 150

_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE identities (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE calls (
    address BLOB PRIMARY KEY,
    identity INTEGER NOT NULL REFERENCES identities,
    created INTEGER NOT NULL,
    used INTEGER NOT NULL,
    digest BLOB NOT NULL,
    body BLOB NOT NULL
);
"""
_FOREIGN = "SELECT 1 FROM sqlite_schema WHERE type IN ('view', 'trigger')"
_ONE = "SELECT body, digest, used FROM calls WHERE address = ?"
_ALL = """SELECT address, name, created, used, digest, body
FROM calls JOIN identities ON identities.id = calls.identity ORDER BY calls.rowid"""
# The first answer stays: two runs that share a journal agree.
_ADD = "INSERT INTO calls VALUES {} ON CONFLICT(address) DO NOTHING"


class AnsweredCall(NamedTuple):
    """An answered call; times are in seconds since 1970."""

    address: bytes
    identity: str
    created: int
    used: int
    body: bytes


class Database:
    """The calls in a file or in memory; thread-safe.

    Args:
        path: the file; None for memory.
        name: name of the file in messages.
        create: create a missing file.
        writable: False opens the file for reading only; it may then be in a read-only folder.

    Raises:
        RecordError: the file cannot be used; it is not changed.
    """

    def __init__(self, path: Path | None, name: str, *, create: bool = True, writable: bool = True) -> None:
        self._name = name
        self._reading = threading.Lock()
        self._identities: dict[str, int] = {}
        with self._advised():
            if path is None:
                self._reader = self._writer = _connect(":memory:")
                self._writer.executescript(_SCHEMA)
                return
            if create and not os.path.lexists(path):
                self._create(path)
            self._check_header(path)
            self._check_pages(path, writable=writable)
            if not writable:
                self._reader = self._writer = _connect(_uri(path, writable=False))
                return
            self._writer = _connect(_uri(path))
            # Without this an unwritable file would be noticed by the first commit, after paid calls.
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.execute("ROLLBACK")
            # The write-ahead log survives the end of the process as it is; only at a checkpoint is
            # anything forced onto the disk, so that a power cut may cost the latest commits, no more.
            self._writer.execute("PRAGMA synchronous = NORMAL")
            self._reader = _connect(_uri(path))

    def read(self, address: bytes) -> tuple[bytes, int] | None:
        """Body and last use of a call.

        Raises:
            RecordError: the row is damaged, or the file cannot be read.
        """
        try:
            with self._reading:
                found = self._reader.execute(_ONE, (address,)).fetchone()
        except _FAILURES as error:
            raise self._error(error) from error
        if found is None:
            return None
        body, digest, used = found
        self._check_digest(address, body, digest)
        return body, used

    def write(self, rows: Iterable[AnsweredCall], used: Sequence[bytes] = (), *, now: int = 0) -> None:
        """Add rows with new addresses and update the last use of addresses.

        All or nothing.

        Raises:
            RecordError: it cannot be written.
        """
        with self._transaction():
            # One statement for many rows: SQLite works without the interpreter's lock, and getting it back
            # from a busy event loop after each row would take many times the 50 ms of a commit.
            for some in _chunks(rows, _ROWS_AT_ONCE):
                values = [value for row in some for value in self._values(row)]
                self._writer.execute(_ADD.format(",".join(["(?,?,?,?,?,?)"] * len(some))), values)
            for addresses in _chunks(used, _ROWS_AT_ONCE):
                marks = ",".join("?" * len(addresses))
                self._writer.execute(
                    f"UPDATE calls SET used = ? WHERE address IN ({marks})", (now, *addresses)
                )

    def forget(self, addresses: Iterable[bytes]) -> None:
        """Remove calls; unknown addresses are ignored."""
        with self._transaction():
            self._writer.executemany("DELETE FROM calls WHERE address = ?", ((key,) for key in addresses))

    def rows(self) -> Iterator[AnsweredCall]:
        """All calls, in order of arrival.

        Raises:
            RecordError: a row is damaged, or the file cannot be read.
        """
        with self._advised():
            for address, name, created, used, digest, body in self._reader.execute(_ALL):
                self._check_digest(address, body, digest)
                yield AnsweredCall(address, name, created, used, body)

    def count(self) -> int:
        """Number of calls."""
        with self._advised(), self._reading:
            return int(self._reader.execute("SELECT count(*) FROM calls").fetchone()[0])

    def prune(self, *, unused_since: int | None, keep_bytes: int | None, identity: str | None) -> None:
        """Remove calls unused since a time, then the least recently used; see `Journal.prune`."""
        mine = "TRUE"
        names: tuple[str, ...] = ()
        if identity is not None:
            mine, names = "identity IN (SELECT id FROM identities WHERE name = ?)", (_storable(identity),)
        with self._transaction():
            if unused_since is not None:
                self._writer.execute(f"DELETE FROM calls WHERE {mine} AND used < ?", (*names, unused_since))
            if keep_bytes is not None:
                totals = (
                    "SELECT address, sum(length(body)) OVER (ORDER BY used DESC, rowid DESC) AS total "
                    f"FROM calls WHERE {mine}"
                )
                surplus = f"SELECT address FROM ({totals}) WHERE total > ?"
                self._writer.execute(f"DELETE FROM calls WHERE address IN ({surplus})", (*names, keep_bytes))
            if unused_since is None and keep_bytes is None:
                self._writer.execute(f"DELETE FROM calls WHERE {mine}", names)
        with self._advised():
            self._writer.execute("VACUUM")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """End reading and writing."""
        with self._advised():
            self._reader.close()
            self._writer.close()

    def _create(self, path: Path) -> None:
        """Create the file with its tables atomically."""
        if not path.parent.is_dir():
            raise RecordError(
                f"there is no folder {path.parent} for the journal {self._name}: create it first"
            )
        log = path.with_name(f"{path.name}-wal")
        # asked in this order: another process may make both right now, and it makes the log last
        if log.exists() and not path.exists():
            # SQLite would take the log of an earlier file for this one's.
            raise RecordError(
                f"the journal {self._name} is gone but its file {log.name} is not: put the journal back, or "
                "move that file aside too"
            )
        scratch = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        try:
            with closing(_connect(str(scratch))) as connection:
                connection.executescript(f"PRAGMA journal_mode = WAL; BEGIN; {_SCHEMA} COMMIT;")
            with suppress(FileExistsError):  # another process was first, which is as well
                os.link(scratch, path)
        except OSError:
            os.rename(scratch, path)  # a file system without hard links
        finally:
            for rest in ("", "-wal", "-shm"):
                scratch.with_name(scratch.name + rest).unlink(missing_ok=True)

    def _check_header(self, path: Path) -> None:
        """Check the first bytes, because SQLite would write to files of other programs."""
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "not a regular file"
            raise RecordError(f"the journal {self._name} is {what}: give the path of a file")
        with path.open("rb") as file:
            head = file.read(100)
        if not head:
            raise self._damaged("the file is empty")
        if not head.startswith(_MAGIC[: len(head)]) or int.from_bytes(head[68:72]) != _APPLICATION:
            raise RecordError(f"{self._name} is not a journal of ragmetrics: choose another path")
        self._check_version(int.from_bytes(head[60:64]))

    def _check_version(self, version: int) -> None:
        if version > _VERSION:
            raise RecordError(
                f"the journal {self._name} has format {version} and this version of ragmetrics knows up to "
                f"{_VERSION}: update ragmetrics or choose another path"
            )

    def _check_pages(self, path: Path, *, writable: bool) -> None:
        """Check all pages through a read-only connection, which does not even apply the log."""
        if writable:
            for needed in (path, path.parent):
                if not os.access(needed, os.W_OK):
                    raise self._unwritable()
        with closing(_connect(_uri(path, writable=False))) as connection:
            # The header's version may be older than one that is still in the log.
            self._check_version(connection.execute("PRAGMA user_version").fetchone()[0])
            # A file of somebody else could have these run, or never end, whenever it is read or written.
            if connection.execute(_FOREIGN).fetchone() is not None:
                raise RecordError(
                    f"{self._name} is not a journal of ragmetrics (it has views or triggers): choose another "
                    "path"
                )
            if path.stat().st_size <= _LOOKED_OVER:
                found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if found != "ok":
                    raise self._damaged(" ".join(str(found).removeprefix("*** in database main ***").split()))

    def _check_digest(self, address: bytes, body: object, digest: object) -> None:
        if not isinstance(body, bytes) or _digest(address, body) != digest:
            raise self._damaged(f"the stored answer {address.hex()} was altered")

    def _values(self, row: AnsweredCall) -> tuple[bytes, int, int, int, bytes, bytes]:
        number = self._identities.get(row.identity)
        if number is None:
            name = _storable(row.identity)
            self._writer.execute("INSERT INTO identities(name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
            number = self._writer.execute("SELECT id FROM identities WHERE name = ?", (name,)).fetchone()[0]
            self._identities[row.identity] = number
        return row.address, number, row.created, row.used, _digest(row.address, row.body), row.body

    @contextmanager
    def _transaction(self) -> Generator[None]:
        """Write everything in the block or nothing."""
        with self._advised():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                self._identities.clear()
                with suppress(sqlite3.Error):  # SQLite has ended the transaction itself after some errors
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def _advised(self) -> Generator[None]:
        """Turn errors of SQLite and the system into advice for the user."""
        try:
            yield
        except _FAILURES as error:
            raise self._error(error) from error

    def _error(self, error: Exception) -> RecordError:
        if isinstance(error, PermissionError):
            return self._unwritable()
        if isinstance(error, OSError):
            return RecordError(f"the journal {self._name} cannot be used: {error.strerror or error}")
        # without a name: a value of a wrong type, or no text
        name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
        for prefixes, sentence in _SENTENCES:
            if name.startswith(prefixes):
                return RecordError(f"the journal {self._name} {sentence.format(error=error)}")
        return RecordError(f"the journal {self._name} cannot be used: {error}")

    def _damaged(self, what: str) -> RecordError:
        return RecordError(f"the journal {self._name} is damaged ({what}): {_ASIDE}")

    def _unwritable(self) -> RecordError:
        return RecordError(f"the journal {self._name} {_UNWRITABLE}")


# SQLite quotes a damaged file in its messages, which then may be no text.
_FAILURES = (OSError, sqlite3.Error, UnicodeDecodeError)
_ASIDE = "move it and its -wal file aside and repeat the command, which makes the missing calls again"
_UNWRITABLE = "cannot be opened for writing: make the file and its folder writable, or choose another path"

# What to say, by the beginning of the error's name.
_SENTENCES: Sequence[tuple[tuple[str, ...], str]] = (
    (("SQLITE_CORRUPT", "SQLITE_NOTADB"), f"is damaged ({{error}}): {_ASIDE}"),
    (
        ("SQLITE_FULL", "SQLITE_IOERR"),
        "could not be read or written ({error}): is the disk full? What it held is intact: free some space "
        "and repeat the command",
    ),
    (("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"), _UNWRITABLE),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"),
        f"was locked by another process for {_PATIENCE:g} seconds: wait for it, then repeat the command",
    ),
)


def _connect(where: str) -> Connection:
    return sqlite3.connect(
        where,
        uri=where.startswith("file:"),
        timeout=_PATIENCE,
        isolation_level=None,  # transactions begin and end where the code says so
        check_same_thread=False,
        factory=Connection,
    )


def _uri(path: Path, *, writable: bool = True) -> str:
    """The file as a URI: with rw, SQLite never creates it; with ro, it never writes to it."""
    if writable:
        return f"{path.as_uri()}?mode=rw"
    # A log needs a writable folder, even for reading; where there is no log, nobody is writing.
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"


def _digest(address: bytes, body: bytes) -> bytes:
    """Digest of a body with its address, which detects swapped bodies."""
    return sha256(address + body).digest()[:16]


def _storable(identity: str) -> str:
    """An identity that SQLite can store: unpaired surrogates are escaped."""
    return identity if identity.isascii() else identity.encode("utf-8", "backslashreplace").decode()


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
