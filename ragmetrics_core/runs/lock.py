"""The lock of a run folder: one writer at a time, and nothing to clear away after a crash."""

import json
import os
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs.writing import no_link

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["FolderLock"]


# Seconds. Whoever lists runs takes the lock for a moment to see whether it is held: no run may fail for that.
_PATIENCE = 0.1


class FolderLock:
    """Lets one run at a time write to a folder.

    The operating system holds the lock (`flock`) and lets go of it when the process ends, in whatever way;
    the file itself stays, empty, and means nothing. Beside it, as long as the lock is held, stands who holds
    it. Whoever removes the folder's contents must leave both files (`FolderLock.FILES`) where they are.

    Args:
        path: the folder; it is made when it is missing.

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
        """Take the lock, at once or not at all.

        Raises:
            ConfigError: another run writes to the folder, or it cannot be written.
        """
        # Imported where it is used: loading it takes as long as a fifth of everything else.
        from filelock import FileLock, Timeout

        if self._lock is not None:
            raise ConfigError(f"this run holds the lock of {self.path} already")
        file, beside = (self.path / name for name in self.FILES)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # It may be released in another thread than the one that takes it.
            lock = FileLock(file, thread_local=False)
            lock.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
        except Timeout:
            raise ConfigError(
                f"{_holder(beside)} writes to the run {self.path}: wait until it ends or "
                "choose another folder"
            ) from None
        except OSError as error:
            raise ConfigError(
                f"the run folder {self.path} cannot be written: {error.strerror or error}"
            ) from error
        self._lock = lock
        with suppress(OSError):  # a full disk: the lock holds all the same, only its holder stays unnamed
            _note_holder(beside)
        return self

    def release(self) -> None:
        """Let go of the lock; without holding it, this does nothing."""
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


def _note_holder(file: Path) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
    }
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        with open(scratch, "w", encoding="utf-8", opener=no_link) as written:
            written.write(json.dumps(holder) + "\n")
        os.replace(scratch, file)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def _holder(file: Path) -> str:
    """Who holds the lock, as far as it is known."""
    try:
        noted: Any = json.loads(file.read_bytes())
        pid, host, since = noted["pid"], noted["host"], noted["since"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return "another process"
    if host == socket.gethostname():
        if pid == os.getpid():
            return f"another run of this process (pid {pid} on {host}, since {since})"
        if not _lives(pid):
            # It crashed, and the new holder has not put its name there yet.
            return "another process"
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
