"""Captures on disk from when they are taken until they are scored: a process that is killed loses none."""

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

from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.live._processes import leave_to_parent, renew_in_child
from ragmetrics_core.runs._folder import CAPTURES, Folder
from ragmetrics_core.runs._lines import Lines
from ragmetrics_core.runs._lock import FolderLock
from ragmetrics_core.runs._writing import not_a_link
from ragmetrics_core.samples import Sample

__all__ = ["KeptCaptures", "Left"]

_LOGGER = logging.getLogger("ragmetrics.live")
_FILE = "captures.jsonl"
# A file of what is scored already is begun anew beyond this size.
_LARGE = 1_000_000


class Left(NamedTuple):
    """A sample that an earlier process captured and did not score, or not with all metrics.

    Attributes:
        sample: the sample, redacted if it was asked for.
        scored: signatures of the metrics that it has records of.
    """

    sample: Sample
    scored: frozenset[str]


class _OwnFile(NamedTuple):
    """Where this process writes."""

    lock: FolderLock
    lines: Lines


class KeptCaptures:
    """Samples that wait for their scores, in the run folder; each process has a file and a lock of its own.

    A line is written when a capture is taken and another one when it is scored. What a process leaves behind
    when it is killed is taken over by the next one that opens the folder; a record that is in the folder, or
    in one that a process beside it wrote (`<folder>-<pid>`), is not made again.

    Args:
        folder: the run folder.
        limit: how many may wait; beyond that the oldest is forgotten.

    Raises:
        ConfigError: the place of the captures is a link: what it leads to is not ours to remove.
    """

    def __init__(self, folder: str | Path, *, limit: int = 10_000) -> None:
        self._folder = Path(folder)
        not_a_link(self._folder / CAPTURES)
        self._limit = limit
        self._begin()
        renew_in_child(self)

    def _begin(self) -> None:
        self._writing = threading.Lock()
        self._waiting: dict[str, None] = {}
        self._own: _OwnFile | None = None
        self._written = 0

    def after_fork(self) -> None:
        """Begin anew in a forked child: what waits is the parent's."""
        leave_to_parent(self._own)
        self._begin()

    def keep(self, sample: Sample) -> None:
        """Write a sample that waits for its scores.

        Raises:
            RagMetricsError: it cannot be written.
        """
        with self._writing:
            self._append(f'{{"sample":{sample.model_dump_json(exclude_none=True)}}}')
            self._waiting[sample.id] = None
            oldest = next(iter(self._waiting)) if len(self._waiting) > self._limit else None
        if oldest is not None:
            self.done(oldest)

    def done(self, sample_id: str) -> None:
        """Note that a sample waits no more.

        Raises:
            RagMetricsError: it cannot be written.
        """
        with self._writing:
            if sample_id not in self._waiting:
                return
            del self._waiting[sample_id]
            if not self._waiting and self._written > _LARGE:
                self._let_go()
            else:
                self._append(json.dumps({"done": sample_id}))

    def close(self) -> None:
        """Let go of the file, which is removed when nothing waits; a later `keep` begins another one."""
        with self._writing:
            self._let_go()
            self._waiting = {}

    def take_over(self, metrics: frozenset[str]) -> list[Left]:
        """What earlier processes left behind; from now on it is this one's, and written to its own file.

        Each step leaves everything on disk: killed between two of them, the next process finds it again.

        Args:
            metrics: signatures of what is measured; a sample that has records of all of them is not left.

        Raises:
            ConfigError: the place of the captures is a link.
        """
        not_a_link(self._folder / CAPTURES)
        taken = list(self._abandoned())
        samples = {sample.id: sample for lock in taken for sample in _waiting_in(lock.path)}
        scored = _scored_beside(self._folder, samples) if samples else {}
        left = [Left(sample, scored[id]) for id, sample in samples.items() if not metrics <= scored[id]]
        for sample, _ in left:
            self.keep(sample)
        for lock in taken:
            _remove(lock)
        return left

    def _abandoned(self) -> Iterator[FolderLock]:
        """The places of processes that are gone, locked."""
        own = self._own and self._own.lock.path
        with suppress(OSError):
            for path in sorted((self._folder / CAPTURES).iterdir()):
                if path == own or path.is_symlink() or not (path / _FILE).is_file():
                    continue
                with suppress(ConfigError):  # somebody writes there
                    yield FolderLock(path).acquire()

    def _append(self, line: str) -> None:
        if self._own is None:
            path = not_a_link(self._folder / CAPTURES) / f"{os.getpid()}-{uuid4().hex[:8]}"
            self._own = _OwnFile(FolderLock(path).acquire(), Lines(path / _FILE))
        self._own.lines.append(line)
        self._written += len(line)

    def _let_go(self) -> None:
        own, self._own, self._written = self._own, None, 0
        if own is None:
            return
        own.lines.close()
        if self._waiting:
            own.lock.release()
        else:
            _remove(own.lock)


def _remove(lock: FolderLock) -> None:
    with suppress(OSError):
        (lock.path / _FILE).unlink()
    lock.release()
    shutil.rmtree(lock.path, ignore_errors=True)
    with suppress(OSError):  # others capture, too
        lock.path.parent.rmdir()


def _waiting_in(path: Path) -> list[Sample]:
    waiting: dict[str, Sample] = {}
    for _, line in Lines(path / _FILE).placed():
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


def _scored_beside(folder: Path, samples: Iterable[str]) -> dict[str, frozenset[str]]:
    """The signatures that samples have records of, in a run folder and in those of processes beside it."""
    scored = dict.fromkeys(samples, frozenset[str]())
    for path in (folder, *sorted(folder.parent.glob(f"{folder.name}-*"))):
        with suppress(RagMetricsError):  # there is no run, or a damaged one, of which another tool tells
            run = Folder.open(path)
            scored = {id: signatures.union(run.index.statuses(id)) for id, signatures in scored.items()}
    return scored
