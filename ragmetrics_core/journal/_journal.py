"""Every answered call by content address, on disk or in memory."""

import threading
import time
from collections.abc import Iterable
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.journal._statistics import IdentityStatistics, statistics_of

if TYPE_CHECKING:
    from ragmetrics_core.journal._database import Database

__all__ = ["Journal", "Pruned", "call_address"]

# What is put should be on disk after 50 ms; the rest of them is for the commit, next to a busy event loop.
_GATHERED = 0.03
_DAY = 24 * 60 * 60
# Used addresses that wait to be noted; a run that finds everything would otherwise keep them all.
_MANY_USED = 1000


class Pruned(NamedTuple):
    """Numbers of calls that `Journal.prune` removed and kept."""

    removed: int
    left: int


def call_address(identity: str, *parts: str) -> str:
    """The content address of a call: 32 hexadecimal digits, the same for the same call everywhere.

    Args:
        identity: the model's identity.
        parts: content of the call, e.g. the digest of the rendered messages and the number of the draw.
    """
    hashed = _begun(identity).copy()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8) + data)
    digest: str = hashed.hexdigest()
    return digest[:32]


@lru_cache(maxsize=64)
def _begun(identity: str) -> Any:
    """Hash of the common beginning of a model's addresses, which equal those of `digest_of`."""
    texts = [text.encode("utf-8", "surrogatepass") for text in ("call", identity)]
    return sha256(b"".join([len(text).to_bytes(8) + text for text in texts]))


class _Addresses:
    """Approximate set of addresses in a megabyte; possible members must be looked up."""

    _BITS = 23

    def __init__(self) -> None:
        self._marks = bytearray(2 ** (self._BITS - 3))

    def add(self, key: bytes) -> None:
        place = int.from_bytes(key[:4]) >> (32 - self._BITS)
        self._marks[place >> 3] |= 1 << (place & 7)

    def may_hold(self, key: bytes) -> bool:
        place = int.from_bytes(key[:4]) >> (32 - self._BITS)
        return bool(self._marks[place >> 3] & 1 << (place & 7))


