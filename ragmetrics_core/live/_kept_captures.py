"""Captures on disk until they are scored, so that a killed process loses none."""

import json
import logging
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from ragmetrics_core.boundary.writing import not_a_link, write_whole
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.live._processes import leave_to_parent, renew_in_child
from ragmetrics_core.live._run_sink import Left
from ragmetrics_core.live.places import CAPTURES_FILE, Places, capture_places
from ragmetrics_core.runs import Folder
from ragmetrics_core.runs.append_only_lines import Lines
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.runs.removal import CAPTURES
from ragmetrics_core.samples import Sample

__all__ = ["KeptCaptures"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Bytes that a file may have beyond twice those of what waits. While it is written anew, both files are there:
# together they stay below three times what waits, and 1 MB.
_SPARE = 900_000


class _OwnFile(NamedTuple):
    """The file of this process."""

    lock: FolderLock
    lines: Lines


class KeptCaptures:
    """Samples waiting for scores, in the run folder; each process has its own file and lock.

    A line is written when a capture is accepted and another when it is scored. A file longer than 1 MB plus
    three times the waiting lines is replaced by one with the waiting lines only. The next process that opens
    the folder takes over the captures of a killed one; scores that have a record in one of the folder's runs,
    or in those of parallel processes, are not computed again.

    Args:
        places: the folder and its runs, including those of parallel processes.
        limit: maximum number of waiting samples; beyond that the oldest is dropped.

    Attributes:
        folder: the folder.

    Raises:
        ConfigError: the captures' folder is a link, whose target must not be removed.
    """

    def __init__(self, places: Places, *, limit: int = 10_000) -> None:
        self._places = places
        self.folder = places.folder
        captures = not_a_link(self.folder / CAPTURES)
        if captures.exists() and not captures.is_dir():
            raise ConfigError(f"{captures} is a file, not the folder of captures: remove it first")
        self._limit = limit
        self._begin()
        renew_in_child(self)

    def _begin(self) -> None:
        self._writing = threading.Lock()
        self._waiting: dict[str, bytes] = {}
        self._own: _OwnFile | None = None

    def after_fork(self) -> None:
        """Reset in a forked child; waiting captures belong to the parent."""
        leave_to_parent(self._own)
        self._begin()

    def keep(self, sample: Sample) -> None:
        """Write a waiting sample.

        Raises:
            RagMetricsError: writing failed.
        """
        with self._writing:
            line = f'{{"sample":{sample.model_dump_json(exclude_none=True)}}}'.encode()
            self._append(line)
            self._waiting[sample.id] = line
            oldest = next(iter(self._waiting)) if len(self._waiting) > self._limit else None
        if oldest is not None:
            self.done(oldest)

    def holds(self, sample_id: str) -> bool:
        """Whether a sample is waiting."""
        return sample_id in self._waiting

    def done(self, sample_id: str) -> None:
        """Write that a sample is no longer waiting.

        Raises:
            RagMetricsError: writing failed.
        """
        with self._writing:
            if sample_id in self._waiting:
                del self._waiting[sample_id]
                self._append(json.dumps({"done": sample_id}).encode())
                self._compact()

    def close(self) -> None:
        """Close the file, and remove it if nothing waits; a later `keep` opens a new one."""
        with self._writing:
            own, self._own = self._own, None
            if own is not None:
                own.lines.close()
                if self._waiting:
                    own.lock.release()
                else:
                    _remove(own.lock)
            self._waiting = {}

    def take_over(self, metrics: frozenset[str]) -> list[Left]:
        """Take over the samples of earlier processes and write them to this process's file.

        Everything stays on disk after each step: if this process is killed, the next one finds it again.

        Args:
            metrics: signatures of the metrics; a sample with records of all of them is complete.

        Raises:
            ConfigError: the captures' folder is a link.
        """
        not_a_link(self.folder / CAPTURES)
        taken = list(self._abandoned())
        samples = {sample.id: sample for lock in taken for sample in _waiting_in(lock.path)}
        scored = _scored_in(self._places.runs(), samples) if samples else {}
        left = [Left(sample, scored[id]) for id, sample in samples.items() if not metrics <= scored[id]]
        for sample, _ in left:
            self.keep(sample)
        for lock in taken:
            _remove(lock)
        return left

    def _abandoned(self) -> Iterator[FolderLock]:
        """The folders of processes that have ended, locked."""
        for path in capture_places(self.folder):
            with suppress(ConfigError):  # somebody writes there, say this process
                yield FolderLock(path).acquire()

    def _append(self, line: bytes) -> None:
        if self._own is None:
            path = not_a_link(self.folder / CAPTURES) / f"{os.getpid()}-{uuid4().hex[:8]}"
            self._own = _OwnFile(FolderLock(path).acquire(), Lines(path / CAPTURES_FILE))
            self._places.mark()
        self._own.lines.append(line)

    def _compact(self) -> None:
        """Replace a long file by one with the waiting lines; one complete file exists at any moment."""
        own, lines = self._own, self._waiting.values()
        if own is not None and own.lines.size > _SPARE and own.lines.size > _SPARE + 2 * sum(map(len, lines)):
            write_whole(file := own.lock.path / CAPTURES_FILE, b"\n".join([*lines, b""]))
            own.lines.close()
            self._own = own._replace(lines=Lines(file))


def _remove(lock: FolderLock) -> None:
    with suppress(OSError):
        (lock.path / CAPTURES_FILE).unlink()
    lock.release()
    shutil.rmtree(lock.path, ignore_errors=True)
    with suppress(OSError):  # others capture, too
        lock.path.parent.rmdir()


def _waiting_in(path: Path) -> list[Sample]:
    waiting: dict[str, Sample] = {}
    for _, line in Lines(path / CAPTURES_FILE).placed():
        try:
            noted = json.loads(line)
            if "done" in noted:
                waiting.pop(noted["done"], None)
            else:
                sample = Sample.model_validate(noted["sample"])
                waiting[sample.id] = sample
        except (ValueError, KeyError, TypeError, RagMetricsError) as error:
            _LOGGER.warning("a capture in %s cannot be read: %s", path, type(error).__name__)
    return list(waiting.values())


def _scored_in(runs: Iterable[Path], samples: Iterable[str]) -> dict[str, frozenset[str]]:
    """Signatures of the metrics with records in some run, by sample."""
    scored = dict.fromkeys(samples, frozenset[str]())
    for path in runs:
        with suppress(RagMetricsError):  # there is no run, or a damaged one, of which another tool tells
            run = Folder.open(path)
            scored = {id: signatures.union(run.index.statuses(id)) for id, signatures in scored.items()}
    return scored
