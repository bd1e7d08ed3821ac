"""The lock of a run folder: one writer at a time, and no stale locks after a crash."""

import json
import os
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ragmetrics_core.boundary.writing import put_in_place, unwritable
from ragmetrics_core.errors import ConfigError, RecordError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["FolderLock", "is_held"]


# Seconds. Whoever looks at a run touches the lock for a moment to see whether it is held: no run may fail for
# that. A machine may be busy in that moment, so it is tried again as long as no living holder is named.
_PATIENCE = 0.1
_TIMES = 20
_NAMELESS = "another process"


class FolderLock:
    """Lock that lets one run at a time write to a folder.

    The operating system holds the lock (`flock`) and releases it when the process ends, however it ends. The
    empty lock file stays and means nothing. A second file names the holder while the lock is held. Code that
    removes the folder's contents must keep both files (`FolderLock.FILES`).

    Args:
        path: the folder; created if missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(folder) as lock:
    ...     lock.held
    True
    """

    FILES = (".lock", ".lock.json")

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: BaseFileLock | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock is not None

    def acquire(self) -> Self:
        """Take the lock without waiting.

        Raises:
            ConfigError: another run is writing to the folder, or it cannot be written.
        """
        # Imported where it is used: loading it takes as long as a fifth of everything else.
        from filelock import FileLock, Timeout

        if self._lock is not None:
            raise ConfigError(f"this run holds the lock of {self.path} already")
        file, beside = (self.path / name for name in self.FILES)
        with unwritable(f"the run folder {self.path}"):
            self.path.mkdir(parents=True, exist_ok=True)
            # It may be released in another thread than the one that takes it.
            lock = FileLock(file, thread_local=False)
            for _ in range(_TIMES):
                with suppress(Timeout):
                    lock.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
                if lock.is_locked or _holder(beside) != _NAMELESS:
                    break
        if not lock.is_locked:
            raise ConfigError(
                f"{_holder(beside)} writes to the run {self.path}: wait until it ends or "
                "choose another folder"
            )
        self._lock = lock
        with suppress(RecordError):  # a full disk: the lock holds all the same, only its holder stays unnamed
            _note_holder(beside)
        return self

    def release(self) -> None:
        """Release the lock; does nothing if it is not held."""
        lock, self._lock = self._lock, None
        if lock is not None:
            with suppress(OSError):  # the folder may be gone, or read-only by now
                (self.path / self.FILES[1]).unlink()
            lock.release()

    def __enter__(self) -> Self:
        return self if self.held else self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether a process is writing to a folder; checked without writing."""
    file = path / FolderLock.FILES[0]
    try:
        import fcntl
    except ImportError:
        return _is_taken(file)
    try:
        lock = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:  # there is none, or it cannot be looked at, and no writer is seen
        return False
    try:
        # shared: any number may look at the same time, and none is taken for a writer
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
    return False


def _is_taken(file: Path) -> bool:
    """`is_held` on a system without `flock`: try to take the lock."""
    from filelock import FileLock, Timeout

    if not os.access(file, os.W_OK):
        return False
    try:
        with FileLock(file, timeout=0):
            return False
    except Timeout:
        return True


def _note_holder(file: Path) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
    }
    put_in_place(file, json.dumps(holder) + "\n")


def _holder(file: Path) -> str:
    """Description of the lock's holder, as far as known."""
    try:
        noted: Any = json.loads(file.read_bytes())
        pid, host, since = noted["pid"], noted["host"], noted["since"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return _NAMELESS
    if host == socket.gethostname():
        if pid == os.getpid():
            return f"another run of this process (pid {pid} on {host}, since {since})"
        if not _lives(pid):
            # It crashed, and the new holder has not put its name there yet.
            return _NAMELESS
    return f"another process (pid {pid} on {host}, since {since})"


def _lives(pid: object) -> bool:
    if not isinstance(pid, int) or pid <= 0:
        return False
    if os.name == "nt":  # where signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # not ours to signal, and so alive
        return True
    return True