class Journal:
    """Every answered call by content address; the first answer to a call stays.

    Answers can be read at once. A thread of the journal commits them to disk at most 50 ms after the first of
    a batch. Threads can share a journal, and processes can share its file. After an error (full disk, damage)
    every further use fails with the same message; committed answers stay.

    Args:
        path: the file, in a folder that exists; None keeps everything in memory.
        alone: no other process writes to the file meanwhile, which saves lookups in a new file.

    Raises:
        RecordError: the file is not a journal, is damaged, has a newer format, or cannot be written. It is
            not changed.

    >>> with Journal() as journal:
    ...     journal.put(call_address("model", "question"), b"answer", identity="model")
    ...     journal.get(call_address("model", "question"))
    b'answer'
    """

    def __init__(self, path: str | Path | None = None, *, alone: bool = False) -> None:
        self.path = None if path is None else Path(path)
        # `_pending` becomes `_writing` when a commit begins; both can be read without the lock.
        self._pending: dict[bytes, _Put] = {}
        self._writing: dict[bytes, _Put] = {}
        self._used: dict[bytes, None] = {}
        self._lock = threading.Lock()
        self._committing = threading.RLock()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: RecordError | None = None
        self._told = False
        self._put_here: _Addresses | None = None
        if self.path is not None:
            # opened now, so that what is wrong with the file is told before anything is asked
            database = self._database
            is_empty = alone and database.count() == 0
            self._put_here = _Addresses() if is_empty else None

    def get(self, address: str) -> bytes | None:
        """The answer to a call; None if there is none.

        Raises:
            RecordError: the journal has failed, or the answer was altered after it was stored.
        """
        if self._failure is not None:
            self._raise()
        key = bytes.fromhex(address)
        # In this order: what leaves the one is in the next by then.
        put = self._pending.get(key) or self._writing.get(key)
        if put is not None:
            return put.body
        if self.path is None and "_database" not in self.__dict__:
            return None
        if self._put_here is not None and not self._put_here.may_hold(key):
            return None
        found = self._database.read(key)
        if found is None:
            return None
        body, used = found
        if time.time() - used > _DAY:
            self._note_use(key)
        return body

    def put(self, address: str, body: bytes, *, identity: str) -> None:
        """Store the answer to a call, unless it has one already.

        Args:
            address: see `call_address`.
            body: the answer; see `encode_reply`, `encode_vector`, `encode_rating`.
            identity: the model that gave it.

        Raises:
            RecordError: the journal has failed.
        """
        key = bytes.fromhex(address)
        put = _Put(body, identity, int(time.time()))
        with self._lock:
            if self._failure is not None:
                self._raise()
            if key in self._writing:
                return
            first = not self._pending
            self._pending.setdefault(key, put)
            if self._put_here is not None:
                self._put_here.add(key)
        if first:
            self._wake_thread()

    def forget(self, addresses: Iterable[str]) -> None:
        """Remove answers, so that these calls are made again.

        Raises:
            RecordError: the journal has failed.
        """
        with self._committing:
            self.flush()
            self._database.forget(map(bytes.fromhex, addresses))

    def flush(self) -> None:
        """Commit all answers now.

        Raises:
            RecordError: they could not be committed.
        """
        self._commit()
        if self._failure is not None:
            self._raise()

    def close(self) -> None:
        """Commit all answers and close the file; does nothing if closed already.

        Raises:
            RecordError: a commit failed and no earlier call raised its error.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._commit()
        failure, told = self._failure, self._told
        with self._lock:
            self._failure = failure or RecordError(f"the journal {self._name} is closed")
        if "_database" in self.__dict__:
            self._database.close()
        if failure is not None and not told:
            self._raise()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __bool__(self) -> bool:
        """True: an empty journal is a journal."""
        return True

    def __len__(self) -> int:
        """Number of calls."""
        self.flush()
        return self._database.count()

    def statistics(self) -> tuple[IdentityStatistics, ...]:
        """Statistics of each model, by identity. Reads, and so checks, every answer.

        Raises:
            RecordError: an answer was altered, or the file cannot be read.
        """
        self.flush()
        return statistics_of(self._database.rows())

    def prune(
        self,
        *,
        older_than_days: float | None = None,
        keep_bytes: int | None = None,
        identity: str | None = None,
    ) -> Pruned:
        """Remove unneeded answers and free their disk space.

        Args:
            older_than_days: remove answers that were not used for this number of days.
            keep_bytes: then remove the least recently used answers until the rest has at most this size.
            identity: remove only answers of this model; without the other two, all of them.

        Raises:
            ConfigError: no argument is given, or a number is negative.
            RecordError: the journal cannot be written.
        """
        if older_than_days is None and keep_bytes is None and identity is None:
            raise ConfigError("say what to remove: older_than_days, keep_bytes or identity")
        for name, value in {"older_than_days": older_than_days, "keep_bytes": keep_bytes}.items():
            if value is not None and not value >= 0:
                raise ConfigError(f"{name} must not be negative, not {value}")
        with self._committing:
            before = len(self)
            since = None if older_than_days is None else int(time.time() - older_than_days * _DAY)
            self._database.prune(unused_since=since, keep_bytes=keep_bytes, identity=identity)
            left = len(self)
        return Pruned(removed=before - left, left=left)

    def absorb(self, other: str | Path) -> int:
        """Copy the answers of another journal; existing answers stay.

        Returns:
            The number of copied answers.

        Raises:
            RecordError: the other file is not a journal, or one of them is damaged or cannot be used.
        """
        from ragmetrics_core.journal._database import Database

        with self._committing:
            before = len(self)
            self._put_here = None
            source = Database(_resolved(Path(other)), str(other), create=False, writable=False)
            try:
                self._database.write(source.rows())
            finally:
                source.close()
            return len(self) - before

    @cached_property
    def _database(self) -> "Database":
        # Here, so that a process that only imports ragmetrics does not load SQLite.
        from ragmetrics_core.journal._database import Database

        return Database(None if self.path is None else _resolved(self.path), self._name)

    @property
    def _name(self) -> str:
        return "in memory" if self.path is None else str(self.path)

    def _note_use(self, key: bytes) -> None:
        with self._lock:
            self._used[key] = None
            many = len(self._used) >= _MANY_USED
        if many:
            self._wake_thread()

    def _wake_thread(self) -> None:
        if self.path is None:
            return  # memory needs no commit
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closing.is_set():
                    self._thread = threading.Thread(
                        target=self._commit_batches, name="ragmetrics-journal", daemon=True
                    )
                    self._thread.start()
        self._wake.set()

    def _commit_batches(self) -> None:
        while self._failure is None:
            self._wake.wait()
            if self._closing.wait(_GATHERED):
                return  # `close` commits the rest
            # Cleared before the batch is taken: what is put from now on is in it, or wakes again.
            self._wake.clear()
            if self._closing.is_set():
                return  # `close` came in between, and its wake-up was cleared with the others
            self._commit()

    def _commit(self) -> None:
        """Commit all answers; the next use raises any error."""
        from ragmetrics_core.journal._database import AnsweredCall

        with self._committing:
            with self._lock:
                if self._failure is not None or not (self._pending or self._used):
                    return
                self._writing = self._pending
                self._pending = {}
                used, self._used = list(self._used), {}
            try:
                self._database.write(
                    (
                        AnsweredCall(key, put.identity, created=put.time, used=put.time, body=put.body)
                        for key, put in self._writing.items()
                    ),
                    used,
                    now=int(time.time()),
                )
            except RecordError as error:
                self._failure = error
            else:
                self._writing = {}

    def _raise(self) -> None:
        self._told = True
        raise RecordError(str(self._failure)) from self._failure


class _Put(NamedTuple):
    """An answer that is not yet in the database."""

    body: bytes
    identity: str
    time: int


def _resolved(path: Path) -> Path:
    return path.expanduser().resolve()
